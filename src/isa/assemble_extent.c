/* Extents (language.md 5): numbers, parameters, and expressions over both. Names may be of
 * parameters that are still to come.
 * Must not know: instructions, what a launch binds. */
#include "isa/text_internal.h"

/* Parentheses and calls in an expression: deeper than any expression that is short enough. */
enum { MAX_DEPTH = 140 };

/* An expression as it is read: a tree over nodes, then the operations of the program. */
typedef struct node {
    uint8_t kind; /* hg_extent_op_kind */
    bool parentheses;
    uint16_t left, right;
    uint64_t value;
    hg_token token; /* HG_EXTENT_OP_PARAM: its name; else where it stands */
} node;

typedef struct reader {
    hg_assembler *a;
    node nodes[2 * HG_MAX_EXTENT_OPS];
    uint32_t count, depth;
} reader;
enum { BAD = UINT16_MAX };

static uint16_t add_node(reader *r, node n) {
    if (r->count == HG_COUNT_OF(r->nodes)) {
        hg_asm_error(r->a, "S05", &n.token, NULL,
                     "an extent of more than %d numbers, parameters and operations",
                     HG_MAX_EXTENT_OPS);
        return BAD;
    }
    r->nodes[r->count] = n;
    return (uint16_t)r->count++;
}

/* a op b */
static uint16_t combine(reader *r, hg_extent_op_kind kind, uint16_t left, uint16_t right,
                        const hg_token *at) {
    if (left == BAD || right == BAD) return BAD;
    return add_node(r, (node){.kind = (uint8_t)kind, .left = left, .right = right, .token = *at});
}

static uint16_t read_sum(reader *r);

/* The expressions of min( … , … ) or max( … , … ), behind the parenthesis. */
static uint16_t read_two(reader *r, hg_extent_op_kind kind, const hg_token *at) {
    uint16_t left = read_sum(r);
    if (left == BAD || !hg_asm_expect(r->a, ',', "','")) return BAD;
    uint16_t right = read_sum(r);
    if (right == BAD || !hg_asm_expect(r->a, ')', "')'")) return BAD;
    return combine(r, kind, left, right, at);
}

static bool is_quotient(const reader *r, uint16_t at) {
    while (r->nodes[at].kind == HG_EXTENT_OP_MUL && !r->nodes[at].parentheses)
        at = r->nodes[at].left;
    return r->nodes[at].kind == HG_EXTENT_OP_DIV && !r->nodes[at].parentheses;
}

static uint16_t read_product(reader *r);

/* ceil(a / b): the inside is one division, whose result is rounded up. */
static uint16_t read_ceil(reader *r, const hg_token *at) {
    uint16_t inside = read_product(r);
    if (inside == BAD) return BAD;
    node *n = &r->nodes[inside];
    const char *hint = NULL;
    if (n->kind != HG_EXTENT_OP_DIV || n->parentheses || r->a->token.kind != ')')
        hint = "write ceil(a / b); a sum needs parentheses: ceil((a + 1) / b)";
    else if (is_quotient(r, n->left))
        hint =
            "write ceil(a / (b * c)), or ceil((a / b) / c) where a / b is to be rounded down first";
    if (hint) {
        hg_asm_error(r->a, "S02", at, hint, "ceil is of one division");
        return BAD;
    }
    hg_asm_next(r->a);
    n->kind = HG_EXTENT_OP_CEIL_DIV;
    return inside;
}

static uint16_t read_name(reader *r) {
    hg_assembler *a = r->a;
    hg_token name;
    if (!hg_asm_identifier(a, "an extent", &name)) return BAD;
    bool call = a->token.kind == '(';
    if (call &&
        (hg_token_is(&name, "ceil") || hg_token_is(&name, "min") || hg_token_is(&name, "max"))) {
        hg_asm_next(a);
        if (hg_token_is(&name, "ceil")) return read_ceil(r, &name);
        return read_two(r, hg_token_is(&name, "min") ? HG_EXTENT_OP_MIN : HG_EXTENT_OP_MAX, &name);
    }
    return add_node(r, (node){.kind = HG_EXTENT_OP_PARAM, .token = name});
}

static uint16_t read_atom(reader *r) {
    hg_assembler *a = r->a;
    hg_token token = a->token;
    if (token.kind == HG_TOKEN_NUMBER ||
        (token.kind == HG_TOKEN_NAME && hg_asm_find_constant(a, &token))) {
        node n = {.kind = HG_EXTENT_OP_NUMBER, .token = token};
        hg_constant value;
        return hg_asm_primary(a, "an extent", &value) &&
                       hg_asm_constant_unsigned(a, &value, &n.value)
                   ? add_node(r, n)
                   : BAD;
    }
    if (token.kind != '(' && token.kind != HG_TOKEN_NAME) {
        hg_asm_unexpected(a, "an extent");
        return BAD;
    }
    if (++r->depth > MAX_DEPTH) {
        hg_asm_error(a, "S05", &token, NULL, "more than %d parentheses in an extent", MAX_DEPTH);
        return BAD;
    }
    uint16_t inside = BAD;
    if (token.kind == HG_TOKEN_NAME) {
        inside = read_name(r);
    } else {
        hg_asm_next(a);
        inside = read_sum(r);
        if (inside != BAD && !hg_asm_expect(a, ')', "')'")) inside = BAD;
        if (inside != BAD) r->nodes[inside].parentheses = true;
    }
    r->depth--;
    return inside;
}

static uint16_t read_product(reader *r) {
    uint16_t left = read_atom(r);
    while (left != BAD && (r->a->token.kind == '*' || r->a->token.kind == '/')) {
        hg_token at = r->a->token;
        hg_asm_next(r->a);
        left = combine(r, at.kind == '*' ? HG_EXTENT_OP_MUL : HG_EXTENT_OP_DIV, left, read_atom(r),
                       &at);
    }
    return left;
}

static uint16_t read_sum(reader *r) {
    uint16_t left = read_product(r);
    while (left != BAD && (r->a->token.kind == '+' || r->a->token.kind == '-')) {
        hg_token at = r->a->token;
        hg_asm_next(r->a);
        left = combine(r, at.kind == '+' ? HG_EXTENT_OP_ADD : HG_EXTENT_OP_SUB, left,
                       read_product(r), &at);
    }
    return left;
}

static bool is_leaf(const node *n) { return n->kind <= HG_EXTENT_OP_PARAM; }

/* Operations of two numbers become their result; operands stand before their operations. */
static bool fold(reader *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        node *n = &r->nodes[i];
        if (is_leaf(n) || r->nodes[n->left].kind != HG_EXTENT_OP_NUMBER ||
            r->nodes[n->right].kind != HG_EXTENT_OP_NUMBER)
            continue;
        hg_extent_status status = hg_extent_apply((hg_extent_op_kind)n->kind,
                                                  r->nodes[n->left].value, r->nodes[n->right].value,
                                                  &n->value);
        if (status != HG_EXTENT_KNOWN) {
            hg_asm_error(r->a, "S04", &n->token, NULL, "the value of this extent %s",
                         hg_extent_problem(status));
            return false;
        }
        n->kind = HG_EXTENT_OP_NUMBER;
    }
    return true;
}

/* ---- into the program ---- */

/* A name that a parameter is found for later: of an extent itself, or of an operation. */
static bool keep_name(hg_assembler *a, hg_extent_place place, uint32_t op, const hg_token *token) {
    hg_named_extent *kept = hg_vec_push(&a->head.extents);
    if (!kept) return hg_asm_no_memory(a);
    *kept = (hg_named_extent){place, op, *token};
    return true;
}

/* The nodes below one and itself, operands first; how many. */
static uint32_t operands_first(const reader *r, uint16_t root,
                               uint16_t order[2 * HG_MAX_EXTENT_OPS]) {
    uint16_t stack[2 * HG_MAX_EXTENT_OPS];
    bool done[2 * HG_MAX_EXTENT_OPS] = {false};
    uint32_t height = 1, count = 0;
    stack[0] = root;
    while (height) {
        uint16_t at = stack[height - 1];
        if (is_leaf(&r->nodes[at]) || done[at]) {
            order[count++] = at;
            height--;
            continue;
        }
        done[at] = true;
        stack[height++] = r->nodes[at].right;
        stack[height++] = r->nodes[at].left;
    }
    return count;
}

static bool put_ops(reader *r, uint16_t root, hg_extent_place place, hg_extent *extent) {
    hg_assembler *a = r->a;
    uint16_t order[2 * HG_MAX_EXTENT_OPS];
    uint32_t count = operands_first(r, root, order);
    *extent = (hg_extent){.kind = HG_EXTENT_EXPRESSION, .value = a->program->extent_op_count};
    for (uint32_t i = 0; i < count; i++) {
        const node *n = &r->nodes[order[i]];
        if (extent->op_count == HG_MAX_EXTENT_OPS) {
            hg_asm_error(a, "S05", &r->nodes[root].token, NULL,
                         "an extent of more than %d numbers, parameters and operations",
                         HG_MAX_EXTENT_OPS);
            return false;
        }
        uint32_t op = a->program->extent_op_count;
        if (n->kind == HG_EXTENT_OP_PARAM && !keep_name(a, place, op, &n->token)) return false;
        if (!hg_program_add_extent_op(a->program,
                                      (hg_extent_op){.kind = n->kind, .value = n->value}))
            return hg_asm_no_memory(a);
        extent->op_count++;
    }
    return true;
}

static bool put_extent(reader *r, uint16_t root, hg_extent_place place, hg_extent *extent) {
    if (root == BAD) return false;
    const node *n = &r->nodes[root];
    if (n->kind == HG_EXTENT_OP_NUMBER) {
        *extent = (hg_extent){.kind = HG_EXTENT_NUMBER, .value = n->value};
        return true;
    }
    if (n->kind != HG_EXTENT_OP_PARAM) return put_ops(r, root, place, extent);
    *extent = (hg_extent){.kind = HG_EXTENT_PARAM};
    return keep_name(r->a, place, UINT32_MAX, &n->token);
}

bool hg_asm_extent(hg_assembler *a, hg_extent *extent, hg_extent_place place) {
    reader r = {.a = a};
    uint16_t root = read_sum(&r);
    return root != BAD && fold(&r) && put_extent(&r, root, place, extent);
}

bool hg_asm_dims(hg_assembler *a, hg_param *p, uint32_t number) {
    p->rank = 255;
    if (!hg_asm_accept(a, '[')) return true;
    for (p->rank = 0; !hg_asm_accept(a, ']'); p->rank++) {
        if (p->rank && !hg_asm_expect(a, ',', "',' or ']'")) return false;
        hg_token at = a->token;
        if (p->rank == HG_MAX_EXTENTS) {
            hg_asm_error(a, "S05", &at, NULL, "more than %d extents", HG_MAX_EXTENTS);
            return false;
        }
        if (!hg_asm_extent(a, &p->dims[p->rank],
                           (hg_extent_place){HG_EXTENT_OF_PARAM, number, p->rank}))
            return false;
        if (p->kind != HG_PARAM_DATA || p->dims[p->rank].kind == HG_EXTENT_NUMBER) continue;
        hg_asm_error(a, "D03", &at, NULL, "an extent of a table is a number");
        return false;
    }
    return true;
}

/* The factors of a product of numbers and parameters, from the left; 0: it is something else. */
static uint32_t factors(const reader *r, uint16_t root, uint16_t out[2 * HG_MAX_EXTENT_OPS]) {
    uint32_t count = 1;
    uint16_t at = root;
    for (; r->nodes[at].kind == HG_EXTENT_OP_MUL && is_leaf(&r->nodes[r->nodes[at].right]);
         at = r->nodes[at].left)
        count++;
    if (!is_leaf(&r->nodes[at])) return 0;
    out[0] = at;
    for (uint32_t i = count; i-- > 1; root = r->nodes[root].left) out[i] = r->nodes[root].right;
    return count;
}

static bool put_lanes(reader *r, uint16_t root, hg_extent *lanes, uint32_t *lanes_count) {
    uint16_t each[2 * HG_MAX_EXTENT_OPS];
    uint32_t count = factors(r, root, each);
    if (!count) {
        if (!fold(r)) return false;
        count = factors(r, root, each);
    }
    if (count > HG_MAX_EXTENTS) {
        hg_asm_error(r->a, "S05", &r->nodes[each[HG_MAX_EXTENTS]].token, NULL,
                     "more than %d extents", HG_MAX_EXTENTS);
        return false;
    }
    *lanes_count = count ? count : 1;
    if (!count) return put_extent(r, root, (hg_extent_place){HG_EXTENT_OF_LANES, 0, 0}, lanes);
    for (uint32_t i = 0; i < count; i++)
        if (!put_extent(r, each[i], (hg_extent_place){HG_EXTENT_OF_LANES, 0, i}, &lanes[i]))
            return false;
    return true;
}

bool hg_asm_lanes(hg_assembler *a, hg_extent *lanes, uint32_t *lanes_count) {
    reader r = {.a = a};
    uint16_t root = read_sum(&r);
    return root != BAD && put_lanes(&r, root, lanes, lanes_count);
}

/* ---- .lanes [i < rows, j < cols] ---- */

/* The operations of an axis, for the instructions that work its coordinate out. */
static bool keep_axis(const reader *r, uint16_t root, hg_lane_axis *axis) {
    uint16_t order[2 * HG_MAX_EXTENT_OPS];
    axis->ops = operands_first(r, root, order);
    for (uint32_t i = 0; i < axis->ops; i++) {
        const node *n = &r->nodes[order[i]];
        hg_lane_op *kept = hg_vec_push(&r->a->lanes.ops);
        if (!kept) return hg_asm_no_memory(r->a);
        *kept = (hg_lane_op){n->kind, n->value, n->token};
    }
    return true;
}

/* NAME < EXTENT, the next axis; its node, or BAD. */
static uint16_t read_axis(reader *r) {
    hg_assembler *a = r->a;
    hg_token name, at = a->token;
    if (a->lanes.count == HG_MAX_EXTENTS) {
        hg_asm_error(a, "S05", &at, NULL, "more than %d coordinates of a lane", HG_MAX_EXTENTS);
        return BAD;
    }
    if (at.kind != HG_TOKEN_NAME) {
        hg_asm_unexpected_with(a, "the name of a coordinate", HG_ASM_LANES);
        return BAD;
    }
    if (!hg_asm_register_name(a, &name)) return BAD;
    hg_lane_axis *axis = &a->lanes.axes[a->lanes.count++];
    *axis = (hg_lane_axis){.name = name, .first = (uint32_t)a->lanes.ops.count};
    if (a->token.kind != '<') {
        hg_asm_unexpected_with(a, "'<'", HG_ASM_LANES);
        return BAD;
    }
    hg_asm_next(a);
    uint16_t root = read_sum(r);
    return root != BAD && fold(r) && keep_axis(r, root, axis) ? root : BAD;
}

static bool read_axes(hg_assembler *a, hg_extent *lanes, uint32_t *lanes_count) {
    reader r = {.a = a};
    uint16_t product = BAD;
    hg_asm_next(a);
    do {
        hg_token at = a->token;
        uint16_t root = read_axis(&r);
        if (root == BAD) return false;
        product = product == BAD ? root : combine(&r, HG_EXTENT_OP_MUL, product, root, &at);
        if (product == BAD) return false;
    } while (hg_asm_accept(a, ','));
    if (!hg_asm_expect(a, ']', "an operator, ',' or ']'")) return false;
    const uint32_t count = a->lanes.count;
    for (uint32_t i = 0; i < count; i++) {
        hg_lane_axis *axis = &a->lanes.axes[i];
        if (!hg_asm_declare_coordinate(a, &axis->name, count == 1, &axis->reg)) return false;
    }
    return put_lanes(&r, product, lanes, lanes_count);
}

bool hg_asm_lane_axes(hg_assembler *a, hg_extent *lanes, uint32_t *lanes_count) {
    if (read_axes(a, lanes, lanes_count)) return true;
    hg_asm_break_axes(a);
    return false;
}

void hg_asm_break_axes(hg_assembler *a) {
    for (uint32_t i = 0; i < a->lanes.count; i++)
        (void)hg_asm_declare_broken(a, &a->lanes.axes[i].name);
    a->lanes.count = 0;
    for (; !hg_asm_at_end(a); hg_asm_next(a))
        if (a->token.kind == HG_TOKEN_NAME && hg_asm_followed_by(a, '<'))
            (void)hg_asm_declare_broken(a, &a->token);
}

/* ---- names of parameters, when all are known ---- */

static const hg_param *find_param(const hg_assembler *a, const hg_token *name, uint16_t *number) {
    for (uint64_t i = 0; i < a->head.params.count; i++)
        if (hg_token_is(name, a->head.params.data[i].name)) {
            *number = (uint16_t)i;
            return &a->head.params.data[i];
        }
    return NULL;
}

static hg_extent *extent_at(hg_assembler *a, const hg_extent_place *place) {
    if (place->of == HG_EXTENT_OF_NONE) return a->head.alone;
    if (place->of == HG_EXTENT_OF_LANES) return &a->program->lanes[place->position];
    if (place->of == HG_EXTENT_OF_GRID) return &a->program->grid[place->position];
    return &a->head.params.data[place->param].dims[place->position];
}

static void resolve_extent(hg_assembler *a, const hg_named_extent *named) {
    uint16_t number = 0;
    const hg_param *p = find_param(a, &named->token, &number);
    if (named->op != UINT32_MAX)
        a->program->extent_ops[named->op].param = number;
    else
        extent_at(a, &named->place)->param = number;
    a->wrong.doubtful = false;
    if (!p)
        (void)hg_asm_find_name(a, &named->token); /* one that could not be declared is no mistake */
    if (!p && (a->head.broken_param || !hg_asm_is_unknown(a, &named->token)))
        return; /* its line has been reported, or the name */
    if (p && p->kind == HG_PARAM_SCALAR && (p->type == HG_TYPE_U32 || p->type == HG_TYPE_U64))
        return;
    hg_asm_error(a, "D03", &named->token, p ? NULL : "declare it: .param NAME u64",
                 "extent '%.*s' is no scalar parameter of type u32 or u64",
                 (int)named->token.length, named->token.text);
}

void hg_asm_resolve_extents(hg_assembler *a) {
    for (uint64_t i = 0; i < a->head.extents.count; i++)
        resolve_extent(a, &a->head.extents.data[i]);
}

/* ---- without a source ---- */

static hg_status read_alone(hg_assembler *a, hg_program *p, const char *text, hg_extent *e,
                            uint32_t *lanes_count) {
    static const hg_assemble_options options = {.size = sizeof options};
    a->program = p;
    a->head.params.data = p->params;
    a->head.params.count = p->param_count;
    a->options = &options;
    if (!hg_asm_open_source(a, text, strlen(text))) return hg_fail_memory();
    hg_asm_next(a);
    hg_extent_place place = {lanes_count ? HG_EXTENT_OF_LANES : HG_EXTENT_OF_NONE, 0, 0};
    bool read = lanes_count ? hg_asm_lanes(a, e, lanes_count) : hg_asm_extent(a, e, place);
    if (read && hg_asm_expect_end(a)) {
        a->head.alone = e;
        hg_asm_resolve_extents(a);
    }
    if (a->out_of_memory) return hg_fail_memory();
    if (!a->wrong.errors) return HG_OK;
    hg_status status = hg_fail(HG_ERROR_ISA, "extent '%.80s': %s", text, a->wrong.first.message);
    memcpy(hg_error_record()->code, a->wrong.first.code, sizeof a->wrong.first.code);
    return status;
}

hg_status hg_extent_from_text(hg_program *p, const char *text, hg_extent *e,
                              uint32_t *lanes_count) {
    hg_assembler *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    hg_status status = read_alone(a, p, text, e, lanes_count);
    hg_asm_free_names(&a->wrong.unknown);
    hg_said_free(&a->wrong.said);
    hg_vec_free(&a->head.extents);
    hg_vec_free(&a->source.expansions);
    hg_vec_free(&a->source.scopes);
    hg_vec_free(&a->source.frames);
    hg_vec_free(&a->source.files);
    hg_free(a);
    return status;
}
