/* Random statement trees, printed as text and worked out by an evaluator of this file: equal bits,
 * NaNs aside. Made through hg_tree_* they are the same program.
 *
 *     test_statements_random [--count N] [--seed N] [--backend NAME] [--build COMPILER]
 *                            [--small] [--print] [--lanes N]
 *
 * Each program has a few lanes, which own 16 elements of one array of each type. The evaluator
 * shares nothing with the assembler: it walks the tree that is printed. --build: they run as the C
 * that `hologram build` writes, twenty in one text, at every level of this CPU. */
#include "base/base.h"
#include "support/sanitized.h"
#include "support/c_build.h"
#include "support/runtime_support.h"
#include "support/structured_text.h"
#include <hologram/tree.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef enum type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    PRED,
    TYPES,
    GENERIC = TYPES, /* the type parameter of a function */
    NO_TYPE
} type;
static const char *const NAMES[] = {"i8",  "u8",  "i16", "u16", "i32",  "u32", "i64",
                                    "u64", "f16", "f32", "f64", "pred", "T"};
static const uint32_t BITS[] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 1};
enum {
    MOST_LANES = 20,
    ELEMENTS = 16,
    MOST_NODES = 6000,
    MOST_VARIABLES = 64, /* of the program, and of each function */
    MOST_FUNCTIONS = 12,
    MOST_ARGUMENTS = 3, /* and results; arrays aside */
    NO_VARIABLE = 1 << 20,
    MOST_STEPS = 20000
};

static bool is_float(type t) { return t >= F16 && t <= F64; }
static bool is_signed(type t) { return t == I8 || t == I16 || t == I32 || t == I64; }
static bool is_integer(type t) { return t < F16; }

/* ---- random numbers ---- */

static uint64_t state;
static uint32_t pick(uint32_t n) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

/* ---- values ---- */

typedef struct value {
    uint64_t i; /* integers: the sign goes on, or zeros; predicates 0 or 1 */
    double d;   /* floats: of f32 and f16 a value that is one */
} value;

static value integer(type t, uint64_t i) {
    uint32_t bits = BITS[t];
    value v = {i, 0};
    if (bits < 64) v.i &= (UINT64_C(1) << bits) - 1;
    if (is_signed(t) && bits < 64 && v.i >> (bits - 1)) v.i |= ~UINT64_C(0) << bits;
    return v;
}
/* Rounded once to the nearest number with 11 bits, or the multiple of 2^-24. */
static double half(double d) {
    int exponent;
    if (!isfinite(d) || d == 0) return d;
    frexp(d, &exponent);
    double step = ldexp(1, exponent - 11 < -24 ? -24 : exponent - 11), near = rint(d / step) * step;
    return fabs(near) < 65520 ? near : copysign(INFINITY, d);
}
static value real(type t, double d) {
    value v = {0, t == F32 ? (double)(float)d : t == F16 ? half(d) : d};
    return v;
}
static value truth(bool b) { return (value){b, 0}; }

/* ---- trees ---- */

typedef enum kind {
    LITERAL,
    VARIABLE,
    GLOBAL,
    ELEMENT,
    NEGATE,
    COMPLEMENT,
    NOT,
    BINARY,
    COMPARE,
    BOTH,
    EITHER,
    CHOICE,
    CONVERT,
    FUNCTION,
    ATOMIC,
    ARRAY, /* an element of an array of the block or the lane */
    CALL
} kind;
typedef struct expression {
    kind kind;
    type type;
    int op;     /* of BINARY, COMPARE, FUNCTION */
    bool bare;  /* LITERAL: without its type */
    bool apart; /* of an index: that of the last of three axes */
    value literal;
    uint32_t variable;
    uint32_t array;    /* ARRAY: which, or the function's self; CALL: the argument */
    uint32_t function; /* CALL */
    type generic;      /* CALL: its type parameter */
    struct expression *x, *y, *z, *argument[MOST_ARGUMENTS];
} expression;

typedef enum statement_kind {
    LET,
    ASSIGN,
    STORE,
    IF,
    WHILE,
    LOOP,
    FOR,
    BREAK,
    CONTINUE,
    RETURN,
    CARRY,
    TOGETHER, /* block.any or block.all */
    WHILE_ANY,
    PUT,    /* into an array of the block or the lane */
    RESULTS /* of a call: none, or into new variables or old ones */
} statement_kind;
typedef struct statement {
    statement_kind kind;
    uint32_t variable, second; /* LET, ASSIGN; the counter of WHILE and LOOP */
    uint32_t third, count;     /* RESULTS, RETURN: how many */
    uint32_t array;            /* PUT */
    bool assigns;              /* RESULTS: variables that are there */
    int op;                    /* of ASSIGN, STORE: 0 or an operator; of TOGETHER: 1: of all */
    bool typed;                /* LET */
    type type;                 /* STORE */
    uint32_t most;             /* rounds of WHILE, LOOP */
    int64_t step;              /* FOR, a literal; 0: z is it, or there is none */
    bool reversed, has_step;
    expression *x, *y, *z;
    struct statement *body, *otherwise, *next;
} statement;

static union {
    expression e;
    statement s;
} nodes[MOST_NODES];
static uint32_t used;
static void *node(void) {
    if (used < MOST_NODES) used++;
    memset(&nodes[used - 1], 0, sizeof nodes[0]);
    return &nodes[used - 1];
}

typedef struct variable {
    type type;
    char name[8];
    uint32_t block; /* number of the block that declares it */
    bool fixed, known;
} variable;
static variable variables[MOST_VARIABLES * (MOST_FUNCTIONS + 1)];
static uint32_t variable_count, most_variables, block_stack[64], block_depth, block_number;
static uint32_t loop_depth, room; /* nodes that may still be made */
static bool uniform;              /* all lanes that have not ended come here */
static bool small;                /* programs, for what takes long for each */
static bool waits;                /* lanes of the program wait for each other (block.any) */
static uint32_t lane_count = 3;   /* --lanes */
static bool named;                /* programs have names of their own */

/* Arrays that functions take by reference: two of each kind, and the one that a function has as its
 * self. */
enum { PRIVATE_I32, PRIVATE_F32, SHARED_I32, ARRAY_KINDS, NO_ARRAY = 99, OWN_ARRAY = 98 };
static const char *const ARRAY_HEADS[] = {"private i32 [16]", "private f32 [16]",
                                          NULL /* array_head */, "private T [16]"};
enum { PRIVATE_T = ARRAY_KINDS }; /* the kind of an array whose elements are of the parameter */

static const char *array_head(uint32_t array) {
    static char shared[32];
    if (array != SHARED_I32) return ARRAY_HEADS[array];
    snprintf(shared, sizeof shared, "shared i32 [%u, 16]", (unsigned)lane_count);
    return shared;
}

typedef struct function_tree {
    uint32_t first; /* variable: its parameters */
    uint32_t count, results;
    type types[MOST_ARGUMENTS], result_types[MOST_ARGUMENTS];
    uint32_t array_kind; /* NO_ARRAY: none */
    bool generic;
    statement *body;
} function_tree;
static function_tree functions[MOST_FUNCTIONS];
static uint32_t function_count;
static function_tree *self; /* that is made, printed or worked out; NULL: the program is */

/* ---- making them ---- */

static bool visible(uint32_t v) {
    if (!variables[v].known) return false;
    bool open = false;
    for (uint32_t i = 0; i <= block_depth; i++) open |= block_stack[i] == variables[v].block;
    if (!open) return false;
    for (uint32_t w = v + 1; w < variable_count; w++) { /* hidden by a later one of that name */
        bool inside = false;
        for (uint32_t i = 0; i <= block_depth; i++) inside |= block_stack[i] == variables[w].block;
        if (inside && variables[w].known && strcmp(variables[w].name, variables[v].name) == 0)
            return false;
    }
    return true;
}

static bool find_variable(type t, bool writable, uint32_t *found) {
    uint32_t start = variable_count ? pick(variable_count) : 0;
    for (uint32_t i = 0; i < variable_count; i++) {
        uint32_t v = (start + i) % variable_count;
        if (variables[v].type != t || !visible(v) || (writable && variables[v].fixed)) continue;
        *found = v;
        return true;
    }
    return false;
}

static uint32_t new_variable(type t) {
    if (variable_count >= most_variables) return NO_VARIABLE;
    variable *v = &variables[variable_count];
    uint32_t name = pick(40);
    *v = (variable){.type = t, .block = block_stack[block_depth]};
    for (bool again = true; again;) { /* another one of the same block has another name */
        snprintf(v->name, sizeof v->name, "v%u", (unsigned)name++ % 1000);
        again = false;
        for (uint32_t i = 0; i < variable_count; i++)
            again |= variables[i].block == v->block && strcmp(variables[i].name, v->name) == 0;
    }
    return variable_count++;
}

static expression *make(kind k, type t) {
    expression *e = node();
    e->kind = k;
    e->type = t;
    return e;
}

static expression *literal(type t, bool told) {
    expression *e = make(LITERAL, t);
    e->bare = told && t != PRED;
    if (is_float(t)) {
        static const double SOME[] = {0, 1, 0.5, -2, 3, 1e6, 0.1, -0.75, 1e-3, 255, 3e9};
        e->literal = real(t, SOME[pick(11)]);
        if (isinf(e->literal.d)) e->literal = real(t, 1000);
    } else if (t == PRED) {
        e->literal = truth(pick(2));
    } else {
        uint32_t k = pick(6);
        uint64_t i = k < 3    ? pick(10)
                     : k == 3 ? ~UINT64_C(0) << pick(8)
                              : ((uint64_t)pick(1u << 31) << 32 | pick(1u << 31)) >> pick(62);
        e->literal = integer(t, is_signed(t) || k != 3 ? i : i & 0xff);
    }
    return e;
}

static type any_number(void) { return (type)pick(PRED); }
static type any_integer(void) { return (type)pick(F16); }

static expression *grow(type t, uint32_t depth, bool told);

/* An index below 16, of some type. */
static expression *index_of(uint32_t depth) {
    static const type SOME[] = {U32, U64, I32, U8, I64, I16};
    type t = SOME[pick(6)];
    expression *e = make(BINARY, t);
    e->apart = pick(2);
    e->op = '&';
    e->x = grow(t, depth, false);
    e->y = literal(t, false);
    e->y->bare = true;
    e->y->literal = integer(t, 15);
    return e;
}

static expression *binary(type t, uint32_t depth, bool told) {
    static const char INTEGERS[] = "+-*/%&|^<>+-*", FLOATS[] = "+-*/+-*";
    expression *e = make(BINARY, t);
    e->op = is_float(t) ? FLOATS[pick(7)] : INTEGERS[pick(13)];
    if (e->op == '<' || e->op == '>') {
        e->x = grow(t, depth, told);
        if (e->x->kind == LITERAL) e->x->bare = false;
        e->y = grow(U32, depth, true);
        return e;
    }
    bool left = pick(2);
    e->x = grow(t, depth, !left);
    if (is_integer(t) && (e->op == '/' || e->op == '%')) { /* no division by zero */
        e->y = make(BINARY, t);
        e->y->op = '|';
        e->y->x = grow(t, depth, false);
        e->y->y = literal(t, false);
        e->y->y->bare = true;
        e->y->y->literal = integer(t, 1);
    } else {
        e->y = grow(t, depth, left);
    }
    bool open = e->x->kind == LITERAL && e->y->kind == LITERAL;
    if (open) e->x->bare = e->y->bare = false;
    return e;
}

static expression *predicate(uint32_t depth) {
    static const int SIGNS[] = {'<', '>', 'l', 'g', '=', '!'};
    expression *e;
    switch (pick(5)) {
    case 0:
        e = make(NOT, PRED);
        e->x = grow(PRED, depth, false);
        return e;
    case 1:
        e = make(pick(2) ? BOTH : EITHER, PRED);
        e->x = grow(PRED, depth, false);
        e->y = grow(PRED, depth, false);
        return e;
    default:
        e = make(COMPARE, PRED);
        e->op = SIGNS[pick(6)];
        type t = self && self->generic && pick(3) == 0 ? GENERIC : any_number();
        e->x = grow(t, depth, false);
        e->y = grow(t, depth, e->x->kind != LITERAL);
        return e;
    }
}

enum { MIN, MAX, FMA, ABS, POPC, CLZ, ROTL, SELECT_, FUNCTIONS };
static expression *function(type t, uint32_t depth) {
    expression *e = make(FUNCTION, t);
    bool number = is_integer(t);
    switch (number ? pick(5) : pick(2)) {
    case 0: e->op = number ? pick(2) ? MIN : MAX : t == F16 ? ABS : FMA; break;
    case 1: e->op = number ? ROTL : ABS; break;
    case 2: e->op = number && t == U32 ? pick(2) ? POPC : CLZ : ABS; break;
    case 3: e->op = ABS; break;
    default: e->op = SELECT_; break;
    }
    if (t == I64 && e->op == ABS) e->op = MIN;
    type of = e->op == POPC || e->op == CLZ ? any_integer() : t;
    if (e->op == SELECT_) {
        e->z = grow(PRED, depth, false);
        e->x = grow(t, depth, false);
        e->y = grow(t, depth, false);
        return e;
    }
    e->x = grow(of, depth, false);
    if (e->op == MIN || e->op == MAX || e->op == FMA) e->y = grow(t, depth, e->x->kind != LITERAL);
    if (e->op == FMA) e->z = grow(t, depth, e->x->kind != LITERAL);
    if (e->op == ROTL) e->y = grow(U32, depth, true);
    return e;
}

static type kind_type(uint32_t group) {
    return group == PRIVATE_T ? GENERIC : group == PRIVATE_F32 ? F32 : I32;
}

/* An array of that element type that is seen here. */
static uint32_t find_array(type t) {
    uint32_t group = self ? self->array_kind : NO_ARRAY;
    if (group != NO_ARRAY && kind_type(group) == t && (self || pick(2))) return OWN_ARRAY;
    if (t == I32 && pick(2)) return SHARED_I32 * 2u + pick(2);
    if (self || (t != I32 && t != F32)) return NO_ARRAY;
    return (t == I32 ? PRIVATE_I32 : PRIVATE_F32) * 2u + pick(2);
}

/* An array of that kind, or of type T where that is told, for a call. */
static uint32_t array_argument(uint32_t group, type told) {
    uint32_t own_kind = self ? self->array_kind : NO_ARRAY;
    if (group == SHARED_I32) return own_kind == group && pick(2) ? OWN_ARRAY : group * 2 + pick(2);
    if (own_kind != NO_ARRAY && own_kind != SHARED_I32 &&
        kind_type(own_kind) == (group == PRIVATE_T ? told : kind_type(group)))
        return OWN_ARRAY;
    if (self || (group == PRIVATE_T && told != I32 && told != F32)) return NO_ARRAY;
    type t = group == PRIVATE_T ? told : kind_type(group);
    return (t == I32 ? PRIVATE_I32 : PRIVATE_F32) * 2u + pick(2);
}

/* A call of a function that is there already; result NO_TYPE: whatever it gives, else one whose
 * first result may be that. NULL: there is none. */
static expression *call_tree(type result, uint32_t depth) {
    uint32_t start = function_count ? pick(function_count) : 0;
    for (uint32_t i = 0; i < function_count; i++) {
        /* the last one first: calls inside calls */
        uint32_t number = pick(2) ? function_count - 1 - i : (start + i) % function_count;
        const function_tree *f = &functions[number];
        type gives = f->results ? f->result_types[0] : NO_TYPE;
        if (f == self ||
            (result != NO_TYPE && gives != result && !(gives == GENERIC && result != PRED)))
            continue;
        type generic = gives == GENERIC && result != NO_TYPE ? result
                       : self && self->generic && pick(2)    ? GENERIC
                       : f->array_kind == PRIVATE_T && !self ? (pick(2) ? I32 : F32)
                                                             : any_number();
        uint32_t array = NO_ARRAY;
        if (f->array_kind != NO_ARRAY) {
            array = array_argument(f->array_kind, generic);
            if (array == NO_ARRAY) continue;
        }
        expression *e = make(CALL, gives == GENERIC ? generic : gives);
        e->function = number;
        e->generic = generic;
        e->array = array;
        for (uint32_t k = 0; k < f->count; k++) {
            bool told = f->types[k] != GENERIC;
            e->argument[k] = grow(told ? f->types[k] : generic, depth, told);
        }
        return e;
    }
    return NULL;
}

/* Of the type parameter: what all numbers have. */
static expression *grow_generic(uint32_t depth) {
    uint32_t v;
    expression *e;
    if (!depth || used > room) {
        if (pick(4) && find_variable(GENERIC, false, &v)) {
            e = make(VARIABLE, GENERIC);
            e->variable = v;
            return e;
        }
        e = make(LITERAL, GENERIC);
        e->literal.i = pick(10);
        return e;
    }
    depth--;
    switch (pick(7)) {
    case 0:
        e = make(CHOICE, GENERIC);
        e->x = grow(PRED, depth, false);
        e->y = grow_generic(depth);
        e->z = grow_generic(depth);
        return e;
    case 1:
        e = make(CONVERT, GENERIC);
        e->x = grow((type)pick(TYPES), depth, false);
        return e;
    case 2:
        e = make(NEGATE, GENERIC);
        e->x = grow_generic(depth);
        return e;
    case 3:
        if (find_array(GENERIC) == NO_ARRAY) break;
        e = make(ARRAY, GENERIC);
        e->array = OWN_ARRAY;
        e->x = index_of(depth);
        return e;
    case 4:
        e = call_tree(GENERIC, depth);
        if (e) return e;
        break;
    default: break;
    }
    e = make(BINARY, GENERIC);
    e->op = "+-*"[pick(3)];
    e->x = grow_generic(depth);
    e->y = grow_generic(depth);
    return e;
}

static expression *grow(type t, uint32_t depth, bool told) {
    uint32_t v;
    if (t == GENERIC) return grow_generic(depth);
    if (!depth || used > room) {
        if (pick(4) && find_variable(t, false, &v)) {
            expression *e = make(VARIABLE, t);
            e->variable = v;
            return e;
        }
        return literal(t, told);
    }
    depth--;
    expression *e;
    uint32_t array;
    switch (pick(14)) {
    case 10:
    case 12:
    case 13:
        e = call_tree(t, depth);
        if (e) return e;
        break;
    case 11:
        array = find_array(t);
        if (array == NO_ARRAY) break;
        e = make(ARRAY, t);
        e->array = array;
        e->x = index_of(depth);
        return e;
    case 0:
        e = make(CHOICE, t);
        e->x = grow(PRED, depth, false);
        e->y = grow(t, depth, false);
        e->z = grow(t, depth, e->y->kind != LITERAL);
        return e;
    case 1:
        if (t == PRED) break;
        e = make(CONVERT, t);
        e->x = grow(self && self->generic && pick(2) ? GENERIC : (type)pick(TYPES), depth, false);
        return e;
    case 2:
        if (t == PRED) break;
        e = make(ELEMENT, t);
        e->x = index_of(depth);
        return e;
    case 3:
        if (t == PRED) break;
        return function(t, depth);
    case 4:
        if (t == U64) return make(GLOBAL, t);
        if (t != U32 && t != I32 && t != I64) break;
        e = make(ATOMIC, t);
        e->x = index_of(depth);
        e->y = grow(t, depth, true);
        return e;
    case 5:
        if (t == PRED) break;
        e = make(is_float(t) || pick(2) ? NEGATE : COMPLEMENT, t);
        e->x = grow(t, depth, false);
        return e;
    case 6:
        if (!find_variable(t, false, &v)) break;
        e = make(VARIABLE, t);
        e->variable = v;
        return e;
    default: break;
    }
    return t == PRED ? predicate(depth) : binary(t, depth, told);
}

static statement *block(uint32_t depth, uint32_t count);

/* The type of a result, of a call whose type parameter is that. */
static type result_type(const expression *call, uint32_t i) {
    type t = functions[call->function].result_types[i];
    return t == GENERIC ? call->generic : t;
}

static uint32_t *result_variable(statement *s, uint32_t i) {
    return i == 0 ? &s->variable : i == 1 ? &s->second : &s->third;
}

/* A call as a statement, with as many of its results as are wanted. */
static bool take_results(statement *s, uint32_t depth) {
    s->kind = RESULTS;
    s->x = call_tree(NO_TYPE, depth);
    if (!s->x) return false;
    uint32_t results = functions[s->x->function].results;
    s->count = results && pick(4) ? 1 + pick(results) : 0;
    s->assigns = pick(2);
    for (uint32_t i = 0; i < s->count; i++) {
        type t = result_type(s->x, i);
        uint32_t *v = result_variable(s, i);
        if (!s->assigns) *v = new_variable(t);
        if (s->assigns ? !find_variable(t, true, v) : *v == NO_VARIABLE) return false;
        for (uint32_t k = 0; k < i; k++)
            if (*result_variable(s, k) == *v) return false;
    }
    for (uint32_t i = 0; i < s->count && !s->assigns; i++)
        variables[*result_variable(s, i)].known = true;
    return true;
}

static void give_results(statement *s, uint32_t depth) {
    expression **values[] = {&s->x, &s->y, &s->z};
    s->kind = RETURN;
    s->count = self ? self->results : 0;
    for (uint32_t i = 0; i < s->count; i++)
        *values[i] = grow(self->result_types[i], depth, self->result_types[i] != PRED);
}

static bool put(statement *s, uint32_t depth) {
    type t = self && self->generic && pick(2) ? GENERIC : pick(2) ? I32 : F32;
    s->kind = PUT;
    s->type = t;
    s->array = find_array(t);
    if (s->array == NO_ARRAY) return false;
    s->y = index_of(depth);
    s->x = grow(t, depth, true);
    return true;
}

static void enter(void) { block_stack[++block_depth] = ++block_number; }
static void leave(void) { block_depth--; }

static statement *inside(uint32_t depth, uint32_t count) {
    bool before = uniform;
    enter();
    uniform = false;
    statement *s = block(depth, count);
    uniform = before;
    leave();
    return s;
}

/* What the lanes of the block find out together, or a loop that goes on as they say. */
static statement *together(uint32_t depth) {
    statement *s = node();
    uint32_t loops = loop_depth;
    waits = true;
    s->kind = pick(3) && depth ? WHILE_ANY : TOGETHER;
    s->op = pick(2) ? 1 : 0;
    if (s->kind == TOGETHER) s->x = grow(PRED, 3, false); /* before its name hides another */
    s->variable = new_variable(s->kind == TOGETHER ? PRED : U32);
    if (s->variable == NO_VARIABLE) return NULL;
    variables[s->variable].known = true;
    if (s->kind == TOGETHER) return s;
    s->x = grow(PRED, 3, false);
    variables[s->variable].fixed = true;
    s->most = 1 + pick(4);
    loop_depth = 0; /* no lane leaves it alone */
    enter();
    s->body = block(depth - 1, 1 + pick(3));
    leave();
    loop_depth = loops;
    return s;
}

static statement *one(uint32_t depth) {
    statement *s = node();
    uint32_t v, e = pick(5);
    if (uniform && pick(4) == 0) return together(depth);
    switch (pick(5) ? pick(depth ? 13 : 7) : 20 + pick(2)) {
    case 20:
        if (take_results(s, e)) return s;
        break;
    case 21:
        if (put(s, e)) return s;
        break;
    case 0:
    case 1: {
        type t = self && self->generic && pick(3) == 0 ? GENERIC : (type)pick(TYPES);
        s->kind = LET;
        s->typed = pick(2);
        s->x = grow(t, e, s->typed);
        s->variable = new_variable(t);
        if (s->variable == NO_VARIABLE) break;
        variables[s->variable].known = true;
        return s;
    }
    case 2:
    case 3: {
        type t = self && self->generic && pick(3) == 0 ? GENERIC : (type)pick(TYPES);
        if (!find_variable(t, true, &v)) break;
        s->kind = ASSIGN;
        s->variable = v;
        s->op = t == PRED || pick(2) ? 0
                : t == GENERIC       ? "+-*"[pick(3)]
                : is_float(t)        ? "+-*/"[pick(4)]
                                     : "+-*&|^"[pick(6)];
        s->x = grow(t, e, true);
        return s;
    }
    case 4:
    case 5: {
        type t = any_number();
        s->kind = STORE;
        s->type = t;
        s->y = index_of(e);
        s->op = pick(2) ? 0 : is_float(t) ? "+-*/"[pick(4)] : "+-*&|^"[pick(6)];
        s->x = grow(t, e, true);
        return s;
    }
    case 6:
        if (loop_depth && pick(2)) {
            s->kind = pick(2) ? BREAK : CONTINUE;
            statement *condition = node();
            condition->kind = IF;
            condition->x = grow(PRED, 2, false);
            condition->body = s;
            return condition;
        }
        s->kind = CARRY;
        s->x = grow(U32, e, false);
        s->y = grow(U32, e, true);
        s->variable = new_variable(U32);
        s->second = new_variable(PRED);
        if (s->variable == MOST_VARIABLES || s->second == NO_VARIABLE) break;
        variables[s->variable].known = variables[s->second].known = true;
        return s;
    case 7:
    case 8:
        s->kind = IF;
        s->x = grow(PRED, e, false);
        s->body = inside(depth - 1, 1 + pick(3));
        if (pick(2)) s->otherwise = inside(depth - 1, 1 + pick(2));
        return s;
    case 9:
    case 10:
        s->kind = pick(2) ? WHILE : LOOP;
        s->variable = new_variable(U32);
        if (s->variable == NO_VARIABLE) break;
        variables[s->variable].known = variables[s->variable].fixed = true;
        s->most = 1 + pick(5);
        if (s->kind == WHILE) s->x = grow(PRED, e, false);
        loop_depth++;
        s->body = inside(depth - 1, 1 + pick(3));
        loop_depth--;
        return s;
    case 11: {
        type t = any_integer();
        s->kind = FOR;
        s->type = t;
        s->reversed = pick(3) == 0;
        s->has_step = pick(2);
        s->step = 1;
        if (s->has_step) s->step = (int64_t)(1 + pick(3)) * (pick(2) ? 1 : -1);
        s->x = make(BINARY, t);
        s->x->op = '&';
        s->x->x = grow(t, e, false);
        s->x->y = literal(t, true);
        s->x->y->literal = integer(t, 7);
        s->y = pick(3) ? make(BINARY, t) : literal(t, true);
        if (s->y->kind == LITERAL) {
            s->y->literal = integer(t, pick(9));
        } else {
            s->y->op = '&';
            s->y->x = grow(t, e, false);
            s->y->y = literal(t, true);
            s->y->y->literal = integer(t, 7);
        }
        type sign = is_signed(t) ? t : (type)(t - 1);
        if (s->has_step && pick(2)) { /* found when it runs */
            s->z = make(BINARY, sign);
            s->z->op = '|';
            s->z->x = make(BINARY, sign);
            s->z->x->op = '&';
            s->z->x->x = grow(sign, e, false);
            s->z->x->y = literal(sign, true);
            s->z->x->y->literal = integer(sign, (uint64_t)(s->step < 0 ? -4 : 3));
            s->z->y = literal(sign, true);
            s->z->y->literal = integer(sign, (uint64_t)s->step);
        }
        enter();
        s->variable = new_variable(t);
        bool good = s->variable != NO_VARIABLE;
        if (good) variables[s->variable].known = variables[s->variable].fixed = true;
        loop_depth++;
        bool before = uniform;
        uniform = false;
        s->body = good ? block(depth - 1, 1 + pick(3)) : NULL;
        uniform = before;
        loop_depth--;
        leave();
        if (!good) break;
        return s;
    }
    default:
        if (pick(3) && !self) break;
        give_results(s, 2);
        statement *condition = node();
        condition->kind = IF;
        condition->x = grow(PRED, 2, false);
        condition->body = s;
        return condition;
    }
    return NULL;
}

static statement *block(uint32_t depth, uint32_t count) {
    statement *first = NULL, **last = &first;
    for (uint32_t i = 0; i < count && used < room; i++) {
        *last = one(depth);
        if (*last) last = &(*last)->next;
    }
    return first;
}

#include "statement_print.inc"

#include "evaluate_statements.inc"

/* ---- one program ---- */

/* Of the lanes that have not ended. */
static bool find_out(const statement *s) {
    bool any = false, all = true;
    for (lane = 0; lane < lane_count; lane++) {
        if (ended[lane]) continue;
        values = of_lanes[lane];
        bool p = work(s->x).i != 0;
        any |= p;
        all &= p;
    }
    return s->op ? all : any;
}

static void set_everywhere(uint32_t number, value v) {
    for (uint32_t i = 0; i < lane_count; i++)
        if (!ended[i]) of_lanes[i][number] = v;
}

/* All lanes side by side, a statement after another. */
static void run_together(const statement *s) {
    for (; s; s = s->next) {
        if (s->kind == TOGETHER) {
            bool found = find_out(s);
            set_everywhere(s->variable, truth(found));
        } else if (s->kind == WHILE_ANY) {
            uint32_t round = 0;
            set_everywhere(s->variable, integer(U32, 0));
            while (round < s->most && steps <= MOST_STEPS && find_out(s)) {
                set_everywhere(s->variable, integer(U32, ++round));
                run_together(s->body);
            }
        } else {
            for (lane = 0; lane < lane_count; lane++) {
                values = of_lanes[lane];
                if (!ended[lane]) ended[lane] = run_statement(s) == RETURNED;
            }
        }
    }
}

/* Few types mostly, so that calls find their arguments in other calls. */
static type some_type(void) {
    static const type FEW[] = {I32, F32, U32, U64};
    return pick(3) ? FEW[pick(4)] : (type)pick(TYPES);
}

static void make_function(void) {
    function_tree *f = &functions[function_count];
    *f = (function_tree){.first = variable_count,
                         .count = pick(MOST_ARGUMENTS + 1),
                         .results = pick(MOST_ARGUMENTS + 1),
                         .array_kind = pick(2) ? NO_ARRAY : pick(ARRAY_KINDS)};
    f->generic = f->count && pick(3) == 0;
    if (f->generic && pick(3) == 0) f->array_kind = PRIVATE_T;
    self = f;
    uniform = false;
    block_depth = loop_depth = 0;
    block_stack[0] = ++block_number;
    most_variables = variable_count + MOST_VARIABLES;
    room = used + 20 + pick(60);
    for (uint32_t i = 0; i < f->count; i++) {
        f->types[i] = f->generic && (!i || pick(2)) ? GENERIC : some_type();
        variables[new_variable(f->types[i])].known = true;
    }
    for (uint32_t i = 0; i < f->results; i++)
        f->result_types[i] = f->generic && pick(2) ? GENERIC : some_type();
    f->body = block(1 + pick(3), 1 + pick(4));
    statement *last = node();
    room += 20;
    give_results(last, 3);
    statement **end = &f->body;
    while (*end) end = &(*end)->next;
    *end = last;
    self = NULL;
    function_count++;
}

static void print_function(uint32_t number) {
    const function_tree *f = &functions[number];
    self = &functions[number];
    hg_text_addf(&out, "\nfn f%u%s(", (unsigned)number, f->generic ? "[T]" : "");
    for (uint32_t i = 0; i < f->count; i++)
        hg_text_addf(&out, "%s%s %s", i ? ", " : "", variables[f->first + i].name,
                     NAMES[f->types[i]]);
    if (f->array_kind != NO_ARRAY)
        hg_text_addf(&out, "%sown %s", f->count ? ", " : "", array_head(f->array_kind));
    hg_text_addf(&out, ")");
    for (uint32_t i = 0; i < f->results; i++)
        hg_text_addf(&out, "%s%s", i ? ", " : " -> ", NAMES[f->result_types[i]]);
    hg_text_addf(&out, " {");
    print_block(f->body);
    hg_text_addf(&out, "\n}\n");
    self = NULL;
}

static statement *make_program(uint64_t seed) {
    state = seed * 7919 + 1;
    for (int i = 0; i < 4; i++) pick(2);
    used = variable_count = block_number = function_count = 0;
    for (uint32_t i = small || pick(3) ? pick(small ? 3 : 4) : pick(MOST_FUNCTIONS + 1); i > 0; i--)
        make_function();
    block_depth = loop_depth = 0;
    block_stack[0] = ++block_number;
    most_variables = variable_count + MOST_VARIABLES;
    uniform = true;
    waits = false;
    room = used + (small ? 16 + pick(48) : 60 + pick(500));
    return block(1 + pick(12), 3 + pick(6));
}

static void print_program(const statement *s, uint64_t seed) {
    out.length = 0;
    hg_text_addf(&out, ".atlas 1\n.program random");
    if (named) hg_text_addf(&out, "%" PRIu64, seed);
    hg_text_addf(&out, "\n");
    for (int t = 0; t < PRED; t++)
        hg_text_addf(&out, ".param e_%s buffer %s inout [%u, 1, %u]\n", NAMES[t], NAMES[t],
                     lane_count, ELEMENTS);
    for (unsigned i = 0; i < ARRAY_KINDS * 2; i++) {
        const char *head = array_head(i / 2), *space = strchr(head, ' ');
        hg_text_addf(&out, ".%.*s a%u%s\n", (int)(space - head), head, i, space);
    }
    hg_text_addf(&out, ".lanes %u\n.reg base u64\n", lane_count);
    indent = 0;
    for (uint32_t i = 0; i < function_count; i += 2) print_function(i);
    hg_text_addf(&out, "    base = global * %u", ELEMENTS);
    for (unsigned i = 0; i < ARRAY_KINDS * 2; i++)
        hg_text_addf(&out, "\n    for i in 0 .. 16 {\n        a%u[%si] = 0\n    }", i,
                     i / 2 == SHARED_I32 ? "i32(global) * 16 + " : "");
    print_block(s);
    /* the variables that are known at the end */
    uint32_t at[PRED] = {0};
    for (uint32_t v = 0; v < variable_count; v++) {
        if (!visible(v)) continue;
        type t = variables[v].type == PRED ? U8 : variables[v].type;
        line();
        hg_text_addf(&out, "e_%s[base + %u] = %s%s%s", NAMES[t], (unsigned)(at[t]++ % ELEMENTS),
                     variables[v].type == PRED ? "u8(" : "", variables[v].name,
                     variables[v].type == PRED ? ")" : "");
    }
    hg_text_addf(&out, "\n");
    for (uint32_t i = 1; i < function_count; i += 2) print_function(i);
}

static void evaluate(const statement *s, memory *m) {
    now = m;
    steps = 0;
    memset(arrays, 0, sizeof arrays);
    memset(ended, 0, sizeof ended);
    run_together(s);
    for (lane = 0; lane < lane_count; lane++) {
        if (ended[lane]) continue;
        values = of_lanes[lane];
        uint32_t at[PRED] = {0};
        for (uint32_t v = 0; v < variable_count; v++) {
            if (!visible(v)) continue;
            type t = variables[v].type == PRED ? U8 : variables[v].type;
            store(t, lane * ELEMENTS + at[t]++ % ELEMENTS, values[v]);
        }
    }
}

static void fill(memory *m) {
    memset(m, 0, sizeof *m);
    now = m;
    for (int t = 0; t < PRED; t++)
        for (uint64_t i = 0; i < lane_count * ELEMENTS; i++)
            store((type)t, i, literal((type)t, true)->literal);
}

static bool run(hg_backend *b, const hg_program *p, memory *m) {
    static uint64_t bytes[MOST_LANES * ELEMENTS];
    hg_params *params = hg_params_create();
    hg_buffer buffers[PRED];
    bool good = true;
    for (int t = 0; t < PRED; t++) {
        char name[16];
        uint64_t size = BITS[t] / 8;
        for (uint64_t i = 0; i < lane_count * ELEMENTS; i++)
            memcpy((char *)bytes + i * size, &m->i[t][i], size);
        snprintf(name, sizeof name, "e_%s", NAMES[t]);
        buffers[t] = make_buffer(b, bytes, lane_count * ELEMENTS * size);
        CHECK_OK(hg_params_set_buffer(params, name, buffers[t]));
    }
    good = hg_backend_execute_program_with_params(b, p, NULL, params) == HG_OK;
    for (int t = 0; t < PRED; t++) {
        uint64_t size = BITS[t] / 8;
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[t], bytes, lane_count * ELEMENTS * size));
        for (uint64_t i = 0; i < lane_count * ELEMENTS; i++) {
            m->i[t][i] = 0;
            memcpy(&m->i[t][i], (char *)bytes + i * size, size);
        }
        CHECK_OK(hg_backend_free_buffer(b, buffers[t]));
    }
    hg_params_destroy(params);
    return good;
}

static bool is_same(type t, uint64_t x, uint64_t y) {
    if (x == y) return true;
    if (t == F16) return (x & 0x7fff) > 0x7c00 && (y & 0x7fff) > 0x7c00;
    if (t == F32) return (x & 0x7fffffff) > 0x7f800000 && (y & 0x7fffffff) > 0x7f800000;
    return t == F64 && (x << 1) > UINT64_C(0xffe) << 52 && (y << 1) > UINT64_C(0xffe) << 52;
}

#include "fill_statements.inc"

static uint64_t bits_at(const void *bytes, type t, uint64_t i) {
    uint64_t element = 0, size = BITS[t] / 8;
    memcpy(&element, (const char *)bytes + i * size, size);
    return element;
}

static void compare_memory(uint64_t seed, const char *where, const memory *expected,
                           const memory *got) {
    for (int t = 0; t < PRED; t++)
        for (uint32_t i = 0; i < lane_count * ELEMENTS; i++)
            if (!is_same((type)t, expected->i[t][i], got->i[t][i])) {
                CHECK_MESSAGE(false,
                              "test_statements_random --seed %" PRIu64
                              " --print%s%s: %s[%u] is %" PRIx64 ", expected %" PRIx64,
                              seed, small ? " --small" : "", where, NAMES[t], i, got->i[t][i],
                              expected->i[t][i]);
                return;
            }
}

#include "statements_as_c.inc"

/* ---- all of it ---- */

/* b NULL: as C text. */
static void check_seed(hg_backend *b, uint64_t seed, bool show, uint32_t *full, uint32_t *ran) {
    static memory expected, got, given;
    statement *s = make_program(seed);
    print_program(s, seed);
    if (show) printf("%s", out.data);
    used = 0;
    fill(&given);
    expected = got = given;
    s = make_program(seed); /* fill made nodes */
    evaluate(s, &expected);
    if (steps > MOST_STEPS) return;
    hg_program *p = NULL;
    hg_status status = hg_program_assemble(out.data, out.length, NULL, &p);
    bool crowded = status != HG_OK && strstr(hg_last_error()->message, "is left for");
    *full += crowded;
    CHECK_MESSAGE(crowded || (status == HG_OK && hg_program_verify(p, NULL) == HG_OK),
                  "test_statements_random --seed %" PRIu64 " --print%s: %s", seed,
                  small ? " --small" : "", hg_last_error_text());
    if (status == HG_OK && b) {
        ++*ran;
        /* A loop that waits may have an instruction less as structured text. */
        structured_result structured = {.good = true};
        if (!waits) structured = structured_round_trip(p);
        CHECK_MESSAGE(structured.good,
                      "test_statements_random --seed %" PRIu64 " --print%s, as statements: %s",
                      seed, small ? " --small" : "", structured.why);
        if (!function_count) check_filled(s, p, seed);
        CHECK_MESSAGE(run(b, p, &got), "test_statements_random --seed %" PRIu64 " --print%s: %s",
                      seed, small ? " --small" : "", hg_last_error_text());
        compare_memory(seed, "", &expected, &got);
    } else if (status == HG_OK) {
        ++*ran;
        add_to_unit(p, seed, &given, &expected);
    }
    hg_program_release(p);
}

int main(int argc, char **argv) {
    uint64_t count = rounds_here(1000, 20), seed = 1;
    uint32_t full = 0, ran = 0;
    const char *backend = "cpu", *build = NULL;
    char reason[256];
    bool show = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--print") == 0) show = true;
        if (strcmp(argv[i], "--small") == 0) small = true;
        if (i + 1 == argc) break;
        if (strcmp(argv[i], "--count") == 0) count = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 0), count = 1;
        if (strcmp(argv[i], "--backend") == 0) backend = argv[i + 1];
        if (strcmp(argv[i], "--build") == 0) build = argv[i + 1];
        if (strcmp(argv[i], "--lanes") == 0) lane_count = (uint32_t)strtoul(argv[i + 1], NULL, 0);
    }
    if (lane_count < 1 || lane_count > MOST_LANES) {
        fprintf(stderr, "--lanes takes 1 to %d\n", MOST_LANES);
        return 2;
    }
    if (build && !c_build_use(build, reason)) {
        SKIP(reason);
        return test_done();
    }
    named = build != NULL;
    hg_backend *b = build ? NULL : open_backend(backend);
    for (uint64_t i = 0; (b || build) && i < count; i++) check_seed(b, seed + i, show, &full, &ran);
    end_unit();
    CHECK_MESSAGE(count == 1 || ran * 4 >= count * 3, "only %u of %" PRIu64 " programs ran", ran,
                  count);
    hg_backend_destroy(b);
    hg_text_free(&out);
    return test_done();
}
