/* How much text for a compiler a kernel is, in instructions: what its time goes by. An estimate:
 * what a compiler folds it does not know.
 * Must not know: compilers. */
#include "vector/vector.h"
#include <stdio.h>

enum {
    GATHERS = 64
}; /* native vectors of so many bytes come with gathers: else lanes reach memory one by one */

/* Native vectors of a value. */
static uint64_t pieces(const vec_kernel *k, uint32_t bytes, const vec_value *v) {
    uint64_t element = v->type == KIR_BOOL || v->type == KIR_VOID ? 4 : kir_type_bytes(v->type);
    return v->each ? (k->lanes * element + bytes - 1) / bytes : 1;
}

/* For each lane: its place, the access, the element's way into or out of the vector. */
static uint64_t one_by_one(const vec_kernel *k, uint32_t bytes) {
    return bytes >= GATHERS ? k->lanes / 2 : 4 * k->lanes;
}

static bool has_lanes(const vec_value *v) {
    return v->u.mem.reach == VEC_REACH_EACH || v->u.mem.reach == VEC_REACH_STRIDE;
}

static uint64_t work_of(const vec_kernel *k, uint32_t bytes, const vec_value *v) {
    uint64_t lanes = k->lanes;
    switch ((vec_op)v->op) {
    case VEC_CONST: return 0;
    case VEC_PRIM: return 1 + pieces(k, bytes, v) / 2;
    case VEC_LOAD:
    case VEC_STORE: return has_lanes(v) ? 12 + one_by_one(k, bytes) : 14;
    case VEC_CHECK: return 20;
    case VEC_ATOMIC: return v->u.mem.may.combines ? 80 + 10 * lanes : 60;
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET: return v->nargs && v->args[0]->each ? 6 + one_by_one(k, bytes) : 8;
    case VEC_TABLE_GET: return v->each ? 6 + one_by_one(k, bytes) : 4;
    case VEC_COORDINATE: return 3 * lanes;
    case VEC_FAULT_IF: return 18;
    case VEC_EXCHANGE:
    case VEC_SLIDE: return 12;
    case VEC_CALL: return 16;
    case VEC_FUEL: return 12;
    case VEC_TURNS: return 60;
    case VEC_LEAVE:
    case VEC_IF:
    case VEC_LOOP:
    case VEC_BARRIER: return 8;
    default: return 2;
    }
}

/* What is there to be asked once. */
static bool is_question(const vec_kernel *k, const vec_value *v) {
    const vec_value *owner = v->parent->owner;
    return (k->blocks && v->tested) || v->op == VEC_WHOLE || (owner && owner->op == VEC_WHOLE);
}

/* What a block does in turns is written out twice: as all goes well, and else. */
uint64_t vec_work(const vec_kernel *kernel, uint32_t bytes) {
    uint64_t work = 0;
    for (const vec_function *f = kernel->functions; f; f = f->next)
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            work += is_question(kernel, v) ? 0 : work_of(kernel, bytes, v);
    return kernel->blocks ? 2 * work : work;
}

/* LLVM goes down chains of operations by calls: its stack bounds them. */
enum { MOST_OPERATIONS = 8192 };

bool vec_is_too_much(const vec_kernel *kernel, uint32_t bytes, char why[static 120]) {
    uint64_t operations = 0, work = vec_work(kernel, bytes);
    for (const vec_function *f = kernel->functions; f; f = f->next)
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            operations += !is_question(kernel, v);
    if (operations > MOST_OPERATIONS)
        snprintf(why, 120, "too much for a compiler: %llu operations, at most %d",
                 (unsigned long long)operations, (int)MOST_OPERATIONS);
    else if (work > VEC_MOST_WORK)
        snprintf(why, 120, "too much for a compiler: about %llu instructions, at most %d",
                 (unsigned long long)work, (int)VEC_MOST_WORK);
    return operations > MOST_OPERATIONS || work > VEC_MOST_WORK;
}
