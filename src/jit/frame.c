/* What functions of a kernel need beside registers: memory of their own (private arrays, of which
 * wide integers are made, and what functions share), and their frames on the stack, as LLVM reports
 * them. The stack is the host's, who may have little of it: what is much lies in memory of the
 * launch, and code whose frames are large all the same is refused.
 * Must not know: what lies in the memory. */
#include "jit/jit_internal.h"

#include <hologram/vector.h>
#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Of all functions of a kernel along calls; the other three quarters of HG_JIT_MOST_FRAME are for
 * registers that LLVM puts on the stack. */
enum { MOST_ON_STACK = HG_JIT_MOST_FRAME / 4, ALIGN = 64 };

/* Lays bytes of functions behind each other along calls: `at` is where those of a function begin,
 * wherever it is called from. Returns where the last ones end. A function is called only by earlier
 * ones. */
static uint64_t along_calls(const vec_kernel *k, const uint64_t *bytes, uint64_t *at) {
    uint64_t end = 0;
    for (const vec_function *f = k->functions; f; f = f->next) at[f->id] = 0;
    for (const vec_function *f = k->functions; f; f = f->next) {
        uint64_t behind = at[f->id] + bytes[f->id];
        if (behind > end) end = behind;
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (v->op == VEC_CALL && at[v->u.call.to->id] < behind) at[v->u.call.to->id] = behind;
    }
    return end;
}

static uint64_t rounded(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* ---- memory of functions ---- */

static bool is_own(const vec_var *v) {
    return v->length && !v->by_reference && !v->kept && !v->shared;
}

static uint64_t array_bytes(const jit_printer *p, const vec_var *v) {
    return rounded((uint64_t)v->length * p->level.lanes * kir_type_bytes(v->type));
}

uint64_t jit_shared_bytes(const jit_printer *p) {
    if (!p->made.shared_type || p->k->blocks) return 0; /* of blocks: in the turn's record */
    return rounded(LLVMABISizeOfType(LLVMGetModuleDataLayout(p->module), p->made.shared_type));
}

bool jit_find_own(jit_printer *p) {
    const vec_kernel *k = p->k;
    uint64_t *bytes = hg_calloc((size_t)k->function_count + 1, sizeof *bytes);
    p->frame.own_at = hg_calloc((size_t)k->function_count + 1, sizeof *p->frame.own_at);
    if (!bytes || !p->frame.own_at) {
        hg_free(bytes);
        return false;
    }
    for (const vec_function *f = k->functions; f; f = f->next) {
        bytes[f->id] = f == k->functions ? jit_shared_bytes(p) : 0;
        for (const vec_var *v = f->vars; v; v = v->next)
            if (is_own(v)) bytes[f->id] += array_bytes(p, v);
    }
    p->frame.own_bytes = along_calls(k, bytes, p->frame.own_at);
    p->frame.own_in_memory = p->frame.own_bytes > MOST_ON_STACK;
    hg_free(bytes);
    return true;
}

uint64_t jit_left_on_stack(const jit_printer *p) {
    return p->frame.own_in_memory ? MOST_ON_STACK : MOST_ON_STACK - p->frame.own_bytes;
}

LLVMValueRef jit_ask_memory(jit_printer *p, LLVMValueRef bytes) {
    LLVMTypeRef types[2] = {p->t.ptr, p->t.i64}, type = LLVMFunctionType(p->t.ptr, types, 2, false);
    LLVMValueRef ask = LLVMBuildLoad2(p->b, p->t.ptr,
                                      jit_field(p, p->in.launch, offsetof(hgv_launch, memory)), ""),
                 args[2] = {p->in.launch, bytes};
    return LLVMBuildCall2(p->b, type, ask, args, 2, "");
}

void jit_place_own(jit_printer *p) {
    if (!p->frame.own_in_memory) return;
    uint64_t at = p->frame.own_at[p->in.f->id];
    if (p->in.f == p->k->functions) {
        if (jit_shared_bytes(p)) p->in.shared = jit_field(p, p->in.own, at);
        at += jit_shared_bytes(p);
    }
    for (const vec_var *v = p->in.f->vars; v; v = v->next) {
        if (!is_own(v)) continue;
        p->by.arrays[v->id] = jit_field(p, p->in.own, at);
        at += array_bytes(p, v);
    }
}

/* ---- frames ---- */

/* Names that jit_frame_of reads again. */
void jit_name_function(uint32_t id, char name[16]) { snprintf(name, 16, "f%u", (unsigned)id); }

bool jit_frame_of(jit_printer *p, const char *text) {
    static const char size_is[] = "stack frame size (", of[] = "in function '";
    const char *size = strstr(text, size_is), *name = strstr(text, of);
    unsigned long long bytes = 0;
    unsigned id = 0;
    if (!size || !name || !p->frame.frame_bytes ||
        sscanf(size + sizeof size_is - 1, "%llu", &bytes) != 1)
        return false;
    name += sizeof of - 1;
    if (strncmp(name, HG_JIT_KERNEL "'", sizeof HG_JIT_KERNEL) == 0)
        p->frame.entry_frame = bytes;
    else if (sscanf(name, "f%u'", &id) == 1 && id < p->k->function_count)
        p->frame.frame_bytes[id] = bytes;
    return true;
}

uint64_t jit_deepest_frame(const jit_printer *p, uint64_t *at) {
    enum { CALL = 8 + ALIGN, BETWEEN = 256 /* of hgv_blocks */ };
    for (uint32_t id = 0; id < p->k->function_count; id++) p->frame.frame_bytes[id] += CALL;
    return p->frame.entry_frame + BETWEEN + along_calls(p->k, p->frame.frame_bytes, at);
}
