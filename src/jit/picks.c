/* Elements of memory that lie as far apart, of all lanes of a turn: rows, and what is picked of
 * them. No byte in front of the first lane's element or behind the last one's is read.
 * Must not know: operations, checks, masks. */
#include "jit/jit_internal.h"

/* Every `step`th element from `first` on, of `lanes` lanes: as many rows as the step, of which the
 * last one ends with the last element, and what is wanted of each. */
static LLVMValueRef pick_steps(jit_printer *p, LLVMTypeRef type, uint32_t bytes, uint32_t step,
                               uint32_t lanes, LLVMValueRef first) {
    LLVMTypeRef row = LLVMVectorType(type, lanes);
    LLVMValueRef made = NULL, places[64];
    for (uint32_t k = 0, done = 0; k < step; k++) {
        uint32_t start = k + 1 < step ? k * lanes : (step - 1) * (lanes - 1);
        LLVMValueRef next = jit_load(p, row, jit_field(p, first, (uint64_t)start * bytes));
        for (uint32_t i = 0; i < lanes; i++)
            places[i] = i < done ? jit_u32(p, i)
                        : i * step < start + lanes
                            ? jit_u32(p, i * step - start + (made ? lanes : 0))
                            : LLVMGetPoison(p->t.i32);
        while (done < lanes && done * step < start + lanes) done++;
        made = LLVMBuildShuffleVector(p->b, made ? made : next, made ? next : LLVMGetPoison(row),
                                      LLVMConstVector(places, lanes), "");
    }
    return made;
}

/* The same of bytes, sixteen lanes or twice that, each sixteen of which pick in rows of their own:
 * one instruction a row puts its bytes at their places and zeros elsewhere. */
enum { SIXTEEN = 16 };

static LLVMValueRef pick_bytes(jit_printer *p, uint32_t step, uint32_t lanes, LLVMValueRef first) {
    LLVMTypeRef row = LLVMVectorType(p->t.i8, SIXTEEN), all = LLVMVectorType(p->t.i8, lanes);
    LLVMValueRef made = NULL, places[2 * SIXTEEN], rows[2];
    for (uint32_t k = 0, done = 0; k < step; k++) {
        const uint32_t start = k + 1 < step ? k * SIXTEEN : (step - 1) * (SIXTEEN - 1);
        uint32_t end = done;
        while (end < SIXTEEN && end * step < start + SIXTEEN) end++;
        for (uint32_t h = 0; h < lanes / SIXTEEN; h++)
            rows[h] = jit_load(p, row, jit_field(p, first, (uint64_t)h * SIXTEEN * step + start));
        for (uint32_t i = 0, l = 0; i < lanes; i++, l = i % SIXTEEN)
            places[i] = jit_u32(p, l >= done && l < end ? i - l + l * step - start : lanes);
        LLVMValueRef from = lanes == SIXTEEN ? rows[0] : jit_join(p, rows[0], rows[1]),
                     part = LLVMBuildShuffleVector(p->b, from, LLVMConstNull(all),
                                                   LLVMConstVector(places, lanes), "");
        made = made ? LLVMBuildOr(p->b, made, part, "") : part;
        done = end;
    }
    return made;
}

/* The same of two rows, of which the second ends with the last lane's byte. Only up to every fourth
 * byte. */
static LLVMValueRef pick_of_two(jit_printer *p, uint32_t step, uint32_t lanes, LLVMValueRef first) {
    const uint32_t span = (lanes - 1) * step + 1;
    uint32_t row = lanes;
    while (2 * row < span) row *= 2;
    LLVMValueRef rows[2], places[64];
    for (uint32_t k = 0; k < 2; k++)
        rows[k] = jit_load(p, LLVMVectorType(p->t.i8, row), jit_field(p, first, k * (span - row)));
    for (uint32_t i = 0; i < row; i++)
        places[i] = i >= lanes       ? LLVMGetPoison(p->t.i32)
                    : i * step < row ? jit_u32(p, i * step)
                                     : jit_u32(p, i * step - (span - row) + row);
    LLVMValueRef made = LLVMBuildShuffleVector(p->b, rows[0], rows[1], LLVMConstVector(places, row),
                                               "");
    for (uint32_t i = 0; i < lanes; i++) places[i] = jit_u32(p, i);
    return LLVMBuildShuffleVector(p->b, made, LLVMGetPoison(LLVMTypeOf(made)),
                                  LLVMConstVector(places, lanes), "");
}

/* Lanes that rows and picks are made for at once; 0: one by one is no slower. */
static uint32_t lanes_of_steps(const jit_printer *p, uint32_t bytes, int64_t stride) {
    uint32_t most = p->level.bytes / bytes, lanes = most < p->level.lanes ? most : p->level.lanes;
    int64_t step = stride / bytes;
    if (bytes == 1 && lanes > 2 * SIXTEEN) lanes = 2 * SIXTEEN;
    uint32_t row = bytes == 1 && lanes > SIXTEEN ? SIXTEEN : lanes; /* a longer step than one more
                                                                      reads beyond the last lane */
    bool good = p->level.bytes >= 32 && stride % bytes == 0 && step > 1 &&
                3 * step <= 2 * (int64_t)row;
    return good && p->level.lanes % lanes == 0 ? lanes : 0;
}

LLVMValueRef jit_pick(jit_printer *p, LLVMTypeRef type, uint32_t bytes, int64_t stride,
                      LLVMValueRef first) {
    LLVMValueRef parts[64];
    const uint32_t lanes = lanes_of_steps(p, bytes, stride),
                   count = lanes ? p->level.lanes / lanes : 0, step = (uint32_t)(stride / bytes);
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef at = jit_field(p, first, (uint64_t)stride * lanes * i);
        const bool of_bytes = bytes == 1 && lanes >= SIXTEEN;
        parts[i] = of_bytes && p->level.vbmi && step <= 4 ? pick_of_two(p, step, lanes, at)
                   : of_bytes                             ? pick_bytes(p, step, lanes, at)
                              : pick_steps(p, type, bytes, step, lanes, at);
    }
    for (uint32_t left = count; left > 1; left /= 2)
        for (uint32_t k = 0; k < left / 2; k++)
            parts[k] = jit_join(p, parts[2 * k], parts[2 * k + 1]);
    return count ? parts[0] : NULL;
}
