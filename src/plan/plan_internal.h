/* Working state of the splitter, shared by its files. */
#ifndef HG_PLAN_PLAN_INTERNAL_H
#define HG_PLAN_PLAN_INTERNAL_H

#include "plan/plan.h"

/* A run of sibling operations between two plan nodes: becomes one lane kernel. */
typedef struct plan_segment {
    kir_value *first, *last;
    bool in_loop;  /* inside a plan-level loop: its variables may cross to its own next run */
    bool has_exit; /* a lane may stop inside */
    bool has_call;
} plan_segment;

/* What the split needs to know of a variable. */
typedef struct plan_variable {
    uint32_t segment;  /* the only segment that touches it so far; 0: none */
    bool crosses;      /* its value must survive from segment to segment */
    bool varying;      /* some read of it is not uniform */
    bool forced;       /* a plan node reads it: must be in the environment */
    bool set_at_exit;  /* set where a lane may stop: lane 0 may have stopped before it set it */
    bool names_memory; /* an access reads its handle from it */
    bool in_env;
    bool host;           /* the host works its value out too (host.c) */
    const kir_value *id; /* a register that is this ID from the kernel's start to its end: each
                            kernel reads it anew; else NULL */
    uint32_t env;        /* entry */
    uint64_t scratch;    /* offset of its array in scratch memory, in bytes a lane */
} plan_variable;

/* The variable that carries a value across segments (also in value->scratch between passes). */
typedef struct plan_carrier {
    kir_value *value;
    kir_var *var;
} plan_carrier;

/* What becomes of an operation. */
typedef struct plan_mark {
    uint32_t segment;
    bool is_owner; /* a plan-level IF or LOOP */
    bool computed; /* by the host too */
} plan_mark;

typedef struct plan_splitter {
    hg_plan *plan;
    kir_module *module;
    kir_function *main;
    kir_var *stopped; /* set before a lane exits in a segment that others follow; NULL when not
                         needed */
    HG_VEC(plan_segment) segments; /* 0 is not used */
    HG_VEC(plan_carrier) carriers;
    HG_VEC(plan_variable) variables; /* by kir_var.id */
    /* by id of the kernel function's operations, which keep their ids until the kernels are made */
    HG_VEC(plan_mark) marks;
    bool meets; /* the kernel that is made has barriers */
    bool failed;
} plan_splitter;

/* Of operations and regions of the kernel function. */
static inline uint32_t plan_segment_of(const plan_splitter *s, const kir_value *v) {
    return s->marks.data[v->id].segment;
}
static inline bool plan_is_owner(const plan_splitter *s, const kir_value *v) {
    return s->marks.data[v->id].is_owner;
}
static inline bool plan_is_region(const plan_splitter *s, const kir_region *r) {
    return r == s->main->body || plan_is_owner(s, r->owner);
}
/* Operations that become plan code instead of kernel code. */
bool plan_is_node(const plan_splitter *s, const kir_value *v);

/* split.c: marks, segments, values that cross. */
void plan_split(plan_splitter *s);
/* entries.c: a new environment entry; the one that holds an argument of a plan node; a copy in the
 * plan's arena. */
plan_env *plan_new_env(plan_splitter *s, uint8_t type, uint32_t *index);
uint32_t plan_argument(plan_splitter *s, const kir_value *v);
void *plan_keep(plan_splitter *s, const void *data, uint64_t size);
/* host.c: values that the host works out, and a segment's as operations of the plan: the number of
 * the first. */
void plan_find_host(plan_splitter *s);
uint32_t plan_add_operations(plan_splitter *s, const plan_segment *segment, uint32_t *count);
/* code.c: plan code and steps. */
void plan_emit(plan_splitter *s);
/* kernel.c: one kernel module a segment. */
void plan_make_kernels(plan_splitter *s);

#endif
