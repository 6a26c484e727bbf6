/* Loads or stores of neighbouring elements one after another: a lane's are a stretch of memory,
 * which begins where that of the lane before ends or behind it. Where all lanes run they are done
 * together, by rows of memory.
 *
 * Requires: vec_verify. Must not know: targets but for how wide native vectors are. */
#include "vector/stretch.h"

#include "vector/passes.h"

#include <stddef.h>
#include <string.h>

/* ---- the pass ---- */

/* How many from v on make one; 0: none. A part of a row is one only where lanes leave nothing
 * between them. */
static uint8_t count_stretch(const vec_kernel *k, const vec_value *v) {
    uint32_t count = 1, most = 1, bytes = v->u.mem.bytes;
    const vec_value *w = vec_next_member(v);
    if (v->u.mem.open || v->u.mem.reach != VEC_REACH_STRIDE || v->u.mem.stride <= 0) return 0;
    for (; count < VEC_MOST_STRETCH && w && vec_is_member(v, w, count); w = vec_next_member(w))
        count++;
    for (uint64_t stride = (uint64_t)v->u.mem.stride;
         most * 2 <= count && most * 2 * bytes <= stride;)
        most *= 2;
    bool fits = most >= k->lanes || (uint64_t)most * bytes == (uint64_t)v->u.mem.stride;
    return most > 1 && fits ? (uint8_t)most : 0;
}

hg_status vec_pass_stretches(vec_kernel *kernel) {
    for (const vec_function *f = kernel->functions; f; f = f->next) {
        uint8_t members = 0;
        for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
            if (v->op != VEC_LOAD && v->op != VEC_STORE) continue;
            v->u.mem.may.stretch = members ? 0 : count_stretch(kernel, v);
            members = members ? (uint8_t)(members - 1)
                              : (uint8_t)(v->u.mem.may.stretch - (v->u.mem.may.stretch > 0));
        }
    }
    return HG_OK;
}

/* ---- picks ---- */

/* Of vectors a and b of the layer that is picked from, which begins with vector `from`. */
static uint8_t *pick(vec_stretch *s, uint32_t from, uint32_t a, uint32_t b) {
    vec_pick *made = &s->picks[s->pick_count++];
    made->a = (uint8_t)(from + a);
    made->b = (uint8_t)(from + b);
    return made->numbers;
}

/* Where the last `count` vectors begin. */
static uint32_t layer(const vec_stretch *s) { return s->pick_count; }

/* Of a and b in turn: elements of the first half, or of the second. */
static void zip(vec_stretch *s, uint32_t from, uint32_t a, uint32_t b, bool second) {
    uint8_t *numbers = pick(s, from, a, b);
    for (uint32_t i = 0; i < s->length; i++)
        numbers[i] = (uint8_t)(i / 2 + (second ? s->length / 2 : 0) + (i % 2 ? s->length : 0));
}

/* Those of a and then of b with even numbers, or with odd ones. */
static void unzip(vec_stretch *s, uint32_t from, uint32_t a, uint32_t b, bool odd) {
    uint8_t *numbers = pick(s, from, a, b);
    for (uint32_t i = 0; i < s->length; i++) numbers[i] = (uint8_t)(2 * i + odd);
}

/* Vectors of the lanes' elements become rows: in each layer half as many, twice as long. */
static void zip_all(vec_stretch *s) {
    for (uint32_t half = s->count / 2, left = s->count; left > 1; left /= 2) {
        uint32_t from = layer(s);
        for (uint32_t i = 0; i < half; i++) {
            zip(s, from, i, half + i, false);
            zip(s, from, i, half + i, true);
        }
    }
}

/* The same backwards. */
static void unzip_all(vec_stretch *s) {
    for (uint32_t half = s->count / 2, left = s->count; left > 1; left /= 2) {
        uint32_t from = layer(s);
        for (uint32_t i = 0; i < half; i++) unzip(s, from, 2 * i, 2 * i + 1, false);
        for (uint32_t i = 0; i < half; i++) unzip(s, from, 2 * i, 2 * i + 1, true);
    }
}

/* ---- squares: as many elements of a stretch as a native vector has lanes, of these lanes ---- */

enum { SIXTEEN = 16 }; /* bytes: what instructions without a vector of numbers pick in, and carry */

/* Elements `unit` at a time of a and b in turn, of the first or second half of each sixteen bytes;
 * `per` elements are sixteen bytes. */
static void unpack(vec_stretch *s, uint32_t from, uint32_t a, uint32_t per, uint32_t unit,
                   bool second) {
    uint8_t *numbers = pick(s, from, a, a + unit);
    for (uint32_t i = 0; i < s->length; i++) {
        uint32_t k = i % per, at = i - k + (second ? per / 2 : 0) + k / unit / 2 * unit + k % unit;
        numbers[i] = (uint8_t)(at + (k / unit % 2 ? s->length : 0));
    }
}

/* Sixteen bytes at a time: first + k * step of a, then the same of b. */
static void blocks_of(vec_stretch *s, uint32_t from, uint32_t a, uint32_t b, uint32_t per,
                      uint32_t first, uint32_t step) {
    uint8_t *numbers = pick(s, from, a, b);
    for (uint32_t i = 0, half = s->length / 2; i < s->length; i++)
        numbers[i] = (uint8_t)((first + i % half / per * step) * per + i % per +
                               (i < half ? 0 : s->length));
}

/* Element i of vector k becomes element k of vector i. */
static void transpose(vec_stretch *s, uint32_t per) {
    uint32_t lanes = s->length, blocks = lanes / per, from = layer(s);
    for (uint32_t i = 0; i < lanes; i++) unpack(s, from, i - i % 2, per, 1, i % 2);
    from = layer(s);
    for (uint32_t i = 0; i < lanes && per == 4; i++)
        unpack(s, from, i - i % 4 + i % 4 / 2, per, 2, i % 2);
    /* vector per * g + q has, k-th, of lane per * k + q the elements from per * g on */
    from = layer(s);
    for (uint32_t i = 0; i < 4 && blocks == 4; i++)
        for (uint32_t q = 0; q < per; q++)
            blocks_of(s, from, i % 2 * 2 * per + q, (i % 2 * 2 + 1) * per + q, per, i / 2 * 2, 1);
    from = layer(s);
    for (uint32_t i = 0; i < 4 && blocks == 4; i++)
        for (uint32_t q = 0; q < per; q++)
            blocks_of(s, from, i / 2 * 2 * per + q, (i / 2 * 2 + 1) * per + q, per, i % 2, 2);
    for (uint32_t i = 0; i < 2 && blocks == 2; i++)
        for (uint32_t q = 0; q < per; q++) blocks_of(s, from, q, per + q, per, i, 1);
}

/* Lanes of a square; 0: the stretch has none. */
static uint32_t square_of(const vec_kernel *k, const vec_value *v, uint32_t native) {
    uint32_t bytes = v->u.mem.bytes, lanes = native / bytes < k->lanes ? native / bytes : k->lanes;
    return (bytes == 4 || bytes == 8) && lanes * bytes >= SIXTEEN &&
                   v->u.mem.may.stretch % lanes == 0
               ? lanes
               : 0;
}

/* ---- all of it ---- */

static void plan_squares(const vec_kernel *k, const vec_value *v, uint32_t lanes, vec_stretch *s) {
    uint64_t stride = (uint64_t)v->u.mem.stride;
    s->length = s->count = lanes;
    s->rounds = v->u.mem.may.stretch / lanes;
    s->pieces = k->lanes / lanes;
    s->by_piece = lanes * stride;
    s->by_round = (uint64_t)lanes * v->u.mem.bytes;
    for (uint32_t i = 0; i < lanes; i++) s->rows[i] = i * stride;
    transpose(s, SIXTEEN / v->u.mem.bytes);
}

static void plan_rows(const vec_kernel *k, const vec_value *v, vec_stretch *s) {
    uint32_t count = v->u.mem.may.stretch, row = k->lanes * v->u.mem.bytes;
    uint32_t each = count < k->lanes ? 1 : count / k->lanes; /* rows of a lane */
    uint64_t stride = count < k->lanes ? row : (uint64_t)v->u.mem.stride;
    s->length = k->lanes;
    s->count = count;
    s->rounds = s->pieces = 1;
    for (uint32_t i = 0; i < count; i++)
        s->rows[i] = i / each * stride + (uint64_t)(i % each) * row;
    if (v->op == VEC_LOAD)
        unzip_all(s);
    else
        zip_all(s);
}

void vec_plan_stretch(const vec_kernel *k, const vec_value *v, uint32_t bytes, vec_stretch *s) {
    uint32_t square = square_of(k, v, bytes);
    memset(s, 0, offsetof(vec_stretch, picks));
    if (square)
        plan_squares(k, v, square, s);
    else
        plan_rows(k, v, s);
}
