/* From operations to calls of a graph. What can wait waits (mlir_tensor); mlir_array makes an
 * array: between programs by a lane program of its own, in a program that is one lane's loops by a
 * loop. */
#include "hlo/operations.h"
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

enum { MOST_COST = 40, MOST_CHAIN = 60, MOST_WRITTEN = 32 << 20 };
static const uint64_t MOST_OPERATIONS = 100000; /* calls of functions included */

/* ---- tensors ---- */

mlir_tensor *mlir_results(mlir_lower *w, const mlir_op *op) {
    mlir_tensor *t = mlir_make(w, (op->result_count + 1) * sizeof *t);
    for (uint32_t i = 0; t && i < op->result_count; i++)
        t[i] = (mlir_tensor){.type = op->types[i], .op = op, .result = i, .block = w->block};
    return t;
}

mlir_tensor *mlir_operand(mlir_lower *w, const mlir_op *op, uint32_t i) {
    mlir_tensor *t = i < op->operand_count ? w->env[op->operands[i]] : NULL;
    if (!t) mlir_refuse(w, "its operand %u has no value here", (unsigned)i);
    return t;
}

mlir_tensor *mlir_stored(mlir_lower *w, const mlir_type *type, mlir_storage *s) {
    mlir_tensor *t = mlir_make(w, sizeof *t);
    if (t) *t = (mlir_tensor){.type = *type, .kind = MLIR_ARRAY, .block = w->block, .storage = s};
    return t;
}

static mlir_storage *add_storage(mlir_lower *w, const mlir_type *type) {
    mlir_storage *s = mlir_make(w, sizeof *s);
    if (s) *s = (mlir_storage){.number = w->storages++, .type = *type};
    return s;
}

static bool is_small(mlir_lower *w, const mlir_type *type) {
    uint64_t count;
    if (mlir_elements(type, &count)) return true;
    mlir_refuse(w, "a tensor of more than 2^40 elements");
    return false;
}

mlir_storage *mlir_scratch(mlir_lower *w, const mlir_type *type) {
    uint64_t count = 0;
    mlir_storage *s = add_storage(w, type);
    if (!s || !mlir_elements(type, &count)) return NULL;
    s->local = true;
    hg_text_addf(&w->k->head, ".scratch a%u %s [%llu]\n", (unsigned)s->number, mlir_type_name(type),
                 (unsigned long long)count << type->complex);
    return s;
}

/* ---- programs ---- */

/* An output of the program that is being written. */
mlir_storage *mlir_output(mlir_lower *w, const mlir_type *type) {
    mlir_storage *s = add_storage(w, type), **to = s ? hg_vec_push(&w->k->outputs) : NULL;
    if (!to) {
        mlir_no_memory(w);
        return NULL;
    }
    *to = s;
    s->program = w->programs;
    hg_text_addf(&w->k->head, ".param a%u buffer %s out [", (unsigned)s->number,
                 mlir_type_name(type));
    for (uint32_t i = 0; i < type->rank; i++)
        hg_text_addf(&w->k->head, "%s%llu", i ? ", " : "", (unsigned long long)type->dims[i]);
    hg_text_addf(&w->k->head, type->complex ? "%s2]\n" : "%s]\n",
                 type->complex && type->rank ? ", " : "");
    return s;
}

void mlir_begin(mlir_lower *w, mlir_kernel *k, const mlir_type *lanes) {
    *k = (mlir_kernel){.loops = lanes == NULL};
    w->k = k;
    w->programs++;
    if (!lanes) return;
    k->lanes = *lanes;
    for (uint32_t i = 0; i < lanes->rank; i++) k->at[i] = mlir_text(w, "i%u", (unsigned)i);
}

static void add_functions(hg_text *text) {
    static const struct function {
        const char *name, *text;
    } FUNCTIONS[] = {
        {"mlir_erf_inv(",
         "fn mlir_erf_inv(x f64) -> f64 {\n"
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
        {"mlir_power(",
         "fn mlir_power[T](x T, y T) -> T {\n"
         "    if y < 0 {\n"
         "        if x == 1 || x == ~T(0) && (y & 1) == 0 {\n            return T(1)\n        }\n"
         "        return x == ~T(0) ? x : T(0)\n    }\n"
         "    let p T = 1\n    let b T = x\n    let n T = y\n"
         "    while n != 0 {\n        p = (n & 1) != 0 ? p * b : p\n        b = b * b\n"
         "        n = n >> 1\n    }\n"
         "    return p\n}\n"},
        {"mlir_lgamma(",
         "fn mlir_lgamma(x f64) -> f64 {\n"
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
        {"mlir_digamma(",
         "fn mlir_digamma(x f64) -> f64 {\n"
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

static void write_program(mlir_lower *w, hg_text *text) {
    mlir_kernel *k = w->k;
    hg_text_addf(text, ".atlas 1\n.program mlir_%u\n", (unsigned)w->programs);
    if (k->head.data) hg_text_add(text, k->head.data, k->head.length);
    hg_text_addf(text, k->lanes.rank ? ".lanes [" : ".lanes 1\n");
    for (uint32_t i = 0; i < k->lanes.rank; i++)
        hg_text_addf(text, "%sc%u < %llu%s", i ? ", " : "", (unsigned)i,
                     (unsigned long long)k->lanes.dims[i], i + 1 == k->lanes.rank ? "]\n" : "");
    for (uint32_t i = 0; i < k->lanes.rank; i++)
        hg_text_addf(text, "    let i%u i64 = i64(c%u)\n", (unsigned)i, (unsigned)i);
    if (k->body.data) hg_text_add(text, k->body.data, k->body.length);
    add_functions(text);
    if (text->failed) mlir_no_memory(w);
}

static void call_program(mlir_lower *w, hg_program *program) {
    mlir_kernel *k = w->k;
    hg_graph_arg *args = mlir_make(w, (size_t)(k->inputs.count + 1) * sizeof *args);
    hg_graph_made *made = mlir_make(w, (size_t)(k->outputs.count + 1) * sizeof *made);
    if (!args || !made) return;
    for (uint64_t i = 0; i < k->inputs.count; i++)
        args[i] = (hg_graph_arg){.name = mlir_text(w, "a%u", (unsigned)k->inputs.data[i]->number),
                                 .kind = HG_GRAPH_ARRAY,
                                 .value = k->inputs.data[i]->value};
    for (uint64_t i = 0; i < k->outputs.count; i++)
        made[i].operand = mlir_text(w, "a%u", (unsigned)k->outputs.data[i]->number);
    if (w->status != HG_OK) return;
    hg_status status = hg_graph_call_program(w->g, program, args, (uint32_t)k->inputs.count, made,
                                             (uint32_t)k->outputs.count);
    mlir_refuse_call(w, status, "");
    for (uint64_t i = 0; i < k->outputs.count; i++) k->outputs.data[i]->value = made[i].value;
}

void mlir_end(mlir_lower *w) {
    mlir_kernel *k = w->k;
    hg_text text = {0};
    hg_program *program = NULL;
    if (w->status == HG_OK) write_program(w, &text);
    if ((w->written += text.length) > MOST_WRITTEN)
        mlir_refuse(w, "the programs that the module becomes are longer than %d bytes",
                    MOST_WRITTEN);
    if (w->status == HG_OK && k->outputs.count) {
        hg_status status = hg_program_assemble(text.data, text.length, NULL, &program);
        mlir_refuse_call(w, status, "");
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

void mlir_open_nest(mlir_lower *w, const mlir_type *type, mlir_nest *n) {
    *n = (mlir_nest){.count = 0};
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->dims[i] == 1)
            n->at[i] = "0";
        else
            n->known[n->count++] = mlir_for(w, &n->at[i], type->dims[i]);
    }
}

void mlir_close_nest(mlir_lower *w, mlir_nest *n) {
    while (n->count) mlir_close(w, n->known[--n->count], "}");
}

void mlir_copy(mlir_lower *w, mlir_storage *s, const mlir_tensor *t) {
    mlir_nest n;
    uint64_t known = w->k->memo.count;
    if (!s || !t) return;
    mlir_open_nest(w, &t->type, &n);
    mlir_scalar value = mlir_element(w, t, n.at);
    mlir_store(w, s, mlir_place(w, &t->type, n.at), value);
    mlir_close_nest(w, &n);
    w->k->memo.count = known;
}

/* All results of the operation of `first`, into storages. */
static void fill(mlir_lower *w, const mlir_tensor *first, uint32_t count, mlir_storage **to) {
    mlir_kernel kernel;
    mlir_nest n = {.count = 0};
    bool own = !w->k;
    if (own) {
        mlir_begin(w, &kernel, &first->type);
        memcpy(n.at, kernel.at, sizeof n.at);
    }
    uint64_t known = w->k->memo.count;
    for (uint32_t i = 0; i < count; i++)
        to[i] = own ? mlir_output(w, &first[i].type) : mlir_scratch(w, &first[i].type);
    if (!own) mlir_open_nest(w, &first->type, &n);
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        mlir_scalar value = mlir_element(w, &first[i], n.at);
        if (to[i]) mlir_store(w, to[i], mlir_place(w, &first[i].type, n.at), value);
    }
    if (!own) mlir_close_nest(w, &n);
    w->k->memo.count = known;
    if (own) mlir_end(w);
}

/* In this block for all that follow, or, where it was met outside of it, for this use. */
mlir_tensor *mlir_array(mlir_lower *w, mlir_tensor *t) {
    if (w->status != HG_OK || !t || t->kind == MLIR_ARRAY) return t;
    uint32_t count = t->kind == MLIR_PUT_OFF ? t->op->result_count : 1;
    mlir_tensor *first = t->kind == MLIR_PUT_OFF ? t - t->result : t;
    mlir_storage **to = mlir_make(w, count * sizeof *to);
    if (t->op) w->op = t->op;
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        if (first[i].type.rank != first->type.rank ||
            memcmp(first[i].type.dims, first->type.dims, sizeof first->type.dims))
            mlir_refuse(w, "results of different shapes");
        is_small(w, &first[i].type);
    }
    if (w->status != HG_OK) return t;
    mlir_tensor copy = *t;
    fill(w, first, count, to);
    if (t->block != w->block) return mlir_stored(w, &copy.type, to[count > 1 ? t->result : 0]);
    for (uint32_t i = 0; i < count; i++) {
        first[i].kind = MLIR_ARRAY;
        first[i].storage = to[i];
        first[i].cost = first[i].chain = 0;
    }
    return t;
}

/* ---- the walk ---- */

/* Elements of an operation on numbers by themselves have one shape; the predicate of select and the
 * bounds of clamp may be scalars. */
static void check_map(mlir_lower *w, const mlir_op *op, const mlir_tensor *t) {
    bool scalars = mlir_is(&op->name, "stablehlo.select") || mlir_is(&op->name, "stablehlo.clamp");
    char given[240], wanted[240];
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++)
        if (!mlir_same_dims(&t->in[i]->type, &t->type) && !(scalars && t->in[i]->type.rank == 0))
            mlir_refuse(w, "operand %u is %s, the result %s", (unsigned)i,
                        mlir_type_text(&t->in[i]->type, given), mlir_type_text(&t->type, wanted));
}

static bool reads_shape_of_result(const mlir_op *op) {
    static const char *const NAMES[] = {"stablehlo.compare", "stablehlo.convert",
                                        "stablehlo.complex", "stablehlo.real",
                                        "stablehlo.imag",    "stablehlo.reverse",
                                        "stablehlo.map",     "stablehlo.reduce_precision"};
    for (size_t i = 0; i < HG_COUNT_OF(NAMES); i++)
        if (mlir_is(&op->name, NAMES[i])) return true;
    return op->row->how == MLIR_MAPS;
}

/* Whether more elements are asked for than there are: each is worked out once then. */
static bool repeats(const mlir_tensor *t, const mlir_tensor *in) {
    uint64_t asked, there;
    return mlir_elements(&t->type, &asked) && mlir_elements(&in->type, &there) && asked > there;
}

/* Beside those on numbers: those that may read an operand more than once for an element. */
static bool has_cost(const mlir_op *op) {
    return mlir_is(&op->name, "stablehlo.map") || mlir_is(&op->name, "stablehlo.convert") ||
           mlir_is(&op->name, "stablehlo.reduce_precision") ||
           mlir_is(&op->name, "stablehlo.gather") || mlir_is(&op->name, "stablehlo.concatenate") ||
           mlir_is(&op->name, "stablehlo.dynamic_update_slice");
}

static bool take_operands(mlir_lower *w, const mlir_op *op, mlir_tensor *t) {
    mlir_tensor **in = mlir_make(w, (op->operand_count + 1) * sizeof *in);
    uint32_t cost = op->row->how == MLIR_MAPS || has_cost(op), chain = 0;
    for (uint32_t i = 0; in && i < op->operand_count; i++) {
        if (!(in[i] = mlir_operand(w, op, i))) return false;
        bool again = in[i]->cost && (op->row->how == MLIR_HEAVY
                                         ? !mlir_is(&op->name, "stablehlo.reduce")
                                         : repeats(t, in[i]) && op->row->how == MLIR_ELEMENT);
        if (again && !w->scalars) in[i] = mlir_array(w, in[i]);
        cost += in[i]->cost;
        chain = chain > in[i]->chain ? chain : in[i]->chain;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        t[i].kind = MLIR_PUT_OFF;
        t[i].in = in;
        t[i].cost = cost;
        t[i].chain = chain + 1;
    }
    return in && w->status == HG_OK;
}

static bool same_elements(const mlir_type *a, const mlir_type *b) {
    return a->element == b->element && a->complex == b->complex;
}

/* A reshape of an array is the array. */
static bool is_alias(mlir_lower *w, const mlir_op *op, mlir_tensor *t) {
    uint64_t from, to;
    if (op->row->element != mlir_element_of_reshape) return false;
    if (!mlir_elements(&t->in[0]->type, &from) || !mlir_elements(&t->type, &to) || from != to ||
        !same_elements(&t->in[0]->type, &t->type)) {
        mlir_refuse(w, "expected as many elements of the same type");
        return false;
    }
    if (t->in[0]->kind == MLIR_SPLAT) {
        t->kind = MLIR_SPLAT;
        t->bytes = t->in[0]->bytes;
        return true;
    }
    if (t->in[0]->kind != MLIR_ARRAY) return false;
    t->kind = MLIR_ARRAY;
    t->storage = t->in[0]->storage;
    t->block = t->in[0]->block;
    t->cost = 0;
    return true;
}

static void put_off(mlir_lower *w, const mlir_op *op) {
    const char *none[MLIR_MAX_RANK] = {0};
    if (!w->k && op->row->instead && op->row->instead(w, op)) return;
    mlir_tensor *t = w->status == HG_OK ? mlir_results(w, op) : NULL;
    if (!t || !take_operands(w, op, t)) return;
    if (op->result_count > 1 && strncmp(op->row->name, "stablehlo.reduce", 16) != 0)
        mlir_refuse(w, "%u results, expected 1", (unsigned)op->result_count);
    if (reads_shape_of_result(op)) check_map(w, op, t);
    uint32_t uses = 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        mlir_bind(w, op->results + i, &t[i]);
        uses += w->m->values.data[op->results + i].uses;
    }
    if (w->scalars) {
        for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++) {
            if (t[i].type.rank) mlir_refuse(w, "an array in a region of scalars is not read");
            t[i].variable = mlir_element(w, &t[i], none);
            t[i].kind = MLIR_VARIABLE;
        }
        return;
    }
    if (is_alias(w, op, t) || mlir_fold(w, op, t) || w->status != HG_OK) return;
    if (mlir_is(&op->name, "stablehlo.broadcast_in_dim") && t->in[0]->kind == MLIR_SPLAT) {
        if (!same_elements(&t->in[0]->type, &t->type))
            mlir_refuse(w, "expected elements of the operand's type");
        t->kind = MLIR_SPLAT;
        t->bytes = t->in[0]->bytes;
        return;
    }
    if (uses && (op->row->how == MLIR_HEAVY || (t->cost && uses > 1) || t->cost > MOST_COST ||
                 t->chain > MOST_CHAIN))
        mlir_array(w, t);
}

void mlir_walk(mlir_lower *w, const mlir_region *region, mlir_tensor **results, uint32_t count) {
    const mlir_op *before = w->op;
    for (uint32_t i = 0; i < count; i++) results[i] = NULL;
    if (++w->depth > MLIR_MAX_DEPTH)
        mlir_refuse(w, "more than %d calls and regions inside one another", MLIR_MAX_DEPTH);
    for (const mlir_op *op = region ? region->first : NULL; op && w->status == HG_OK;
         op = op->next) {
        w->op = op;
        if (w->budget-- == 0) {
            mlir_refuse(w, "more than %llu operations, those of calls counted each time",
                        (unsigned long long)MOST_OPERATIONS);
        } else if (mlir_is(&op->name, "return") || mlir_is(&op->name, "stablehlo.return") ||
                   mlir_is(&op->name, "func.return")) {
            if (op->operand_count != count)
                mlir_refuse(w, "%u values are returned, expected %u", (unsigned)op->operand_count,
                            (unsigned)count);
            for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
                results[i] = mlir_operand(w, op, i);
            break;
        } else if (!op->row) {
            mlir_refuse(w, "this operation is not read");
        } else if (op->operand_count < op->row->least || op->operand_count > op->row->most) {
            mlir_refuse(w, "%u operands, expected %u%s", (unsigned)op->operand_count,
                        (unsigned)op->row->least, op->row->most > op->row->least ? " or more" : "");
        } else if (op->row->how == MLIR_APPLY) {
            op->row->apply(w, op);
        } else if (op->result_count == 0) {
            mlir_refuse(w, "expected a result");
        } else {
            put_off(w, op);
        }
    }
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
        if (!results[i])
            mlir_refuse(w, "expected a return of %u values behind it", (unsigned)count);
    w->depth--;
    w->op = before;
}

/* ---- constants, functions, what goes through ---- */

void mlir_apply_constant(mlir_lower *w, const mlir_op *op) {
    uint64_t count;
    mlir_tensor *t = mlir_results(w, op), *before = w->env[op->results];
    if (!t || op->result_count != 1) {
        mlir_refuse(w, "expected dense<…> and one result");
        return;
    }
    mlir_elements(&t->type, &count);
    if (count && !op->constant.bytes) {
        mlir_refuse(w, "expected dense<…>, its elements stand elsewhere");
        return;
    }
    t->bytes = op->constant.bytes;
    t->kind = MLIR_SPLAT;
    mlir_bind(w, op->results, t);
    if (op->constant.splat || count == 1 || !t->bytes) return;
    if (w->scalars) mlir_refuse(w, "an array in a region of scalars is not read");
    if (before) { /* of an earlier call */
        t->kind = MLIR_ARRAY;
        t->storage = before->storage;
        return;
    }
    uint64_t bytes = (count * hg_type_size_bytes((hg_type)t->type.element)) << t->type.complex;
    mlir_storage *s = add_storage(w, &t->type);
    void *kept = hg_arena_alloc(&w->g->arena, (size_t)bytes);
    hg_dim dims[MLIR_MAX_RANK + 1];
    if (!s || !kept) {
        mlir_no_memory(w);
        return;
    }
    memcpy(kept, t->bytes, (size_t)bytes);
    mlir_dims(&t->type, dims);
    hg_status status = hg_graph_constant(w->g, mlir_text(w, "constant%u", (unsigned)s->number),
                                         (hg_type)t->type.element, dims,
                                         t->type.rank + t->type.complex, kept, &s->value);
    mlir_refuse_call(w, status, "");
    t->kind = MLIR_ARRAY;
    t->storage = s;
}

/* An extent is a number of the type. */
void mlir_apply_dimension_size(mlir_lower *w, const mlir_op *op) {
    mlir_tensor *t = mlir_results(w, op), *in = mlir_operand(w, op, 0);
    int64_t axis = mlir_item(op, "dim", 0, 0, mlir_item(op, "dimension", 0, 0, -1));
    uint8_t *bytes = mlir_make(w, 4);
    if (!in || !t || !bytes) return;
    if (axis < 0 || axis >= in->type.rank || op->result_count != 1 || op->types[0].rank ||
        op->types[0].element != HG_TYPE_I32 || in->type.dims[axis] > INT32_MAX) {
        mlir_refuse(w, "expected an axis and a tensor<i32>");
        return;
    }
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(in->type.dims[axis] >> 8 * i);
    t->kind = MLIR_SPLAT;
    t->bytes = bytes;
    mlir_bind(w, op->results, t);
}

void mlir_dims(const mlir_type *type, hg_dim *dims) {
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = hg_dim_of(type->dims[i]);
    dims[type->rank] = hg_dim_of(2);
}

void mlir_bind_shared(mlir_lower *w, uint32_t value, mlir_tensor *t) {
    if (t && t->cost && w->m->values.data[value].uses > 1 && !w->scalars) t = mlir_array(w, t);
    mlir_bind(w, value, t);
}

static mlir_function *function_named(mlir_module *m, const mlir_word *name) {
    for (mlir_function *f = m->functions; f; f = f->next)
        if (f->name.length == name->length && !memcmp(f->name.text, name->text, name->length))
            return f;
    return NULL;
}

/* Arguments or results against the types that were declared for them. */
static bool fits(mlir_lower *w, const char *what, uint32_t i, const mlir_type *given,
                 const mlir_type *wanted) {
    char text[2][240];
    if (mlir_same_type(given, wanted)) return true;
    mlir_refuse(w, "%s %u is %s, expected %s", what, (unsigned)i, mlir_type_text(given, text[0]),
                mlir_type_text(wanted, text[1]));
    return false;
}

static void enter(mlir_lower *w, mlir_function *f, mlir_tensor **args, mlir_tensor **results) {
    const mlir_op *caller = w->op;
    for (uint32_t i = 0; i < f->body.arg_count; i++) {
        if (!fits(w, "argument", i, &args[i]->type, &w->m->values.data[f->body.args[i]].type))
            return;
        mlir_bind_shared(w, f->body.args[i], args[i]);
    }
    f->entered = true;
    mlir_walk(w, &f->body, results, f->result_count);
    f->entered = false;
    for (const mlir_op *last = f->body.first; last; last = last->next) w->op = last;
    for (uint32_t i = 0; i < f->result_count && w->status == HG_OK; i++)
        fits(w, "result", i, &results[i]->type, &f->types[i]);
    w->op = caller;
}

void mlir_apply_call(mlir_lower *w, const mlir_op *op) {
    const mlir_attribute *body = mlir_attribute_of(op, "decomposition", 0);
    const mlir_attribute *callee = mlir_attribute_of(op, "callee", 0);
    const mlir_word *name = body ? &body->word : callee ? &callee->word : &op->symbol;
    mlir_function *f = function_named(w->m, name);
    mlir_tensor **args = mlir_make(w, (op->operand_count + 1) * sizeof *args);
    mlir_tensor **results = mlir_make(w, (op->result_count + 1) * sizeof *results);
    int length = name->length > 60 ? 60 : (int)name->length;
    if (!f) mlir_refuse(w, "there is no function @%.*s", length, name->text);
    if (f && f->entered) mlir_refuse(w, "@%.*s calls itself", length, name->text);
    if (f && (f->body.arg_count != op->operand_count || f->result_count != op->result_count))
        mlir_refuse(w, "@%.*s has %u arguments and %u results", length, name->text,
                    (unsigned)f->body.arg_count, (unsigned)f->result_count);
    for (uint32_t i = 0; args && i < op->operand_count && w->status == HG_OK; i++)
        args[i] = mlir_operand(w, op, i);
    if (w->status != HG_OK || !args || !results) return;
    enter(w, f, args, results);
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++)
        if (fits(w, "result", i, &results[i]->type, &op->types[i]))
            mlir_bind_shared(w, op->results + i, results[i]);
}

void mlir_apply_barrier(mlir_lower *w, const mlir_op *op) {
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++) {
        mlir_tensor *t = mlir_operand(w, op, i);
        if (t && fits(w, "result", i, &t->type, &op->types[i]))
            mlir_bind_shared(w, op->results + i, t);
    }
}

void mlir_apply_custom_call(mlir_lower *w, const mlir_op *op) {
    static const char *const NOTES[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                        "annotate_device_placement"};
    const mlir_attribute *target = mlir_attribute_of(op, "call_target_name", 0);
    const mlir_word *name = target ? &target->word : &op->symbol;
    for (size_t i = 0; i < HG_COUNT_OF(NOTES); i++)
        if (mlir_is(name, NOTES[i])) {
            mlir_apply_barrier(w, op);
            return;
        }
    mlir_refuse(w, "custom_call @%.*s is another program's code, which no text has",
                name->length > 80 ? 80 : (int)name->length, name->text);
}

/* ---- a module ---- */

static mlir_tensor *add_input(mlir_lower *w, const mlir_type *type, uint32_t i) {
    mlir_storage *s = add_storage(w, type);
    hg_dim dims[MLIR_MAX_RANK + 1];
    if (!s) return NULL;
    mlir_dims(type, dims);
    hg_status status = hg_graph_input(w->g, mlir_text(w, "arg%u", (unsigned)i),
                                      (hg_type)type->element, dims, type->rank + type->complex,
                                      &s->value);
    mlir_refuse_call(w, status, mlir_text(w, "argument %u: ", (unsigned)i));
    return mlir_stored(w, type, s);
}

static void add_result(mlir_lower *w, mlir_tensor *t, uint32_t i, uint32_t count) {
    hg_dim dims[MLIR_MAX_RANK + 1];
    hg_value value;
    t = mlir_array(w, t);
    if (w->status != HG_OK) return;
    value = t->storage->value;
    mlir_dims(&t->type, dims);
    hg_status status = HG_OK;
    if (!mlir_same_dims(&t->type, &t->storage->type))
        status = hg_graph_view(w->g, NULL, value, hg_dim_of(0), dims,
                               t->type.rank + t->type.complex, &value);
    if (status == HG_OK)
        status = hg_graph_output(w->g, value,
                                 count == 1 ? "result" : mlir_text(w, "result%u", (unsigned)i));
    mlir_refuse_call(w, status, mlir_text(w, "result %u: ", (unsigned)i));
}

static void lower_main(mlir_lower *w, mlir_function *f) {
    mlir_tensor **args = mlir_make(w, (f->body.arg_count + 1) * sizeof *args);
    mlir_tensor **results = mlir_make(w, (f->result_count + 1) * sizeof *results);
    for (uint32_t i = 0; args && i < f->body.arg_count; i++)
        if (!(args[i] = add_input(w, &w->m->values.data[f->body.args[i]].type, i))) return;
    if (!args || !results || w->status != HG_OK) return;
    enter(w, f, args, results);
    for (uint32_t i = 0; i < f->result_count && w->status == HG_OK; i++)
        add_result(w, results[i], i, f->result_count);
}

hg_status mlir_to_graph(mlir_module *module, hg_diagnostics *d, hg_graph **graph) {
    static const mlir_word MAIN = {.text = "main", .length = 4};
    mlir_function *f = function_named(module, &MAIN);
    if (!f && module->functions && !module->functions->next) f = module->functions;
    mlir_lower w = {.m = module,
                    .d = d,
                    .arena = &module->arena,
                    .budget = MOST_OPERATIONS,
                    .walk = mlir_walk,
                    .rounds = 1};
    *graph = NULL;
    if (!f) {
        mlir_refuse(&w, "expected a function @main, or one function");
        return w.status;
    }
    char *name = hg_arena_text(&module->arena, module->name.text, module->name.length);
    w.env = mlir_make(&w, (size_t)(module->values.count + 1) * sizeof *w.env);
    w.g = name ? hg_graph_create(name) : NULL;
    if (!w.g) mlir_no_memory(&w);
    if (w.status == HG_OK) lower_main(&w, f);
    if (w.status == HG_OK && !w.endless) w.status = mlir_keep_source(module, f, w.g);
    if (w.status == HG_OK)
        *graph = w.g;
    else
        hg_graph_release(w.g);
    return w.status;
}
