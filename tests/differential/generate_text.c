/* Random numbers, lines, labels and literals of generated programs. */
#include "generate_internal.h"
#include "oracle/oracle.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SplitMix64 (Steele, Lea, Flood 2014): any seed, zero included, gives a good sequence. */
uint64_t random_bits(generator *g) {
    uint64_t z = g->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint32_t pick(generator *g, uint32_t n) { return (uint32_t)(random_bits(g) % n); }
bool chance(generator *g, uint32_t percent) { return pick(g, 100) < percent; }

static void add(text *t, const char *format, va_list arguments) {
    char buffer[2048];
    int n = vsnprintf(buffer, sizeof buffer, format, arguments);
    uint64_t length = n < 0 ? 0 : (uint64_t)n < sizeof buffer ? (uint64_t)n : sizeof buffer - 1;
    if (t->length + length + 1 > t->capacity) {
        uint64_t capacity = 2 * (t->capacity + length + 512);
        char *data = realloc(t->data, capacity);
        if (!data) {
            t->failed = true;
            return;
        }
        t->data = data;
        t->capacity = capacity;
    }
    memcpy(t->data + t->length, buffer, length + 1);
    t->length += length;
}

void add_text(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(t, format, arguments);
    va_end(arguments);
}

void line(generator *g, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_text(g->to, "    ");
    add(g->to, format, arguments);
    add_text(g->to, "\n");
    va_end(arguments);
    g->cost += g->factor;
}

int new_label(generator *g) { return g->next_label++; }
void place_label(generator *g, int label) { add_text(g->to, "L%d:\n", label); }

/* Zero, one, all ones, extremes, a few low bits, or anything. */
static void interesting_bytes(generator *g, hg_type type, uint8_t *bytes) {
    static const uint16_t HALVES[] = {0x0000, 0x8000, 0x3C00, 0xBC00, 0x7BFF, 0x0001,
                                      0x7C00, 0xFC00, 0x7E00, 0x3800, 0x4200};
    static const uint16_t BRAINS[] = {0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F7F, 0x0001,
                                      0x7F80, 0xFF80, 0x7FC0, 0x3F00, 0x4040};
    uint32_t size = oracle_size(type), kind = pick(g, 8);
    memset(bytes, 0, size);
    if (oracle_is_float(type) && kind < 5) {
        uint16_t half = type == HG_TYPE_BF16 ? BRAINS[pick(g, 11)] : HALVES[pick(g, 11)];
        uint8_t source[2] = {(uint8_t)half, (uint8_t)(half >> 8)};
        oracle_convert(type, type == HG_TYPE_BF16 ? HG_TYPE_BF16 : HG_TYPE_F16, source, bytes);
    } else if (kind == 0) {
        memset(bytes, 0xFF, size);
    } else if (kind == 1) {
        bytes[size - 1] = 0x80;
    } else if (kind == 2) {
        memset(bytes, 0xFF, size);
        bytes[size - 1] = 0x7F;
    } else if (kind < 6) {
        bytes[0] = (uint8_t)pick(g, kind == 3 ? 4 : 256);
    } else {
        for (uint32_t i = 0; i < size; i++) bytes[i] = (uint8_t)random_bits(g);
        if (kind == 6)
            for (uint32_t i = size / 2; i < size; i++) bytes[i] = 0;
    }
}

const char *literal(generator *g, hg_type type) {
    static char texts[4][2 * ORACLE_MAX_BYTES + 16];
    static int next;
    char *at = texts[next = (next + 1) % 4];
    uint8_t bytes[ORACLE_MAX_BYTES];
    interesting_bytes(g, type, bytes);
    uint32_t top = oracle_size(type) - 1;
    while (top > 0 && bytes[top] == 0) top--;
    int n = sprintf(at, "bits(0x");
    for (uint32_t i = top + 1; i-- > 0;) n += sprintf(at + n, "%02x", bytes[i]);
    sprintf(at + n, ")");
    return at;
}
