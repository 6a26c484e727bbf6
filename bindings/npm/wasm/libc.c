/* The C library that the core needs on wasm32 without a system: memory, text, sorting, and the
 * arithmetic that wasm has no instruction for (fused multiply-add, 128-bit integers).
 * Must not know: Hologram. tests/unit/wasm/test_shim.c includes this file, under other names and on an array for linear memory. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes and text; the first three are one instruction each (bulk memory) ---- */

#if defined(__wasm__)
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen

void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
void *memmove(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }
void *memset(void *to, int byte, size_t n) { return __builtin_memset(to, byte, n); }

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

void *memchr(const void *in, int byte, size_t n) {
    const unsigned char *bytes = in;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == (unsigned char)byte) return (void *)(uintptr_t)(bytes + i);
    return NULL;
}

size_t strlen(const char *text) {
    size_t n = 0;
    while (text[n]) n++;
    return n;
}
#endif

int strncmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y) return x < y ? -1 : 1;
        if (!x) break;
    }
    return 0;
}

int strcmp(const char *a, const char *b) { return strncmp(a, b, SIZE_MAX); }

char *strchr(const char *text, int c) {
    for (;; text++) {
        if (*text == (char)c) return (char *)(uintptr_t)text;
        if (!*text) return NULL;
    }
}

char *strrchr(const char *text, int c) {
    char *last = NULL;
    for (;; text++) {
        if (*text == (char)c) last = (char *)(uintptr_t)text;
        if (!*text) return last;
    }
}

size_t strnlen(const char *text, size_t n) {
    size_t length = 0;
    while (length < n && text[length]) length++;
    return length;
}

char *strcpy(char *to, const char *from) {
    memcpy(to, from, strlen(from) + 1);
    return to;
}

char *strncpy(char *to, const char *from, size_t n) {
    size_t length = strnlen(from, n);
    memcpy(to, from, length);
    memset(to + length, 0, n - length);
    return to;
}

char *strcat(char *to, const char *from) {
    strcpy(to + strlen(to), from);
    return to;
}

int isdigit(int c) { return c >= '0' && c <= '9'; }
int isalpha(int c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
int isalnum(int c) { return isalpha(c) || isdigit(c); }
int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }

size_t strcspn(const char *text, const char *any) {
    size_t n = 0;
    while (text[n] && !strchr(any, text[n])) n++;
    return n;
}

size_t strspn(const char *text, const char *all) {
    size_t n = 0;
    while (text[n] && strchr(all, text[n])) n++;
    return n;
}

char *strstr(const char *text, const char *what) {
    size_t n = strlen(what);
    for (;; text++) {
        if (strncmp(text, what, n) == 0) return (char *)(uintptr_t)text;
        if (!*text) return NULL;
    }
}

char *getenv(const char *name) {
    (void)name;
    return NULL;
}

/* ---- memory: blocks one behind the other, between two of size 0 that are never free. A block that
 * is freed is joined with free neighbours; free blocks are in lists by size class, four classes a
 * doubling. ---- */

enum { PAGE = 65536, HEADER = 16, FREE = 1, CLASSES = 128, TRIES = 32 };
typedef struct block {
    size_t size;   /* of its memory, a multiple of 16; FREE is added while it is free */
    size_t before; /* the size of the block before it */
    struct block *next, *previous; /* while it is free; may lie in its memory */
} block;
#if defined(__wasm__)
extern unsigned char __heap_base;
static uintptr_t heap_start(void) { return (uintptr_t)&__heap_base; }
static uintptr_t heap_end(void) { return __builtin_wasm_memory_size(0) * PAGE; }
static bool grow(size_t pages) { return __builtin_wasm_memory_grow(0, pages) != SIZE_MAX; }
#else
static uintptr_t heap_start(void);
static uintptr_t heap_end(void);
static bool grow(size_t pages);
#endif
static block *free_blocks[CLASSES];
static block *last_block; /* the one at the end of memory; NULL: nothing was asked for yet */

static block *block_at(uintptr_t at) { return (block *)at; }
static block *block_after(block *b) { return block_at((uintptr_t)b + HEADER + b->size); }

/* 1, 2, 3 units of 16 bytes; from 4 on the highest bit and the two below it. */
static unsigned class_of(size_t size) {
    uint32_t units = (uint32_t)(size / 16), top = 31 - (uint32_t)__builtin_clz(units);
    return units < 4 ? units : top * 4 + ((units >> (top - 2)) & 3);
}

static void unlink_block(block *b) {
    b->size -= FREE;
    if (b->next) b->next->previous = b->previous;
    if (b->previous)
        b->previous->next = b->next;
    else
        free_blocks[class_of(b->size)] = b->next;
}

/* Makes a block free that was not. */
static void release(block *b) {
    block *after = block_after(b), *before = block_at((uintptr_t)b - HEADER - b->before);
    if (after->size & FREE) {
        unlink_block(after);
        b->size += HEADER + after->size;
    }
    if (before->size & FREE) {
        unlink_block(before);
        before->size += HEADER + b->size;
        b = before;
    }
    block_after(b)->before = b->size;
    block **list = &free_blocks[class_of(b->size)];
    b->previous = NULL;
    b->next = *list;
    if (*list) (*list)->previous = b;
    *list = b;
    b->size += FREE;
}

static bool first_pages(void) {
    block *first = block_at((heap_start() + 15) & ~(uintptr_t)15);
    if (!grow(1)) return false;
    *first = (block){0};
    block *all = block_after(first);
    last_block = block_at(heap_end() - HEADER);
    all->size = (size_t)((uintptr_t)last_block - (uintptr_t)all - HEADER);
    all->before = 0;
    last_block->size = 0;
    release(all);
    return true;
}

/* Memory becomes larger, by an eighth where there is room for it: each time costs the host much. */
static bool more_pages(size_t size) {
    block *before = block_at((uintptr_t)last_block - HEADER - last_block->before);
    size_t have = before->size & FREE ? before->size - FREE : 0,
           missing = have >= size ? 1
                     : have       ? size - have
                                  : size + HEADER,
           pages = (missing + PAGE - 1) / PAGE,
           eighth = (size_t)((uintptr_t)last_block - heap_start()) / PAGE / 8;
    if (eighth > pages && grow(eighth))
        pages = eighth;
    else if (!grow(pages))
        return false;
    block *fresh = last_block;
    last_block = block_at((uintptr_t)fresh + pages * PAGE);
    fresh->size = pages * PAGE - HEADER;
    last_block->size = 0;
    release(fresh);
    return true;
}

static block *find(size_t size) {
    unsigned class = class_of(size);
    block *b = free_blocks[class];
    for (int i = 0; b && b->size < size; i++) b = i < TRIES ? b->next : NULL;
    while (!b && ++class < CLASSES) b = free_blocks[class];
    return b;
}

/* Held for moments by any thread. */
static bool heap_lock;
static void lock_heap(void) {
    while (__atomic_test_and_set(&heap_lock, __ATOMIC_ACQUIRE)) {}
}
static void unlock_heap(void) { __atomic_clear(&heap_lock, __ATOMIC_RELEASE); }

static void *take_block(size_t size) {
    if (size >= (size_t)1 << 31 || (!last_block && !first_pages())) return NULL;
    size = size < 16 ? 16 : (size + 15) & ~(size_t)15;
    block *b = find(size);
    if (!b && (!more_pages(size) || !(b = find(size)))) return NULL;
    unlink_block(b);
    size_t rest = b->size - size;
    if (rest >= HEADER + 16) {
        b->size = size;
        block *second = block_after(b);
        second->size = rest - HEADER;
        second->before = size;
        release(second);
    }
    return (unsigned char *)b + HEADER;
}

void *malloc(size_t size) {
    lock_heap();
    void *memory = take_block(size);
    unlock_heap();
    return memory;
}

void free(void *memory) {
    if (!memory) return;
    lock_heap();
    release(block_at((uintptr_t)memory - HEADER));
    unlock_heap();
}

void *calloc(size_t count, size_t size) {
    if (size && count > SIZE_MAX / size) return NULL;
    void *memory = malloc(count * size);
    if (memory) memset(memory, 0, count * size);
    return memory;
}

void *realloc(void *memory, size_t size) {
    if (!memory) return malloc(size);
    size_t old = block_at((uintptr_t)memory - HEADER)->size;
    if (size <= old && size >= old / 2) return memory;
    void *moved = malloc(size);
    if (!moved) return NULL;
    memcpy(moved, memory, old < size ? old : size);
    free(memory);
    return moved;
}

/* ---- sorting: heap sort ---- */

static void swap_bytes(unsigned char *a, unsigned char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void sift(unsigned char *items, size_t at, size_t count, size_t size,
                 int (*compare)(const void *, const void *)) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(items + child * size, items + (child + 1) * size) < 0)
            child++;
        if (compare(items + at * size, items + child * size) >= 0) return;
        swap_bytes(items + at * size, items + child * size, size);
    }
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    unsigned char *bytes = items;
    for (size_t i = count / 2; i-- > 0;) sift(bytes, i, count, size, compare);
    for (size_t end = count; end-- > 1;) {
        swap_bytes(bytes, bytes + end * size, size);
        sift(bytes, 0, end, size, compare);
    }
}

/* ---- printing ---- */

typedef struct printer {
    char *text;
    size_t room, length;
} printer;
typedef struct spec {
    bool left, zero, plus, space, alternate;
    int width, precision, longs;
} spec;

static void put(printer *p, char c) {
    if (p->length + 1 < p->room) p->text[p->length] = c;
    p->length++;
}

static void put_padded(printer *p, const spec *s, const char *prefix, const char *body, size_t n,
                       size_t zeros) {
    size_t total = strlen(prefix) + zeros + n, width = s->width > 0 ? (size_t)s->width : 0;
    for (size_t i = total; !s->left && i < width; i++) put(p, ' ');
    while (*prefix) put(p, *prefix++);
    for (size_t i = 0; i < zeros; i++) put(p, '0');
    for (size_t i = 0; i < n; i++) put(p, body[i]);
    for (size_t i = total; s->left && i < width; i++) put(p, ' ');
}

static void put_number(printer *p, const spec *s, uint64_t value, unsigned base, bool upper,
                       const char *prefix) {
    char digits[24];
    size_t n = 0;
    for (uint64_t rest = value; rest; rest /= base)
        digits[sizeof digits - ++n] = (upper ? "0123456789ABCDEF"
                                             : "0123456789abcdef")[rest % base];
    if (n == 0 && s->precision != 0) digits[sizeof digits - ++n] = '0';
    size_t zeros = s->precision > 0 && (size_t)s->precision > n ? (size_t)s->precision - n : 0,
           used = n + strlen(prefix);
    if (s->zero && !s->left && s->precision < 0 && s->width > 0 && (size_t)s->width > used)
        zeros = (size_t)s->width - used;
    put_padded(p, s, prefix, digits + sizeof digits - n, n, zeros);
}

static const char *read_spec(const char *at, spec *s, va_list *arguments) {
    *s = (spec){.precision = -1};
    for (;; at++) {
        if (*at == '-')
            s->left = true;
        else if (*at == '0')
            s->zero = true;
        else if (*at == '+')
            s->plus = true;
        else if (*at == ' ')
            s->space = true;
        else if (*at == '#')
            s->alternate = true;
        else
            break;
    }
    if (*at == '*') {
        s->width = va_arg(*arguments, int), at++;
        if (s->width < 0) s->left = true, s->width = -s->width;
    }
    while (*at >= '0' && *at <= '9') s->width = s->width * 10 + (*at++ - '0');
    if (*at == '.') {
        at++;
        s->precision = 0;
        if (*at == '*') s->precision = va_arg(*arguments, int), at++;
        while (*at >= '0' && *at <= '9') s->precision = s->precision * 10 + (*at++ - '0');
    }
    for (;; at++) {
        if (*at == 'l')
            s->longs++;
        else if (*at == 'j')
            s->longs = 2;
        else if (*at == 'h')
            s->longs--;
        else if (*at != 'z' && *at != 't')
            return at;
    }
}

enum { LIMB = 1000000000, LIMBS = 90 }; /* 2^-1074 has 751 digits, 2^53 2^-1074 767 */

/* The digits of a positive number without zeros in front, all of them; gives where the point is. */
static int all_digits(double x, char digits[LIMBS * 9]) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int field = (int)(bits >> 52 & 0x7FF), exponent = (field ? field : 1) - 1075, skip = 0;
    uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)(field > 0) << 52;
    uint32_t limbs[LIMBS] = {(uint32_t)(mantissa % LIMB), (uint32_t)(mantissa / LIMB)};
    int count = 2, left = exponent < 0 ? -exponent : exponent;
    /* 2^-n is 5^n / 10^n. */
    for (int step; left > 0; left -= step) {
        uint32_t factor = 1, carry = 0;
        for (step = 0; step < left && step < 12; step++) factor *= exponent < 0 ? 5u : 2u;
        for (int i = 0; i < count; i++) {
            uint64_t product = (uint64_t)limbs[i] * factor + carry;
            limbs[i] = (uint32_t)(product % LIMB);
            carry = (uint32_t)(product / LIMB);
        }
        if (carry) limbs[count++] = carry;
    }
    for (int i = 0; i < count; i++)
        for (int k = 9, at = (count - i) * 9; k-- > 0; limbs[i] /= 10)
            digits[--at] = (char)('0' + limbs[i] % 10);
    while (digits[skip] == '0') skip++;
    memmove(digits, digits + skip, (size_t)(count * 9 - skip));
    memset(digits + count * 9 - skip, '0', (size_t)skip);
    return count * 9 - skip + (exponent < 0 ? exponent : 0);
}

/* Rounded to so many digits, ties to even; where the point is moves when all are nines. */
static int round_digits(char digits[LIMBS * 9], int keep, int point) {
    if (keep < 0) memset(digits, '0', LIMBS * 9);
    if (keep < 0 || keep >= LIMBS * 9) return point;
    char *at = digits + keep;
    bool up = *at > '5', odd = keep > 0 && (at[-1] & 1);
    for (int i = keep + 1; *at == '5' && !up && i < LIMBS * 9; i++) up = digits[i] > '0';
    up = up || (*at == '5' && odd);
    memset(at, '0', (size_t)(LIMBS * 9 - keep));
    if (!up) return point;
    while (at > digits && at[-1] == '9') *--at = '0';
    if (at > digits)
        at[-1]++;
    else
        digits[0] = '1', point++;
    return point;
}

/* %f and %g, exact however many digits; more than 100 behind the point are not printed. */
static void put_real(printer *p, const spec *s, double x, bool general) {
    char digits[LIMBS * 9], body[512];
    const char *prefix = signbit(x) ? "-" : s->plus ? "+" : s->space ? " " : "";
    size_t n = 0, zeros = 0;
    if (!isfinite(x)) {
        put_padded(p, s, prefix, isnan(x) ? "nan" : "inf", 3, 0);
        return;
    }
    int places = s->precision < 0 ? 6 : s->precision > 100 ? 100 : s->precision, point = 1;
    memset(digits, '0', sizeof digits);
    if (x != 0) point = all_digits(x < 0 ? -x : x, digits);
    if (general && places == 0) places = 1;
    point = round_digits(digits, general ? places : point + places, point);
    int exponent = point - 1;
    bool powers = general && (exponent < -4 || exponent >= places);
    if (general) {
        while (places > 1 && digits[places - 1] == '0' && !s->alternate) places--;
        places = powers ? places - 1 : places > point ? places - point : 0;
    }
    int whole = powers ? 1 : point;
    if (whole <= 0) body[n++] = '0';
    for (int i = 0; i < whole; i++) body[n++] = digits[i];
    if (places) body[n++] = '.';
    for (int i = whole; i < whole + places; i++) body[n++] = i < 0 ? '0' : digits[i];
    if (powers)
        n += (size_t)snprintf(body + n, sizeof body - n, "e%c%02d", exponent < 0 ? '-' : '+',
                              exponent < 0 ? -exponent : exponent);
    if (s->zero && !s->left && s->width > 0 && (size_t)s->width > n + strlen(prefix))
        zeros = (size_t)s->width - n - strlen(prefix);
    put_padded(p, s, prefix, body, n, zeros);
}

/* One conversion; false when it is none of ours. long, size_t and pointers have 32 bits. */
static bool convert(printer *p, char conversion, const spec *s, va_list *arguments) {
    switch (conversion) {
    case 'd':
    case 'i': {
        int64_t value = s->longs >= 2 ? va_arg(*arguments, long long) : va_arg(*arguments, int);
        if (s->longs == -1) value = (short)value;
        if (s->longs == -2) value = (signed char)value;
        put_number(p, s, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, false,
                   value < 0  ? "-"
                   : s->plus  ? "+"
                   : s->space ? " "
                              : "");
        return true;
    }
    case 'u':
    case 'x':
    case 'X': {
        uint64_t value = s->longs >= 2 ? va_arg(*arguments, unsigned long long)
                                       : va_arg(*arguments, unsigned);
        if (s->longs == -1) value = (unsigned short)value;
        if (s->longs == -2) value = (unsigned char)value;
        put_number(p, s, value, conversion == 'u' ? 10 : 16, conversion == 'X',
                   s->alternate && value && conversion != 'u' ? "0x" : "");
        return true;
    }
    case 'p': put_number(p, s, (uintptr_t)va_arg(*arguments, void *), 16, false, "0x"); return true;
    case 'c': put_padded(p, s, "", &(char){(char)va_arg(*arguments, int)}, 1, 0); return true;
    case '%': put(p, '%'); return true;
    case 'f':
    case 'g': put_real(p, s, va_arg(*arguments, double), conversion == 'g'); return true;
    case 's': {
        const char *text = va_arg(*arguments, const char *),
                   *end = s->precision < 0 ? NULL : memchr(text, 0, (size_t)s->precision);
        put_padded(p, s, "", text,
                   s->precision < 0 ? strlen(text)
                   : end            ? (size_t)(end - text)
                                    : (size_t)s->precision,
                   0);
        return true;
    }
    default: return false;
    }
}

int vsnprintf(char *text, size_t room, const char *format, va_list given) {
    printer p = {text, room, 0};
    va_list arguments;
    bool known = true;
    va_copy(arguments, given);
    for (const char *at = format; *at && known; at++) {
        spec s;
        if (*at != '%') {
            put(&p, *at);
            continue;
        }
        at = read_spec(at + 1, &s, &arguments);
        known = convert(&p, *at, &s, &arguments);
    }
    va_end(arguments);
    if (room) text[p.length < room ? p.length : room - 1] = 0;
    return known ? (int)p.length : -1;
}

int snprintf(char *text, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    return length;
}

/* ---- 128-bit integers: what the compiler calls; written on halves so that it does not call itself
 * ---- */

__extension__ typedef unsigned __int128 u128;
typedef union halves {
    u128 all;
    struct {
        uint64_t low, high;
    } part;
} halves;
u128 __multi3(u128 a, u128 b);
u128 __ashlti3(u128 a, int by);
u128 __lshrti3(u128 a, int by);
u128 __udivti3(u128 a, u128 b);
u128 __umodti3(u128 a, u128 b);

u128 __multi3(u128 a, u128 b) {
    halves x = {a}, y = {b}, r;
    uint64_t x0 = (uint32_t)x.part.low, x1 = x.part.low >> 32, y0 = (uint32_t)y.part.low,
             y1 = y.part.low >> 32;
    uint64_t low = x0 * y0, middle = x1 * y0 + (low >> 32), cross = x0 * y1 + (uint32_t)middle;
    r.part.low = cross << 32 | (uint32_t)low;
    r.part.high = x1 * y1 + (middle >> 32) + (cross >> 32) + x.part.high * y.part.low +
                  x.part.low * y.part.high;
    return r.all;
}

u128 __ashlti3(u128 a, int by) {
    halves x = {a}, r;
    if (by == 0) return a;
    r.part.low = by >= 64 ? 0 : x.part.low << by;
    r.part.high = by >= 64 ? x.part.low << (by - 64) : x.part.high << by | x.part.low >> (64 - by);
    return r.all;
}

u128 __lshrti3(u128 a, int by) {
    halves x = {a}, r;
    if (by == 0) return a;
    r.part.high = by >= 64 ? 0 : x.part.high >> by;
    r.part.low = by >= 64 ? x.part.high >> (by - 64) : x.part.low >> by | x.part.high << (64 - by);
    return r.all;
}

/* Bit by bit. */
static u128 divide(u128 a, u128 b, u128 *rest) {
    halves n = {a}, q = {0}, r = {0};
    for (int i = 127; i >= 0; i--) {
        r.part.high = r.part.high << 1 | r.part.low >> 63;
        r.part.low = r.part.low << 1 | ((i >= 64 ? n.part.high >> (i - 64) : n.part.low >> i) & 1);
        if (r.all < b) continue;
        r.all -= b;
        if (i >= 64)
            q.part.high |= (uint64_t)1 << (i - 64);
        else
            q.part.low |= (uint64_t)1 << i;
    }
    *rest = r.all;
    return q.all;
}

u128 __udivti3(u128 a, u128 b) {
    u128 rest;
    return divide(a, b, &rest);
}

u128 __umodti3(u128 a, u128 b) {
    u128 rest;
    divide(a, b, &rest);
    return rest;
}

/* ---- floating point ---- */

/* The exponent of x; as everywhere in C, the extremes for 0, infinity and NaN. */
int ilogb(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    int field = (int)(bits >> 52 & 0x7FF);
    if (field == 0x7FF) return 0x7FFFFFFF;
    if (field) return field - 1023;
    return mantissa ? -1011 - __builtin_clzll(mantissa) : -0x7FFFFFFF - 1;
}

static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* In steps: only the last product rounds, for a result that is not 0 was 2^-1022 or more before the
 * step of 2^-969. */
double ldexp(double x, int exponent) {
    if (x == 0 || isnan(x) || isinf(x)) return x;
    for (int i = 0; i < 3 && exponent > 1022; i++, exponent -= 1022) x *= power_of_two(1022);
    for (int i = 0; i < 3 && exponent < -1022; i++, exponent += 969) x *= power_of_two(-969);
    return exponent > 1022    ? x * power_of_two(1022)
           : exponent < -1022 ? 0 * x
                              : x * power_of_two(exponent);
}

double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0 || !isfinite(x)) return x;
    *exponent = ilogb(x) + 1;
    return ldexp(x, -*exponent);
}

/* Product exact in binary64, sum rounded to odd, then rounded to 24 bits: correct because 53 >= 24
 * + 2 (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Transactions on
 * Computers 57, 2008). */
float fmaf(float a, float b, float c) {
    double p = (double)a * (double)b, s = p + (double)c;
    double t = s - p, error = (p - (s - t)) + ((double)c - t); /* TwoSum */
    uint64_t bits;
    memcpy(&bits, &s, sizeof bits);
    if (error != 0 && !isnan(error) && !isinf(s) && !(bits & 1)) {
        bits += (error > 0) == (s > 0) ? 1 : (uint64_t)-1;
        memcpy(&s, &bits, sizeof s);
    }
    return (float)s;
}

/* |x| = mantissa * 2^exponent with the top bit of the mantissa at bit 125. */
static u128 split(double x, int *exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int field = (int)(bits >> 52 & 0x7FF), zeros;
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    if (field)
        mantissa |= (uint64_t)1 << 52;
    else
        field = 1;
    zeros = __builtin_clzll(mantissa);
    *exponent = field - 1075 - zeros - 62;
    return (u128)(mantissa << zeros) << 62;
}

static u128 shift_sticky(u128 x, int by) {
    if (by == 0) return x;
    if (by > 127) return x != 0;
    return x >> by | ((x << (128 - by)) != 0);
}

/* x * 2^exponent, rounded to nearest even. */
static double pack(bool negative, u128 x, int exponent) {
    int zeros = x >> 64 ? __builtin_clzll((uint64_t)(x >> 64)) : 64 + __builtin_clzll((uint64_t)x);
    x <<= zeros;
    int top = exponent - zeros + 127, drop = top < -1022 ? 75 - 1022 - top : 75;
    uint64_t sign = (uint64_t)negative << 63, bits;
    x = shift_sticky(x, drop - 2); /* mantissa and two bits more, the last one sticky */
    uint64_t kept = (uint64_t)(x >> 2), rest = (uint64_t)(x & 3);
    kept += rest == 3 || (rest == 2 && (kept & 1));
    if (top > 1023) kept = 0;
    bits = top > 1023 ? (uint64_t)0x7FF << 52
                      : kept + (top < -1022 ? 0 : (uint64_t)(top + 1022) << 52);
    bits |= sign;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

double fma(double a, double b, double c) {
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0) return a * b + c;
    if (!isfinite(c)) return c + c; /* the product may overflow */
    if (c == 0) return a * b;
    int ea, eb, ec;
    u128 x = split(a, &ea), y = split(b, &eb), z = split(c, &ec);
    bool negative = signbit(a) != signbit(b), c_negative = signbit(c);
    x = (x >> 73) * (y >> 73); /* 53 bits each: the top bit is 104 or 105 */
    int up = x >> 105 ? 20 : 21, ep = ea + eb + 146 - up;
    x <<= up;
    if (ep < ec || (ep == ec && x < z)) { /* x becomes the one that is larger in magnitude */
        u128 t = x;
        int e = ep;
        bool s = negative;
        x = z, ep = ec, negative = c_negative;
        z = t, ec = e, c_negative = s;
    }
    z = shift_sticky(z, ep - ec);
    if (negative == c_negative) return pack(negative, x + z, ep);
    return x == z ? 0 : pack(negative, x - z, ep);
}

/* The signed ones: of constants in texts. */
__extension__ typedef __int128 i128;
i128 __ashrti3(i128 a, int by);
i128 __divti3(i128 a, i128 b);
i128 __modti3(i128 a, i128 b);
i128 __muloti4(i128 a, i128 b, int *overflow);
i128 __fixdfti(double x);
double __floattidf(i128 x);

static u128 magnitude(i128 x) { return x < 0 ? 0 - (u128)x : (u128)x; }
static i128 with_sign(u128 x, bool negative) { return (i128)(negative ? 0 - x : x); }

i128 __ashrti3(i128 a, int by) {
    u128 shifted = __lshrti3((u128)a, by);
    return (i128)(a < 0 && by > 0 ? shifted | __ashlti3(~(u128)0, 128 - by) : shifted);
}

i128 __divti3(i128 a, i128 b) {
    return with_sign(__udivti3(magnitude(a), magnitude(b)), (a < 0) != (b < 0));
}
i128 __modti3(i128 a, i128 b) { return with_sign(__umodti3(magnitude(a), magnitude(b)), a < 0); }

i128 __muloti4(i128 a, i128 b, int *overflow) {
    u128 x = magnitude(a), y = magnitude(b), most = ((u128)1 << 127) - ((a < 0) == (b < 0));
    *overflow = x && y > __udivti3(most, x);
    return with_sign(__multi3(x, y), (a < 0) != (b < 0));
}

/* Cut towards zero; beyond the range it means nothing. */
i128 __fixdfti(double x) {
    double size = x < 0 ? -x : x, high = size / 0x1p64;
    uint64_t top = (uint64_t)high, low = (uint64_t)(size - (double)top * 0x1p64);
    return with_sign((u128)top << 64 | low, x < 0);
}

/* Rounded once, to even: what is below the upper 64 bits counts as a sticky bit. */
double __floattidf(i128 x) {
    u128 size = magnitude(x);
    int shift = 0;
    while (size >> 64) {
        size = (size >> 1) | (size & 1);
        shift++;
    }
    double value = (double)(uint64_t)size;
    for (; shift > 0; shift--) value *= 2;
    return x < 0 ? -value : value;
}
