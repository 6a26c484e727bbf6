/* Instructions that turn variables into variables. Only those whose result is fixed to the bit. */
#include "generate_internal.h"
#include "oracle/oracle.h"

bool is_integer(hg_type type) { return !oracle_is_float(type); }
bool is_float(hg_type type) { return oracle_is_float(type); }
static bool is_any(hg_type type) { return type < HG_TYPE_COUNT; }

const char *type_text(const generator *g, int type) { return hg_type_name(g->types[type]); }

int any_type_where(generator *g, bool (*accept)(hg_type)) {
    for (int attempt = 0; attempt < 8; attempt++) {
        int t = (int)pick(g, (uint32_t)g->type_count);
        if (accept(g->types[t])) return t;
    }
    return 0;
}

int any_type(generator *g) { return any_type_where(g, is_any); }
int variables(const generator *g) { return g->flags & GENERATE_TINY ? 2 : VARIABLES; }
int variable(generator *g, int type) {
    return R_VARIABLES + type * VARIABLES + (int)pick(g, (uint32_t)variables(g));
}
int predicates(const generator *g) { return g->flags & GENERATE_TINY ? 2 : PREDICATES; }
void any_predicate(generator *g, int *predicate) {
    *predicate = (int)pick(g, (uint32_t)predicates(g));
}

void set_condition(generator *g, int predicate) {
    static const char *const CODES[] = {"eq", "ne",  "lt",  "le",  "gt",
                                        "ge", "ltu", "leu", "gtu", "geu"};
    int t = any_type(g);
    const char *code = CODES[pick(g, is_float(g->types[t]) ? 6 : 10)];
    line(g, "set%s.%s p%d, r%d, r%d", code, type_text(g, t), predicate, variable(g, t),
         variable(g, t));
}

/* Wide products and quotients take the oracle long; loops over them shrink accordingly. */
static void charge(generator *g, int type, double weight) {
    double words = oracle_size(g->types[type]) / 8.0;
    if (words > 1) g->cost += g->factor * weight * words * words / 8;
}

static void unary(generator *g) {
    static const char *const COMMON[] = {"mov",   "abs",  "neg",   "sign",
                                         "floor", "ceil", "round", "trunc"};
    static const char *const FLOATS[] = {"sqrt", "rcp"};
    int t = any_type(g);
    const char *name = COMMON[pick(g, 8)];
    if (is_float(g->types[t]) && chance(g, 30)) name = FLOATS[pick(g, 2)];
    if (is_integer(g->types[t]) && chance(g, 30)) name = "not";
    line(g, "%s.%s r%d, r%d", name, type_text(g, t), variable(g, t), variable(g, t));
}

/* An integer divisor is made odd, hence not zero. */
static void divide(generator *g) {
    int t = any_type(g);
    const char *name = chance(g, 50) ? "div" : "rem";
    int divisor = variable(g, t);
    if (is_integer(g->types[t])) {
        line(g, "mov_imm.%s r%d, 1", type_text(g, t), R_SCRATCH + t);
        line(g, "or.%s r%d, r%d, r%d", type_text(g, t), R_SCRATCH + t, divisor, R_SCRATCH + t);
        divisor = R_SCRATCH + t;
        charge(g, t, 64);
    }
    line(g, "%s.%s r%d, r%d, r%d", name, type_text(g, t), variable(g, t), variable(g, t), divisor);
}

static void binary(generator *g) {
    static const char *const COMMON[] = {"add", "sub", "mul", "min", "max"};
    static const char *const LOGIC[] = {"and", "or", "xor"};
    int t = any_type(g);
    const char *name = is_integer(g->types[t]) && chance(g, 35) ? LOGIC[pick(g, 3)]
                                                                : COMMON[pick(g, 5)];
    charge(g, t, 1);
    line(g, "%s.%s r%d, r%d, r%d", name, type_text(g, t), variable(g, t), variable(g, t),
         variable(g, t));
}

static void shift(generator *g) {
    int t = any_type_where(g, is_integer);
    charge(g, t, 8);
    line(g, "%s.%s r%d, r%d, r%d", chance(g, 50) ? "shl" : "shr", type_text(g, t), variable(g, t),
         variable(g, t), variable(g, 0));
}

/* Rotations, counts, orders of bits, high and wide products, carries, saturation. */
static void bits(generator *g) {
    static const char *const COUNTS[] = {"popc", "clz", "ctz"}, *const TWO[] = {"mulhi", "add.sat",
                                                                                "sub.sat"};
    int t = any_type_where(g, is_integer);
    const char *type = type_text(g, t);
    int to = variable(g, t), x = variable(g, t), y = variable(g, t), p, in;
    any_predicate(g, &p);
    any_predicate(g, &in);
    charge(g, t, 16);
    switch (pick(g, 8)) {
    case 7: { /* an odd modulus is not 0 */
        int u = (int)pick(g, 2), modulus = R_SCRATCH + u;
        line(g, "mov_imm.%s r%d, 1", type_text(g, u), modulus);
        line(g, "or.%s r%d, r%d, r%d", type_text(g, u), modulus, variable(g, u), modulus);
        line(g, "powm.%s r%d, r%d, r%d, r%d", type_text(g, u), variable(g, u), variable(g, u),
             variable(g, u), modulus);
        break;
    }
    case 0:
    case 1:
        line(g, "%s.%s r%d, r%d, r%d", chance(g, 50) ? "rotl" : "rotr", type, to, x,
             variable(g, 0));
        break;
    case 2: line(g, "%s.%s r%d, r%d", COUNTS[pick(g, 3)], type, variable(g, 0), x); break;
    case 3: line(g, "%s.%s r%d, r%d", chance(g, 50) ? "brev" : "bswap", type, to, x); break;
    case 4:
        line(g, "mulw.u64.u32 r%d, r%d, r%d", variable(g, 1), variable(g, 0), variable(g, 0));
        break;
    case 5: line(g, "%s.%s r%d, r%d, r%d", TWO[pick(g, 3)], type, to, x, y); break;
    default:
        if (chance(g, 50))
            line(g, "%s.%s r%d, p%d, r%d, r%d, p%d", chance(g, 50) ? "addc" : "subb", type, to, p,
                 x, y, in);
        else
            line(g, "%s.%s r%d, p%d, r%d, r%d", chance(g, 50) ? "addc" : "subb", type, to, p, x, y);
    }
}

static void ternary(generator *g) {
    static const char *const NAMES[] = {"mad", "fma", "fms", "clamp", "lerp"};
    int t = any_type(g);
    const char *name = NAMES[pick(g, is_float(g->types[t]) ? 5 : 4)];
    charge(g, t, 1);
    line(g, "%s.%s r%d, r%d, r%d, r%d", name, type_text(g, t), variable(g, t), variable(g, t),
         variable(g, t), variable(g, t));
}

static void fold(generator *g) {
    static const char *const NAMES[] = {"add", "min", "max", "mul"};
    int t = any_type(g);
    uint32_t count = pick(g, (uint32_t)variables(g) + 1);
    charge(g, t, 4);
    line(g, "reduce.%s.%s r%d, r%d, %u", NAMES[pick(g, 4)], type_text(g, t), variable(g, t),
         R_VARIABLES + t * VARIABLES, count);
}

/* Of a NaN the pattern of a zero: its own bits are not fixed. */
static void pattern(generator *g, int to, int from) {
    int source = variable(g, from);
    if (is_float(g->types[from])) {
        int zero = R_SCRATCH + from;
        line(g, "seteq.%s p7, r%d, r%d", type_text(g, from), source, source);
        line(g, "mov_imm.%s r%d, 0.0", type_text(g, from), zero);
        line(g, "sel.%s r%d, p7, r%d, r%d", type_text(g, from), zero, source, zero);
        source = zero;
    }
    line(g, "bits.%s.%s r%d, r%d", type_text(g, to), type_text(g, from), variable(g, to), source);
}

static void convert(generator *g) {
    int to = any_type(g), from = any_type(g);
    if (hg_op_allows_types(HG_OP_BITS, g->types[to], g->types[from])) {
        pattern(g, to, from);
        return;
    }
    line(g, "cvt.%s.%s r%d, r%d", type_text(g, to), type_text(g, from), variable(g, to),
         variable(g, from));
}

static void identity(generator *g) {
    static const char *const NARROW[] = {"lane_idx_x",  "lane_idx_y",  "lane_idx_z",  "block_idx_x",
                                         "block_idx_y", "block_idx_z", "block_dim_x", "block_dim_y",
                                         "block_dim_z", "grid_dim_x",  "grid_dim_y",  "grid_dim_z"};
    uint32_t n = pick(g, 16);
    if (n < 12)
        line(g, "rdid r%d, %s", variable(g, 0), NARROW[n]);
    else if (n == 12)
        line(g, "rdid r%d, global_lane_id", variable(g, 1));
    else if (n == 13)
        line(g, "rdid r%d, lane_count", variable(g, 1));
    else if (n == 14)
        line(g, "mov.u64 r%d, r255", variable(g, 1));
    else
        line(g, "mov.u32 r%d, r%u", variable(g, 0), 252 + pick(g, 3));
}

static void select_value(generator *g) {
    int t = any_type(g), p;
    any_predicate(g, &p);
    line(g, "sel.%s r%d, p%d, r%d, r%d", type_text(g, t), variable(g, t), p, variable(g, t),
         variable(g, t));
}

static void logic(generator *g) {
    static const char *const TWO[] = {"and.p", "or.p", "xor.p"};
    int p[4];
    for (int i = 0; i < 4; i++) any_predicate(g, &p[i]);
    switch (pick(g, 6)) {
    case 0: line(g, "not.p p%d, p%d", p[0], p[1]); break;
    case 1: line(g, "mov.p p%d, p%d", p[0], p[1]); break;
    case 2: line(g, "sel.p p%d, p%d, p%d, p%d", p[0], p[1], p[2], p[3]); break;
    default: line(g, "%s p%d, p%d, p%d", TWO[pick(g, 3)], p[0], p[1], p[2]);
    }
}

static void constant(generator *g) {
    int t = any_type(g);
    line(g, "mov_imm.%s r%d, %s", type_text(g, t), variable(g, t), literal(g, g->types[t]));
}

/* R_CLASS = a class, from an integer: the bits of a NaN are not fixed. */
static void some_class(generator *g) {
    int t = any_type_where(g, is_integer);
    line(g, "cls.get r%d, r%d", R_CLASS, variable(g, t));
    if (chance(g, 30)) line(g, "mirror r%d, r%d", R_CLASS, R_CLASS);
    if (chance(g, 20)) line(g, "nbr.get r%d, r%d, %u", R_CLASS, R_CLASS, pick(g, 7));
    if (chance(g, 20))
        line(g, "nbr.get r%d, r%d, r%d", R_CLASS, R_CLASS, variable(g, (int)pick(g, 2)));
}

/* Sums and phases of the context. Where whole-array instructions cut the lanes' lives, results are
 * left alone. */
static void context_state(generator *g) {
    int t = any_type(g), n = any_type_where(g, is_integer);
    bool blind = g->has_collectives;
    g->cost += g->factor * 400;
    switch (pick(g, 4)) {
    case 0:
    case 1:
        line(g, "res.accum r%d, r%d, r%d", blind ? R_UNREAD : R_SUM, variable(g, t), R_CLASS);
        if (!blind) line(g, "cvt.u64.f64 r%d, r%d", variable(g, 1), R_SUM);
        break;
    case 2: line(g, "phase.write r%d, r%d", variable(g, n), R_CLASS); break;
    default:
        if (!blind) line(g, "phase.read r%d, r%d", variable(g, 0), R_CLASS);
    }
}

static void atlas(generator *g) {
    static const char *const SIZES[] = {"96", "2304", "4608", "18432", "73728", "301989888"};
    some_class(g);
    switch (pick(g, 10)) {
    case 0: line(g, "nbr.count r%d, r%d", variable(g, 0), R_CLASS); break;
    case 1: line(g, "unity.test p%u, r%d", pick(g, (uint32_t)predicates(g)), R_CLASS); break;
    case 2:
        line(g, "bound.map r%d, r%d, %u, %u", variable(g, 1), R_CLASS, pick(g, 48), pick(g, 256));
        break;
    case 3:
        line(g, "bound.map.%s r%d, r%d, %u, %u", type_text(g, any_type(g)), variable(g, 1), R_CLASS,
             pick(g, 24), pick(g, 96));
        break;
    case 4:
        line(g, "orbit.classify r%d, r%d, %s", R_SMALL, variable(g, (int)pick(g, 2)),
             SIZES[pick(g, 6)]);
        line(g, "orbit.representative r%d, r%d, %s", variable(g, 0), R_SMALL, SIZES[pick(g, 6)]);
        break;
    case 5: /* odd modulo a power of two */
        line(g, "or.u32 r%d, r%d, r%d", R_NUMBER, variable(g, 0), R_ONE);
        line(g, "mult.inverse r%d, r%d, %u", variable(g, 0), R_NUMBER, 2u << pick(g, 31));
        break;
    case 6:
        line(g, "phase.adv r%d", chance(g, 50) ? R_CLASS : variable(g, (int)pick(g, 2)));
        line(g, "phase.get r%d", variable(g, 0));
        break;
    case 7:
        line(g, "char.product.f64 r%d, r%d, %u", R_SUM, R_CLASS, pick(g, 194));
        line(g, "cvt.u64.f64 r%d, r%d", variable(g, 1), R_SUM);
        break;
    default:
        if (g->flags & GENERATE_SHORT)
            line(g, "cvt.u32.u8 r%d, r%d", variable(g, 0), R_CLASS); /* devices compile sums for
                                                                        seconds */
        else
            context_state(g);
    }
}

void compute(generator *g) {
    int p;
    if (chance(g, 4)) {
        atlas(g);
        return;
    }
    switch (pick(g, 22)) {
    case 0:
    case 1:
    case 2: unary(g); break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7: binary(g); break;
    case 8:
    case 9: ternary(g); break;
    case 10: divide(g); break;
    case 11: shift(g); break;
    case 12:
    case 13: convert(g); break;
    case 14: constant(g); break;
    case 15: identity(g); break;
    case 16: fold(g); break;
    case 17: select_value(g); break;
    case 18: logic(g); break;
    case 19: bits(g); break;
    default:
        any_predicate(g, &p);
        set_condition(g, p);
        break;
    }
}
