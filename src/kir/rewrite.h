/* One pass copies a module and replaces what its rules name. Legalisation is a row of such passes,
 * each over the result of the one before, so a rule may write any operation that a later pass
 * lowers; the device form is one more.
 * Must not know: targets by name. */
#ifndef HG_KIR_REWRITE_H
#define HG_KIR_REWRITE_H

#include "kir/builder.h"

/* What a value became: one value, two (low and high half), one a limb, or a private array of limbs.
 */
enum { REWRITE_MOST_PARTS = 8 };
typedef struct rewrite_value {
    kir_value *v[REWRITE_MOST_PARTS];
    kir_var *array;
} rewrite_value;
typedef struct rewrite_var {
    kir_var *v[REWRITE_MOST_PARTS];
} rewrite_var;

typedef struct rewrite_pass rewrite_pass;
typedef struct rewrite_rules {
    /* The type that values of a type have afterwards. NULL: all stay. */
    uint8_t (*type)(const rewrite_pass *p, uint8_t type);
    /* Emits the replacement of v and stores it in p->values[v->id]; false: v is copied. Never IF or
     * LOOP. */
    bool (*lower)(rewrite_pass *p, const kir_value *v);
    /* Declares a variable or the parameters of a function where the type rule is not enough; false:
     * as usual. May be NULL. */
    bool (*declare_var)(rewrite_pass *p, const kir_var *var, kir_function *owner);
    void (*declare_params)(rewrite_pass *p, const kir_function *from, kir_function *to);
    kir_table *(*declare_table)(rewrite_pass *p, const kir_table *table); /* NULL result: as usual
                                                                           */
    void (*begin_function)(rewrite_pass *p);                              /* may be NULL */
    void (*before)(rewrite_pass *p, const kir_value *v); /* in front of an IF or LOOP; may be NULL
                                                          */
    void (*enter)(rewrite_pass *p, const kir_value *v);  /* at the start of a LOOP's region; may be
                                                            NULL */
    void (*after)(rewrite_pass *p, const kir_value *v);  /* v and its regions are done; may be NULL
                                                          */
    void (*end_function)(rewrite_pass *p);               /* may be NULL */
} rewrite_rules;

struct rewrite_pass {
    const kir_module *in;
    kir_module *out;
    const kir_caps *caps;
    const rewrite_rules *rules;
    kir_builder b;
    const kir_function *function; /* of `in`, being copied */
    rewrite_value *values;        /* by id */
    kir_function **functions;     /* by id in `in` */
    rewrite_var *vars;
    kir_table **tables;
    void *state; /* of the rules */
};

/* Runs rules over a module. */
hg_status rewrite_run(const kir_module *in, const kir_caps *caps, const rewrite_rules *rules,
                      void *state, kir_module **out) HG_NODISCARD;
/* A copy of a module, without the facts of uniformity analysis. Threads may copy one module at the
 * same time while nobody changes it, once its functions are numbered. */
hg_status kir_copy(const kir_module *in, kir_module **out) HG_NODISCARD;
static inline kir_value *rewrite_arg(const rewrite_pass *p, const kir_value *v, uint8_t i) {
    return p->values[v->args[i]->id].v[0];
}
static inline void rewrite_set(rewrite_pass *p, const kir_value *v, kir_value *to) {
    p->values[v->id].v[0] = to;
}
/* Copies v with these arguments and that type; fields that name variables, tables and functions are
 * translated. */
kir_value *rewrite_copy_with(rewrite_pass *p, const kir_value *v, uint8_t type, uint8_t nargs,
                             kir_value *const *args);

/* A function of the output that is made once: name is the key. NULL body: it exists already (or
 * memory is out). */
typedef struct rewrite_helper {
    kir_function *function;
    kir_builder b;
    bool fresh;
} rewrite_helper;
rewrite_helper rewrite_helper_begin(rewrite_pass *p, const char *name, uint8_t result,
                                    uint8_t params, const uint8_t *types);
void rewrite_helper_end(rewrite_pass *p, rewrite_helper *h);

#endif
