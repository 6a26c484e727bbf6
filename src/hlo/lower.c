/* From operations to calls of a graph. What can wait waits (mlir_tensor); mlir_array makes an
 * array: between programs by a lane program of its own, in a program that is one lane's loops by a
 * loop. */
#include "hlo/operations.h"
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

enum { MOST_COST = 40, MOST_CHAIN = 60 };
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

static bool is_small(mlir_lower *w, const mlir_type *type) {
    uint64_t count;
    if (mlir_elements(type, &count)) return true;
    mlir_refuse(w, "a tensor of more than 2^40 elements");
    return false;
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
        first[i].one = first[i].kind == MLIR_SPLAT;
        first[i].kind = MLIR_ARRAY;
        first[i].storage = to[i];
        first[i].cost = first[i].chain = 0;
    }
    return t;
}

/* ---- the walk ---- */

static void refuse_types(mlir_lower *w, const mlir_tensor *t, uint32_t i) {
    char given[240], wanted[240];
    mlir_refuse(w, "operand %u is %s, the result %s", (unsigned)i,
                mlir_type_text(&t->in[i]->type, given), mlir_type_text(&t->type, wanted));
}

/* Elements of an operation on numbers by themselves have one shape; the predicate of select and the
 * bounds of clamp may be scalars. */
static void check_dims(mlir_lower *w, const mlir_op *op, const mlir_tensor *t) {
    const uint32_t scalars = mlir_is(&op->name, "stablehlo.select")  ? 1
                             : mlir_is(&op->name, "stablehlo.clamp") ? 5
                                                                     : 0; /* a bit an operand */
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++)
        if (!mlir_same_dims(&t->in[i]->type, &t->type) &&
            !(i < 3 && scalars >> i & 1 && t->in[i]->type.rank == 0))
            refuse_types(w, t, i);
}

/* What elements the row's first operands have where the result has these; of i1 where its
 * expression begins as that of a truth does, and the first one of select. */
static void check_elements(mlir_lower *w, const mlir_op *op, const mlir_tensor *t) {
    mlir_type wanted = t->type;
    bool maps = op->row->how == MLIR_MAPS, asks = maps && !strncmp(op->row->text[0], "u8(", 3),
         selects = mlir_is(&op->name, "stablehlo.select");
    if (asks && !(wanted.truth && !wanted.complex)) refuse_types(w, t, 0);
    if (maps && t->in[0]->type.complex && mlir_is(&op->name, "stablehlo.abs")) {
        if (wanted.complex) refuse_types(w, t, 0);
        wanted.complex = true;
    }
    for (uint32_t i = 0; i < op->operand_count && i < op->row->alike && !asks; i++) {
        const mlir_type *in = &t->in[i]->type;
        bool fits = selects && i == 0 ? in->truth : mlir_same_elements(in, &wanted);
        if (!fits) refuse_types(w, t, i);
    }
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

/* A reshape of an array is the array. */
static bool is_alias(mlir_lower *w, const mlir_op *op, mlir_tensor *t) {
    uint64_t from, to;
    if (op->row->element != mlir_element_of_reshape) return false;
    if (!mlir_elements(&t->in[0]->type, &from) || !mlir_elements(&t->type, &to) || from != to) {
        mlir_refuse(w, "expected as many elements");
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
    if (reads_shape_of_result(op)) check_dims(w, op, t);
    if (w->status == HG_OK) check_elements(w, op, t);
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
    mlir_storage *s = mlir_add_storage(w, &t->type);
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
    mlir_storage *s = mlir_add_storage(w, type);
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
