/* Inside the legaliser: one pass copies a module and replaces what its rules name; passes run one after another, each over the
 * result of the one before, so a rule may write any operation that a later pass lowers.
 * Must not know: targets by name. */
#ifndef HG_KIR_LEGALISE_INTERNAL_H
#define HG_KIR_LEGALISE_INTERNAL_H

#include "kir/kir.h"

/* What a value became: one value, two (low and high half), or a private array of limbs. */
typedef struct legal_value {
    kir_value *v[2];
    kir_var *array;
} legal_value;
typedef struct legal_var {
    kir_var *v[2];
} legal_var;

typedef struct legal_pass legal_pass;
typedef struct legal_rules {
    /* The type that values of a type have afterwards. NULL: all stay. */
    uint8_t (*type)(const legal_pass *p, uint8_t type);
    /* Emits the replacement of v and stores it in p->values[v->id]; false: v is copied. Never IF or LOOP. */
    bool (*lower)(legal_pass *p, const kir_value *v);
    /* Declares a variable or the parameters of a function where the type rule is not enough; false: as usual. May be NULL. */
    bool (*declare_var)(legal_pass *p, const kir_var *var, kir_function *owner);
    void (*declare_params)(legal_pass *p, const kir_function *from, kir_function *to);
    kir_table *(*declare_table)(legal_pass *p, const kir_table *table); /* NULL result: as usual */
    void (*begin_function)(legal_pass *p);                              /* may be NULL */
    void (*before)(legal_pass *p, const kir_value *v);                  /* in front of an IF or LOOP; may be NULL */
    void (*enter)(legal_pass *p, const kir_value *v);                   /* at the start of a LOOP's region; may be NULL */
    void (*after)(legal_pass *p, const kir_value *v);                   /* v and its regions are done; may be NULL */
    void (*end_function)(legal_pass *p);                                /* may be NULL */
} legal_rules;

struct legal_pass {
    const kir_module *in;
    kir_module *out;
    const kir_caps *caps;
    const legal_rules *rules;
    kir_builder b;
    const kir_function *function; /* of `in`, being copied */
    legal_value *values;          /* by id */
    kir_function **functions;     /* by id in `in` */
    legal_var *vars;
    kir_table **tables;
    void *state; /* of the rules */
};

/* Runs rules over a module. */
hg_status legal_run(const kir_module *in, const kir_caps *caps, const legal_rules *rules, void *state, kir_module **out) HG_NODISCARD;
static inline kir_value *legal_arg(const legal_pass *p, const kir_value *v, uint8_t i) { return p->values[v->args[i]->id].v[0]; }
static inline void legal_set(legal_pass *p, const kir_value *v, kir_value *to) { p->values[v->id].v[0] = to; }
/* Copies v with these arguments and that type; fields that name variables, tables and functions are translated. */
kir_value *legal_copy_with(legal_pass *p, const kir_value *v, uint8_t type, uint8_t nargs, kir_value *const *args);

/* A function of the output that is made once: name is the key. NULL body: it exists already (or memory is out). */
typedef struct legal_helper {
    kir_function *function;
    kir_builder b;
    bool fresh;
} legal_helper;
legal_helper legal_helper_begin(legal_pass *p, const char *name, uint8_t result, uint8_t params, const uint8_t *types);
void legal_helper_end(legal_pass *p, legal_helper *h);

/* The passes, in this order. */
hg_status legal_wide(const kir_module *in, const kir_caps *caps, kir_module **out) HG_NODISCARD; /* wide integers to limb arrays */
extern const legal_rules legal_half_rules;                                                       /* half conversions, fma */
extern const legal_rules legal_float_rules;                                                      /* f64, and f32 subnormals */
hg_status legal_int(const kir_module *in, const kir_caps *caps, kir_module **out) HG_NODISCARD;  /* u8 u16 to u32, u64 to pairs */

#endif
