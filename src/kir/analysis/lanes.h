/* How values live in a group of neighbouring lanes that run together: once for all, as the first
 * lane's with a stride, or an element for each lane; and where lanes of the group go different
 * ways. What a target adds (its variables, its accesses to memory, what a group is) are rules of
 * its own.
 * Must not know: any target. */
#ifndef HG_KIR_ANALYSIS_LANES_H
#define HG_KIR_ANALYSIS_LANES_H

#include "base/base.h"
#include "kir/kir.h"

/* Each is less known than those before it. */
typedef enum kir_lane_form {
    KIR_LANES_ONE,    /* the same in all lanes that are active */
    KIR_LANES_AFFINE, /* the first lane's; each lane adds its number times the value's stride */
    KIR_LANES_EACH    /* an element for each lane */
} kir_lane_form;

/* Of a value. The record that v->scratch leads to begins with it. */
typedef struct kir_lanes {
    uint8_t form;   /* kir_lane_form */
    bool divergent; /* IF: lanes may go both ways · LOOP: lanes may leave or continue one by one */
    bool apart;     /* IF, LOOP: only some of the function's lanes may be inside */
    bool apart_in_loop; /* IF, LOOP: only some of the innermost loop's lanes may be inside */
    kir_value *loop;    /* IF, LOOP: the innermost loop around what is inside */
} kir_lanes;

/* Of a function. The record that f->scratch leads to begins with it. */
typedef struct kir_function_lanes {
    bool reached;                     /* it runs */
    bool divergent_return;            /* lanes may return one by one */
    bool param_each[16], result_each; /* else they are one value */
} kir_function_lanes;

static inline kir_lanes *kir_lanes_of(const kir_value *v) { return v->scratch; }
static inline kir_function_lanes *kir_lanes_of_function(const kir_function *f) {
    return f->scratch;
}

/* Whether only some of the lanes that are active at the start of the function may be active in the
 * region. */
static inline bool kir_is_apart(const kir_region *r) {
    return r->owner && kir_lanes_of(r->owner)->apart;
}
/* The worst form of some arguments. */
uint8_t kir_worst_form(const kir_value *v, uint8_t first, uint8_t end);
/* The form of what is calculated from the arguments, lane by lane. Requires: kir_find_uniformity.
 */
uint8_t kir_pure_form(const kir_value *v);

/* The functions that run, callers before callees: those that a call reaches which `enters` says yes
 * to (NULL: any call). False: out of memory. */
typedef HG_VEC(kir_function *) kir_function_list;
bool kir_list_callers_first(kir_module *m, bool (*enters)(void *user, const kir_value *call),
                            void *user, kir_function_list *list) HG_NODISCARD;

/* Starts from "everything is one value" and takes back what does not hold until nothing changes. */
typedef struct kir_lane_analysis kir_lane_analysis;
typedef struct kir_lane_rules {
    uint8_t (*form_of)(kir_lane_analysis *s, const kir_value *v); /* from what is known of its
                                                                     arguments and variables */
    void (*part)(kir_lane_analysis *s, kir_value *v);  /* an IF whose condition is not one value */
    void (*visit)(kir_lane_analysis *s, kir_value *v); /* whatever else follows from a value; behind
                                                          the rest of it */
    bool (*begin_round)(kir_lane_analysis *s, uint32_t round); /* false: it ends here */
} kir_lane_rules;
struct kir_lane_analysis {
    const kir_lane_rules *rules;
    void *user; /* of the rules */
    kir_module *m;
    const kir_function_list *order;
    kir_function *f; /* the one at work */
    bool changed;
};
/* Sets a flag, which is a change where it was not set. */
void kir_lane_set(kir_lane_analysis *s, bool *flag);
void kir_lane_analyse(kir_lane_analysis *s);

#endif
