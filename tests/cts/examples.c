/* The programs of examples/programs, on plain data of every length around their blocks, with the
 * reference's memory as expected. */
#include "cts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The programs name their arrays and scalars; an array has n elements. Narrow: small values, where
 * large ones would run for long. */
static const struct {
    const char *file;
    struct {
        const char *name;
        hg_type type;
        bool narrow;
    } arrays[5];
    const char *scalar;
    uint64_t bits;
} PROGRAMS[] = {
    {"axpy", {{"x", HG_TYPE_F32, false}, {"y", HG_TYPE_F32, false}}, "alpha", 0x40300000},
    {"block_reverse", {{"x", HG_TYPE_I32, false}}, NULL, 0},
    {"center", {{"x", HG_TYPE_F32, true}, {"y", HG_TYPE_F32, false}}, NULL, 0},
    {"collatz", {{"start", HG_TYPE_U64, true}, {"steps", HG_TYPE_U32, false}}, NULL, 0},
    {"gcd3",
     {{"a", HG_TYPE_U32, false},
      {"b", HG_TYPE_U32, false},
      {"c", HG_TYPE_U32, false},
      {"out", HG_TYPE_U32, false}},
     NULL,
     0},
    {"wide",
     {{"a", HG_TYPE_I256, false},
      {"b", HG_TYPE_I256, false},
      {"q", HG_TYPE_I256, false},
      {"m", HG_TYPE_I256, false}},
     NULL,
     0}};

static char *read_text(const char *name, uint64_t *length) {
    char path[512];
    snprintf(path, sizeof path, "%s/examples/programs/%s.atlas", HG_SOURCE_DIR, name);
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(65536) : NULL;
    *length = text ? fread(text, 1, 65535, f) : 0;
    if (text) text[*length] = 0;
    if (f) fclose(f);
    return text;
}

static void narrow(cts *s, hg_type type, uint8_t *bytes) {
    int64_t value = (int64_t)(cts_random(s) % 2000) - (type == HG_TYPE_F32 ? 1000 : -1);
    oracle_convert(type, HG_TYPE_I64, (const uint8_t *)&value, bytes);
}

static void example(cts *s, size_t p, uint64_t n) {
    run_case c = {.cleared_class = 96};
    char label[64];
    snprintf(label, sizeof label, "example %s of %llu", PROGRAMS[p].file, (unsigned long long)n);
    c.text = read_text(PROGRAMS[p].file, &c.length);
    for (int i = 0; i < 5 && PROGRAMS[p].arrays[i].name; i++) {
        hg_type type = PROGRAMS[p].arrays[i].type;
        case_array *a = case_add_array(&c, PROGRAMS[p].arrays[i].name, type, NULL,
                                       n * oracle_size(type));
        for (uint64_t k = 0; a && k < n; k++) {
            uint8_t *to = a->bytes + k * oracle_size(type);
            if (PROGRAMS[p].arrays[i].narrow)
                narrow(s, type, to);
            else
                cts_any(s, type, to);
        }
    }
    case_add_scalar(&c, "n", HG_TYPE_U64, n);
    if (PROGRAMS[p].scalar) case_add_scalar(&c, PROGRAMS[p].scalar, HG_TYPE_F32, PROGRAMS[p].bits);
    c.launch = (ref_launch){
        .grid = {(uint32_t)((n + 7) / 8), 1, 1}, .block = {8, 1, 1}, .lanes = n};
    if (c.text) {
        cts_compare(s, label, &c);
    } else {
        cts_fail(s, NULL, label, "the program cannot be read");
        case_free(&c);
    }
}

void cts_examples(cts *s) {
    static const uint64_t LENGTHS[] = {1, 3, 8, 21, 100};
    for (size_t p = 0;
         p < sizeof PROGRAMS / sizeof PROGRAMS[0] && cts_wanted(s, "example", HG_TYPE_U32); p++)
        for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) example(s, p, LENGTHS[i]);
}
