/* The table of functions, and bits as numbers. */
#include "accuracy.h"
#include <string.h>

const function FUNCTIONS[FN_COUNT] = {
#define YES true
#define NO false
#define ODD true
#define ANY false
#define ACCURACY(id, text, args, symmetry, b32, b64, low32, high32, low64, high64, c) \
    {FN_##id, #text, args, c, symmetry, {b32, b64}, {low32, low64}, {high32, high64}},
#include "functions.def"
#undef ACCURACY
};

const function *function_find(const char *name) {
    for (int i = 0; i < FN_COUNT; i++)
        if (strcmp(FUNCTIONS[i].name, name) == 0) return &FUNCTIONS[i];
    return NULL;
}

double number_of(uint64_t bits, bool wide) {
    uint32_t low = (uint32_t)bits;
    float f;
    double d;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return wide ? d : (double)f;
}

uint64_t bits_of_number(double x, bool wide) {
    uint64_t bits = 0;
    float f = (float)x;
    if (wide)
        memcpy(&bits, &x, sizeof x);
    else
        memcpy(&bits, &f, sizeof f);
    return bits;
}
