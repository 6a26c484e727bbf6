/* From operations to calls of a graph. What can wait waits (shlo_tensor); shlo_array makes an
 * array: between programs by a lane program of its own, in a program that is one lane's loops by a
 * loop. */
#include "hlo/operations.h"
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

enum { MOST_COST = 40, MOST_CHAIN = 60 };
static const uint64_t MOST_OPERATIONS = 100000; /* calls of functions included */

/* ---- tensors ---- */

shlo_tensor *shlo_results(shlo_lower *w, const shlo_op *op) {
    shlo_tensor *t = shlo_make(w, (op->result_count + 1) * sizeof *t);
    for (uint32_t i = 0; t && i < op->result_count; i++)
        t[i] = (shlo_tensor){.type = op->types[i], .op = op, .result = i, .block = w->block};
    return t;
}

shlo_tensor *shlo_operand(shlo_lower *w, const shlo_op *op, uint32_t i) {
    shlo_tensor *t = i < op->operand_count ? w->env[op->operands[i]] : NULL;
    if (!t) shlo_refuse(w, "its operand %u has no value here", (unsigned)i);
    return t;
}

shlo_tensor *shlo_stored(shlo_lower *w, const shlo_type *type, shlo_storage *s) {
    shlo_tensor *t = shlo_make(w, sizeof *t);
    if (t) *t = (shlo_tensor){.type = *type, .kind = SHLO_ARRAY, .block = w->block, .storage = s};
    return t;
}

static shlo_storage *add_storage(shlo_lower *w, const shlo_type *type) {
    shlo_storage *s = shlo_make(w, sizeof *s);
    if (s) *s = (shlo_storage){.number = w->storages++, .type = *type};
    return s;
}

static bool is_small(shlo_lower *w, const shlo_type *type) {
    uint64_t count;
    if (shlo_elements(type, &count)) return true;
    shlo_refuse(w, "a tensor of more than 2^40 elements");
    return false;
}

shlo_storage *shlo_scratch(shlo_lower *w, const shlo_type *type) {
    uint64_t count = 0;
    shlo_storage *s = add_storage(w, type);
    if (!s || !shlo_elements(type, &count)) return NULL;
    s->local = true;
    hg_text_addf(&w->k->head, ".scratch a%u %s [%llu]\n", (unsigned)s->number, shlo_type_name(type),
                 (unsigned long long)count << type->complex);
    return s;
}

/* ---- programs ---- */

/* An output of the program that is being written. */
shlo_storage *shlo_output(shlo_lower *w, const shlo_type *type) {
    shlo_storage *s = add_storage(w, type), **to = s ? hg_vec_push(&w->k->outputs) : NULL;
    if (!to) {
        shlo_no_memory(w);
        return NULL;
    }
    *to = s;
    s->program = w->programs;
    hg_text_addf(&w->k->head, ".param a%u buffer %s out [", (unsigned)s->number,
                 shlo_type_name(type));
    for (uint32_t i = 0; i < type->rank; i++)
        hg_text_addf(&w->k->head, "%s%llu", i ? ", " : "", (unsigned long long)type->dims[i]);
    hg_text_addf(&w->k->head, type->complex ? "%s2]\n" : "%s]\n",
                 type->complex && type->rank ? ", " : "");
    return s;
}

void shlo_begin(shlo_lower *w, shlo_kernel *k, const shlo_type *lanes) {
    *k = (shlo_kernel){.loops = lanes == NULL};
    w->k = k;
    w->programs++;
    if (!lanes) return;
    k->lanes = *lanes;
    for (uint32_t i = 0; i < lanes->rank; i++) k->at[i] = shlo_text(w, "i%u", (unsigned)i);
}

static void add_functions(hg_text *text) {
    static const struct function {
        const char *name, *text;
    } FUNCTIONS[] = {
        {"shlo_erf_inv(",
         "fn shlo_erf_inv(x f64) -> f64 {\n"
         "    if abs(x) == 1.0 {\n        return x * inf\n    }\n"
         "    let w f64 = -log((1.0 - x) * (1.0 + x))\n"
         "    let low f64 = w - 2.5\n    let high f64 = sqrt(w) - 3.0\n"
         "    let p f64 = fma(fma(fma(fma(fma(fma(fma(fma(2.81022636e-08, low, 3.43273939e-07), "
         "low, -3.5233877e-06), low, -4.39150654e-06), low, 0.00021858087), low, -0.00125372503), "
         "low, -0.00417768164), low, 0.246640727), low, 1.50140941)\n"
         "    let q f64 = fma(fma(fma(fma(fma(fma(fma(fma(-0.000200214257, high, 0.000100950558), "
         "high, 0.00134934322), high, -0.00367342844), high, 0.00573950773), high, "
         "-0.0076224613), high, 0.00943887047), high, 1.00167406), high, 2.83297682)\n"
         "    let y f64 = x * (w < 5.0 ? p : q)\n"
         "    y = y - (erf(y) - x) / (1.1283791670955126 * exp(-y * y))\n"
         "    y = y - (erf(y) - x) / (1.1283791670955126 * exp(-y * y))\n"
         "    return y\n}\n"},
        {"shlo_lgamma(",
         "fn shlo_lgamma(x f64) -> f64 {\n"
         "    if x == floor(x) && x <= 0.0 || abs(x) == inf {\n        return inf\n    }\n"
         "    let z f64 = (x < 0.5 ? 1.0 - x : x) - 1.0\n"
         "    let s f64 = 0.99999999999980993\n"
         "    s = s + 676.5203681218851 / (z + 1.0)\n    s = s - 1259.1392167224028 / (z + 2.0)\n"
         "    s = s + 771.32342877765313 / (z + 3.0)\n    s = s - 176.61502916214059 / (z + 4.0)\n"
         "    s = s + 12.507343278686905 / (z + 5.0)\n    s = s - 0.13857109526572012 / (z + 6.0)\n"
         "    s = s + 9.9843695780195716e-6 / (z + 7.0)\n"
         "    s = s + 1.5056327351493116e-7 / (z + 8.0)\n"
         "    let t f64 = z + 7.5\n"
         "    let g f64 = 0.91893853320467274 + (z + 0.5) * log(t) - t + log(s)\n"
         "    let part f64 = x - floor(x)\n"
         "    return x < 0.5 ? log(3.141592653589793 / abs(sin(3.141592653589793 * part))) - g : "
         "g\n"
         "}\n"},
        {"shlo_digamma(",
         "fn shlo_digamma(x f64) -> f64 {\n"
         "    if x == floor(x) && x <= 0.0 {\n        return nan\n    }\n"
         "    let z f64 = x < 0.5 ? 1.0 - x : x\n    let s f64 = 0.0\n"
         "    while z < 10.0 {\n        s = s - 1.0 / z\n        z = z + 1.0\n    }\n"
         "    let r f64 = 1.0 / (z * z)\n"
         "    s = s + log(z) - 0.5 / z - r * (0.08333333333333333 - r * (0.008333333333333333 - r "
         "* "
         "(0.003968253968253968 - r * (0.004166666666666667 - r * 0.007575757575757576))))\n"
         "    return x < 0.5 ? s - 3.141592653589793 / tan(3.141592653589793 * (x - floor(x))) : "
         "s\n"
         "}\n"}};
    for (size_t i = 0; i < HG_COUNT_OF(FUNCTIONS); i++)
        if (text->data && strstr(text->data, FUNCTIONS[i].name))
            hg_text_add(text, FUNCTIONS[i].text, strlen(FUNCTIONS[i].text));
}

static void write_program(shlo_lower *w, hg_text *text) {
    shlo_kernel *k = w->k;
    hg_text_addf(text, ".atlas 1\n.program shlo_%u\n", (unsigned)w->programs);
    if (k->head.data) hg_text_add(text, k->head.data, k->head.length);
    hg_text_addf(text, k->lanes.rank ? ".lanes [" : ".lanes 1\n");
    for (uint32_t i = 0; i < k->lanes.rank; i++)
        hg_text_addf(text, "%sc%u < %llu%s", i ? ", " : "", (unsigned)i,
                     (unsigned long long)k->lanes.dims[i], i + 1 == k->lanes.rank ? "]\n" : "");
    for (uint32_t i = 0; i < k->lanes.rank; i++)
        hg_text_addf(text, "    let i%u i64 = i64(c%u)\n", (unsigned)i, (unsigned)i);
    if (k->body.data) hg_text_add(text, k->body.data, k->body.length);
    add_functions(text);
    if (text->failed) shlo_no_memory(w);
}

static void call_program(shlo_lower *w, hg_program *program) {
    shlo_kernel *k = w->k;
    hg_graph_arg *args = shlo_make(w, (size_t)(k->inputs.count + 1) * sizeof *args);
    hg_graph_made *made = shlo_make(w, (size_t)(k->outputs.count + 1) * sizeof *made);
    if (!args || !made) return;
    for (uint64_t i = 0; i < k->inputs.count; i++)
        args[i] = (hg_graph_arg){.name = shlo_text(w, "a%u", (unsigned)k->inputs.data[i]->number),
                                 .kind = HG_GRAPH_ARRAY,
                                 .value = k->inputs.data[i]->value};
    for (uint64_t i = 0; i < k->outputs.count; i++)
        made[i].operand = shlo_text(w, "a%u", (unsigned)k->outputs.data[i]->number);
    if (w->status != HG_OK) return;
    hg_status status = hg_graph_call_program(w->g, program, args, (uint32_t)k->inputs.count, made,
                                             (uint32_t)k->outputs.count);
    shlo_refuse_call(w, status, "");
    for (uint64_t i = 0; i < k->outputs.count; i++) k->outputs.data[i]->value = made[i].value;
}

void shlo_end(shlo_lower *w) {
    shlo_kernel *k = w->k;
    hg_text text = {0};
    hg_program *program = NULL;
    if (w->status == HG_OK) write_program(w, &text);
    if (w->status == HG_OK && k->outputs.count) {
        hg_status status = hg_program_assemble(text.data, text.length, NULL, &program);
        shlo_refuse_call(w, status, "");
        if (w->status == HG_OK) call_program(w, program);
        hg_program_release(program);
    }
    hg_text_free(&text);
    hg_text_free(&k->head);
    hg_text_free(&k->body);
    hg_vec_free(&k->memo);
    hg_vec_free(&k->inputs);
    hg_vec_free(&k->outputs);
    w->k = NULL;
}

/* ---- arrays ---- */

void shlo_open_nest(shlo_lower *w, const shlo_type *type, shlo_nest *n) {
    n->count = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->dims[i] == 1)
            n->at[i] = "0";
        else
            n->known[n->count++] = shlo_for(w, &n->at[i], type->dims[i]);
    }
}

void shlo_close_nest(shlo_lower *w, shlo_nest *n) {
    while (n->count) shlo_close(w, n->known[--n->count], "}");
}

void shlo_copy(shlo_lower *w, shlo_storage *s, const shlo_tensor *t) {
    shlo_nest n;
    uint64_t known = w->k->memo.count;
    if (!s || !t) return;
    shlo_open_nest(w, &t->type, &n);
    shlo_scalar value = shlo_element(w, t, n.at);
    shlo_store(w, s, shlo_place(w, &t->type, n.at), value);
    shlo_close_nest(w, &n);
    w->k->memo.count = known;
}

/* All results of the operation of `first`, into storages. */
static void fill(shlo_lower *w, const shlo_tensor *first, uint32_t count, shlo_storage **to) {
    shlo_kernel kernel;
    shlo_nest n = {.count = 0};
    bool own = !w->k;
    if (own) {
        shlo_begin(w, &kernel, &first->type);
        memcpy(n.at, kernel.at, sizeof n.at);
    }
    uint64_t known = w->k->memo.count;
    for (uint32_t i = 0; i < count; i++)
        to[i] = own ? shlo_output(w, &first[i].type) : shlo_scratch(w, &first[i].type);
    if (!own) shlo_open_nest(w, &first->type, &n);
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        shlo_scalar value = shlo_element(w, &first[i], n.at);
        if (to[i]) shlo_store(w, to[i], shlo_place(w, &first[i].type, n.at), value);
    }
    if (!own) shlo_close_nest(w, &n);
    w->k->memo.count = known;
    if (own) shlo_end(w);
}

/* In this block for all that follow, or, where it was met outside of it, for this use. */
shlo_tensor *shlo_array(shlo_lower *w, shlo_tensor *t) {
    if (w->status != HG_OK || !t || t->kind == SHLO_ARRAY) return t;
    uint32_t count = t->kind == SHLO_PUT_OFF ? t->op->result_count : 1;
    shlo_tensor *first = t->kind == SHLO_PUT_OFF ? t - t->result : t;
    shlo_storage **to = shlo_make(w, count * sizeof *to);
    if (t->op) w->op = t->op;
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        if (first[i].type.rank != first->type.rank ||
            memcmp(first[i].type.dims, first->type.dims, sizeof first->type.dims))
            shlo_refuse(w, "results of different shapes");
        is_small(w, &first[i].type);
    }
    if (w->status != HG_OK) return t;
    shlo_tensor copy = *t;
    fill(w, first, count, to);
    if (t->block != w->block) return shlo_stored(w, &copy.type, to[count > 1 ? t->result : 0]);
    for (uint32_t i = 0; i < count; i++) {
        first[i].kind = SHLO_ARRAY;
        first[i].storage = to[i];
        first[i].cost = 0;
    }
    return t;
}

/* ---- the walk ---- */

static bool same_dims(const shlo_type *a, const shlo_type *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof a->dims);
}

/* Elements of an operation on numbers by themselves have one shape; the predicate of select and the
 * bounds of clamp may be scalars. */
static void check_map(shlo_lower *w, const shlo_op *op, const shlo_tensor *t) {
    bool scalars = shlo_is(&op->name, "stablehlo.select") || shlo_is(&op->name, "stablehlo.clamp");
    char given[240], wanted[240];
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++)
        if (!same_dims(&t->in[i]->type, &t->type) && !(scalars && t->in[i]->type.rank == 0))
            shlo_refuse(w, "operand %u is %s, the result %s", (unsigned)i,
                        shlo_type_text(&t->in[i]->type, given), shlo_type_text(&t->type, wanted));
}

static bool reads_shape_of_result(const shlo_op *op) {
    static const char *const NAMES[] = {
        "stablehlo.compare", "stablehlo.convert", "stablehlo.bitcast_convert", "stablehlo.complex",
        "stablehlo.real",    "stablehlo.imag",    "stablehlo.reverse"};
    for (size_t i = 0; i < HG_COUNT_OF(NAMES); i++)
        if (shlo_is(&op->name, NAMES[i])) return true;
    return op->row->how == SHLO_MAPS;
}

/* Whether more elements are asked for than there are: each is worked out once then. */
static bool repeats(const shlo_tensor *t, const shlo_tensor *in) {
    uint64_t asked, there;
    return shlo_elements(&t->type, &asked) && shlo_elements(&in->type, &there) && asked > there;
}

static bool take_operands(shlo_lower *w, const shlo_op *op, shlo_tensor *t) {
    shlo_tensor **in = shlo_make(w, (op->operand_count + 1) * sizeof *in);
    uint32_t cost = op->row->how == SHLO_MAPS || shlo_is(&op->name, "stablehlo.convert"), chain = 0;
    for (uint32_t i = 0; in && i < op->operand_count; i++) {
        if (!(in[i] = shlo_operand(w, op, i))) return false;
        bool again = in[i]->cost && (op->row->how == SHLO_HEAVY
                                         ? !shlo_is(&op->name, "stablehlo.reduce")
                                         : repeats(t, in[i]) && op->row->how == SHLO_ELEMENT);
        if (again && !w->scalars) in[i] = shlo_array(w, in[i]);
        cost += in[i]->cost;
        chain = chain > in[i]->chain ? chain : in[i]->chain;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        t[i].kind = SHLO_PUT_OFF;
        t[i].in = in;
        t[i].cost = cost;
        t[i].chain = chain + 1;
    }
    return in && w->status == HG_OK;
}

/* A reshape of an array is the array. */
static bool is_alias(shlo_lower *w, const shlo_op *op, shlo_tensor *t) {
    uint64_t from, to;
    if (!shlo_is(&op->name, "stablehlo.reshape")) return false;
    if (!shlo_elements(&t->in[0]->type, &from) || !shlo_elements(&t->type, &to) || from != to ||
        t->in[0]->type.element != t->type.element) {
        shlo_refuse(w, "expected as many elements of the same type");
        return false;
    }
    if (t->in[0]->kind == SHLO_SPLAT) {
        t->kind = SHLO_SPLAT;
        t->bytes = t->in[0]->bytes;
        return true;
    }
    if (t->in[0]->kind != SHLO_ARRAY) return false;
    t->kind = SHLO_ARRAY;
    t->storage = t->in[0]->storage;
    t->block = t->in[0]->block;
    t->cost = 0;
    return true;
}

static void put_off(shlo_lower *w, const shlo_op *op) {
    const char *none[SHLO_MAX_RANK] = {0};
    if (!w->k && op->row->instead && op->row->instead(w, op)) return;
    shlo_tensor *t = w->status == HG_OK ? shlo_results(w, op) : NULL;
    if (!t || !take_operands(w, op, t)) return;
    if (reads_shape_of_result(op)) check_map(w, op, t);
    uint32_t uses = 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        shlo_bind(w, op->results + i, &t[i]);
        uses += w->m->values.data[op->results + i].uses;
    }
    if (w->scalars) {
        for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++) {
            if (t[i].type.rank) shlo_refuse(w, "an array in a region of scalars is not read");
            t[i].variable = shlo_element(w, &t[i], none);
            t[i].kind = SHLO_VARIABLE;
        }
        return;
    }
    if (is_alias(w, op, t) || w->status != HG_OK) return;
    if (shlo_is(&op->name, "stablehlo.broadcast_in_dim") && t->in[0]->kind == SHLO_SPLAT) {
        t->kind = SHLO_SPLAT;
        t->bytes = t->in[0]->bytes;
        return;
    }
    if (uses && (op->row->how == SHLO_HEAVY || (t->cost && uses > 1) || t->cost > MOST_COST ||
                 t->chain > MOST_CHAIN))
        shlo_array(w, t);
}

void shlo_walk(shlo_lower *w, const shlo_region *region, shlo_tensor **results, uint32_t count) {
    const shlo_op *before = w->op;
    for (uint32_t i = 0; i < count; i++) results[i] = NULL;
    if (++w->depth > SHLO_MAX_DEPTH)
        shlo_refuse(w, "more than %d calls and regions inside one another", SHLO_MAX_DEPTH);
    for (const shlo_op *op = region ? region->first : NULL; op && w->status == HG_OK;
         op = op->next) {
        w->op = op;
        if (w->budget-- == 0) {
            shlo_refuse(w, "more than %llu operations, those of calls counted each time",
                        (unsigned long long)MOST_OPERATIONS);
        } else if (shlo_is(&op->name, "return") || shlo_is(&op->name, "stablehlo.return") ||
                   shlo_is(&op->name, "func.return")) {
            if (op->operand_count != count)
                shlo_refuse(w, "%u values are returned, expected %u", (unsigned)op->operand_count,
                            (unsigned)count);
            for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
                results[i] = shlo_operand(w, op, i);
            break;
        } else if (!op->row) {
            shlo_refuse(w, "this operation is not read");
        } else if (op->operand_count < op->row->least || op->operand_count > op->row->most) {
            shlo_refuse(w, "%u operands, expected %u%s", (unsigned)op->operand_count,
                        (unsigned)op->row->least, op->row->most > op->row->least ? " or more" : "");
        } else if (op->row->how == SHLO_APPLY) {
            op->row->apply(w, op);
        } else if (op->result_count == 0) {
            shlo_refuse(w, "expected a result");
        } else {
            put_off(w, op);
        }
    }
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
        if (!results[i])
            shlo_refuse(w, "expected a return of %u values behind it", (unsigned)count);
    w->depth--;
    w->op = before;
}

/* ---- constants, functions, what goes through ---- */

void shlo_apply_constant(shlo_lower *w, const shlo_op *op) {
    uint64_t count;
    shlo_tensor *t = shlo_results(w, op);
    if (!t || op->result_count != 1) {
        shlo_refuse(w, "expected dense<…> and one result");
        return;
    }
    shlo_elements(&t->type, &count);
    t->bytes = op->constant.bytes;
    t->kind = SHLO_SPLAT;
    shlo_bind(w, op->results, t);
    if (op->constant.splat || count == 1 || !t->bytes) return;
    if (w->scalars) shlo_refuse(w, "an array in a region of scalars is not read");
    uint64_t bytes = (count * hg_type_size_bytes((hg_type)t->type.element)) << t->type.complex;
    shlo_storage *s = add_storage(w, &t->type);
    void *kept = hg_arena_alloc(&w->g->arena, (size_t)bytes);
    hg_dim dims[SHLO_MAX_RANK + 1];
    if (!s || !kept) {
        shlo_no_memory(w);
        return;
    }
    memcpy(kept, t->bytes, (size_t)bytes);
    shlo_dims(&t->type, dims);
    hg_status status = hg_graph_constant(w->g, shlo_text(w, "constant%u", (unsigned)s->number),
                                         (hg_type)t->type.element, dims,
                                         t->type.rank + t->type.complex, kept, &s->value);
    shlo_refuse_call(w, status, "");
    t->kind = SHLO_ARRAY;
    t->storage = s;
}

void shlo_dims(const shlo_type *type, hg_dim *dims) {
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = hg_dim_of(type->dims[i]);
    dims[type->rank] = hg_dim_of(2);
}

/* What is read more than once, and takes more than loads, is worked out once. */
static void bind_shared(shlo_lower *w, uint32_t value, shlo_tensor *t) {
    if (t && t->cost && w->m->values.data[value].uses > 1 && !w->scalars) t = shlo_array(w, t);
    shlo_bind(w, value, t);
}

static shlo_function *function_named(shlo_module *m, const shlo_word *name) {
    for (shlo_function *f = m->functions; f; f = f->next)
        if (f->name.length == name->length && !memcmp(f->name.text, name->text, name->length))
            return f;
    return NULL;
}

static bool same_type(const shlo_type *a, const shlo_type *b) {
    return same_dims(a, b) && a->element == b->element && a->truth == b->truth &&
           a->complex == b->complex;
}

/* Arguments or results against the types that were declared for them. */
static bool fits(shlo_lower *w, const char *what, uint32_t i, const shlo_type *given,
                 const shlo_type *wanted) {
    char text[2][240];
    if (same_type(given, wanted)) return true;
    shlo_refuse(w, "%s %u is %s, expected %s", what, (unsigned)i, shlo_type_text(given, text[0]),
                shlo_type_text(wanted, text[1]));
    return false;
}

static void enter(shlo_lower *w, shlo_function *f, shlo_tensor **args, shlo_tensor **results) {
    const shlo_op *caller = w->op;
    for (uint32_t i = 0; i < f->body.arg_count; i++) {
        if (!fits(w, "argument", i, &args[i]->type, &w->m->values.data[f->body.args[i]].type))
            return;
        bind_shared(w, f->body.args[i], args[i]);
    }
    f->entered = true;
    shlo_walk(w, &f->body, results, f->result_count);
    f->entered = false;
    for (const shlo_op *last = f->body.first; last; last = last->next) w->op = last;
    for (uint32_t i = 0; i < f->result_count && w->status == HG_OK; i++)
        fits(w, "result", i, &results[i]->type, &f->types[i]);
    w->op = caller;
}

void shlo_apply_call(shlo_lower *w, const shlo_op *op) {
    const shlo_attribute *body = shlo_attribute_of(op, "decomposition", 0);
    const shlo_attribute *callee = shlo_attribute_of(op, "callee", 0);
    const shlo_word *name = body ? &body->word : callee ? &callee->word : &op->symbol;
    shlo_function *f = function_named(w->m, name);
    shlo_tensor **args = shlo_make(w, (op->operand_count + 1) * sizeof *args);
    shlo_tensor **results = shlo_make(w, (op->result_count + 1) * sizeof *results);
    int length = name->length > 60 ? 60 : (int)name->length;
    if (!f) shlo_refuse(w, "there is no function @%.*s", length, name->text);
    if (f && f->entered) shlo_refuse(w, "@%.*s calls itself", length, name->text);
    if (f && (f->body.arg_count != op->operand_count || f->result_count != op->result_count))
        shlo_refuse(w, "@%.*s has %u arguments and %u results", length, name->text,
                    (unsigned)f->body.arg_count, (unsigned)f->result_count);
    for (uint32_t i = 0; args && i < op->operand_count && w->status == HG_OK; i++)
        args[i] = shlo_operand(w, op, i);
    if (w->status != HG_OK || !args || !results) return;
    enter(w, f, args, results);
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++)
        if (fits(w, "result", i, &results[i]->type, &op->types[i]))
            bind_shared(w, op->results + i, results[i]);
}

void shlo_apply_barrier(shlo_lower *w, const shlo_op *op) {
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++) {
        shlo_tensor *t = shlo_operand(w, op, i);
        if (t && fits(w, "result", i, &t->type, &op->types[i])) bind_shared(w, op->results + i, t);
    }
}

void shlo_apply_custom_call(shlo_lower *w, const shlo_op *op) {
    static const char *const NOTES[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                        "annotate_device_placement"};
    const shlo_attribute *target = shlo_attribute_of(op, "call_target_name", 0);
    const shlo_word *name = target ? &target->word : &op->symbol;
    for (size_t i = 0; i < HG_COUNT_OF(NOTES); i++)
        if (shlo_is(name, NOTES[i])) {
            shlo_apply_barrier(w, op);
            return;
        }
    shlo_refuse(w, "custom_call @%.*s is another program's code, which no text has",
                name->length > 80 ? 80 : (int)name->length, name->text);
}

/* ---- a module ---- */

static shlo_tensor *add_input(shlo_lower *w, const shlo_type *type, uint32_t i) {
    shlo_storage *s = add_storage(w, type);
    hg_dim dims[SHLO_MAX_RANK + 1];
    if (!s) return NULL;
    shlo_dims(type, dims);
    hg_status status = hg_graph_input(w->g, shlo_text(w, "arg%u", (unsigned)i),
                                      (hg_type)type->element, dims, type->rank + type->complex,
                                      &s->value);
    shlo_refuse_call(w, status, shlo_text(w, "argument %u: ", (unsigned)i));
    return shlo_stored(w, type, s);
}

static void add_result(shlo_lower *w, shlo_tensor *t, uint32_t i, uint32_t count) {
    hg_dim dims[SHLO_MAX_RANK + 1];
    hg_value value;
    t = shlo_array(w, t);
    if (w->status != HG_OK) return;
    value = t->storage->value;
    shlo_dims(&t->type, dims);
    hg_status status = HG_OK;
    if (!same_dims(&t->type, &t->storage->type))
        status = hg_graph_view(w->g, NULL, value, hg_dim_of(0), dims,
                               t->type.rank + t->type.complex, &value);
    if (status == HG_OK)
        status = hg_graph_output(w->g, value,
                                 count == 1 ? "result" : shlo_text(w, "result%u", (unsigned)i));
    shlo_refuse_call(w, status, shlo_text(w, "result %u: ", (unsigned)i));
}

static void lower_main(shlo_lower *w, shlo_function *f) {
    shlo_tensor **args = shlo_make(w, (f->body.arg_count + 1) * sizeof *args);
    shlo_tensor **results = shlo_make(w, (f->result_count + 1) * sizeof *results);
    for (uint32_t i = 0; args && i < f->body.arg_count; i++)
        if (!(args[i] = add_input(w, &w->m->values.data[f->body.args[i]].type, i))) return;
    if (!args || !results || w->status != HG_OK) return;
    enter(w, f, args, results);
    for (uint32_t i = 0; i < f->result_count && w->status == HG_OK; i++)
        add_result(w, results[i], i, f->result_count);
}

hg_status shlo_to_graph(shlo_module *module, hg_diagnostics *d, hg_graph **graph) {
    static const shlo_word MAIN = {.text = "main", .length = 4};
    shlo_function *f = function_named(module, &MAIN);
    if (!f && module->functions && !module->functions->next) f = module->functions;
    shlo_lower w = {
        .m = module, .d = d, .arena = &module->arena, .budget = MOST_OPERATIONS, .walk = shlo_walk};
    *graph = NULL;
    if (!f) {
        shlo_refuse(&w, "expected a function @main, or one function");
        return w.status;
    }
    char *name = hg_arena_text(&module->arena, module->name.text, module->name.length);
    w.env = shlo_make(&w, (size_t)(module->values.count + 1) * sizeof *w.env);
    w.g = name ? hg_graph_create(name) : NULL;
    if (!w.g) shlo_no_memory(&w);
    if (w.status == HG_OK) lower_main(&w, f);
    if (w.status == HG_OK)
        *graph = w.g;
    else
        hg_graph_release(w.g);
    return w.status;
}
