/* Recorded operations: calls in order over storages. A record becomes an array graph, compiled once
 * for what it says; one call of a program alone is launched as it is.
 * Must not know: what operations mean. */
#include "tensor/tensor.h"
#include <stdio.h>
#include <string.h>

/* How an instruction's array lies in its storage: it is all of it, or an offset and extents say it,
 * or strides too. */
typedef enum view_kind { VIEW_ITSELF, VIEW_PACKED, VIEW_STRIDED } view_kind;

/* Arguments, results and calls have no gaps between members: their bytes are the record's key.
 * Words and names are told by where they stand. */
typedef struct record_arg {
    const char *name, *text;
    uint64_t number;       /* of a flag; of a scalar its bytes */
    uint32_t storage;      /* of arrays */
    uint32_t first, count; /* of an instruction's array of that many axes its view's items; of a
                              size an item; of a tuple `count` of the tuples */
    uint8_t kind;          /* tensor_arg_kind */
    uint8_t type, view, unused;
} record_arg;

typedef struct record_result {
    const char *operand;
    uint32_t storage, first, rank, unused; /* items: extents */
} record_result;

typedef struct record_node {
    const char *instruction;
    hg_program *program;
    uint32_t first_arg, arg_count, first_result, result_count;
} record_node;
_Static_assert(sizeof(record_arg) == 2 * sizeof(char *) + 24 &&
                   sizeof(record_result) == sizeof(char *) + 16 &&
                   sizeof(record_node) == 2 * sizeof(char *) + 16,
               "gaps have any bytes");

typedef struct record_storage {
    tensor_storage *storage; /* retained */
    uint32_t result;         /* of the results: that makes it; UINT32_MAX: it is an input */
    bool live;               /* a result that somebody holds, as the run began */
    bool factor;             /* an input that is the second factor of a product of matrices */
    bool constant;           /* such a one, bound as a constant of the graph */
    hg_value value;          /* while a graph is built */
} record_storage;

typedef HG_VEC(uint64_t) record_items;

struct tensor_record {
    tensor_state *state;
    bool scope; /* extents are numbers of the graph; else symbols, so that other shapes need no
                   compiling */
    HG_VEC(record_node) nodes;
    HG_VEC(record_arg) args;
    HG_VEC(record_result) results;
    record_items items;  /* extents of the graph, or symbols */
    record_items tuples; /* numbers that are neither */
    HG_VEC(record_storage) storages;
    uint32_t *slots; /* a hash table of inputs: number + 1 */
    uint32_t slot_count;
    tensor_spare spare;
    hg_text key;         /* what it says, while it runs: its memory is used again */
    tensor_record *next; /* of spare ones */
};

/* ---- adding ---- */

/* Room for one more element, which the caller writes; NULL: out of memory. A record that was used
 * before has room. */
#define PUSH(v) ((v)->count < (v)->capacity ? &(v)->data[(v)->count++] : hg_vec_push(v))

/* How much a record has. */
typedef struct record_size {
    uint64_t args, items, tuples, results, storages;
} record_size;

static uint32_t slot_of(const tensor_record *r, const tensor_storage *s) {
    uint64_t h = (uint64_t)(uintptr_t)s * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(h >> 40) & (r->slot_count - 1);
    while (r->slots[at] && r->storages.data[r->slots[at] - 1].storage != s)
        at = (at + 1) & (r->slot_count - 1);
    return at;
}

static bool grow_slots(tensor_record *r) {
    uint32_t *old = r->slots, had = r->slot_count;
    r->slots = hg_calloc(had ? had * 2 : 16, sizeof *r->slots);
    if (!r->slots) {
        r->slots = old;
        return false;
    }
    r->slot_count = had ? had * 2 : 16;
    for (uint32_t i = 0; i < had; i++)
        if (old[i]) r->slots[slot_of(r, r->storages.data[old[i] - 1].storage)] = old[i];
    hg_free(old);
    return true;
}

static hg_status add_storage(tensor_record *r, tensor_storage *s, uint32_t result,
                             uint32_t *number) {
    record_storage *entry = PUSH(&r->storages);
    if (!entry) return hg_fail_memory();
    *entry = (record_storage){.storage = tensor_storage_retain(s), .result = result};
    *number = (uint32_t)r->storages.count - 1;
    return HG_OK;
}

/* Nothing makes it any more: whether it has been made. */
static hg_status check_elements(const tensor_storage *s) {
    if (!s->failed) return HG_OK;
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "%s",
                   s->why ? s->why : "out of memory, also to tell where");
}

static hg_status input_number(tensor_record *r, tensor_storage *s, uint32_t *number) {
    if (hg_atomic_load(&s->record, HG_ACQUIRE) == r) {
        *number = s->number;
        return HG_OK;
    }
    HG_TRY(check_elements(s)); /* another thread may just have run the record that makes it */
    if (r->storages.count * 2 >= r->slot_count && !grow_slots(r)) return hg_fail_memory();
    uint32_t *slot = &r->slots[slot_of(r, s)];
    if (!*slot) {
        HG_TRY(add_storage(r, s, UINT32_MAX, number));
        *slot = *number + 1;
    }
    *number = *slot - 1;
    return HG_OK;
}

static bool add_items(record_items *to, const uint64_t *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *item = PUSH(to);
        if (!item) return false;
        *item = items[i];
    }
    return true;
}

static view_kind view_of(const tensor_record *r, const record_storage *s, const hg_tensor *t) {
    if (!tensor_is_packed(t)) return VIEW_STRIDED;
    if (t->offset || tensor_numel(t->shape, t->rank) != s->storage->count) return VIEW_PACKED;
    if (s->result == UINT32_MAX) return t->rank == 1 ? VIEW_ITSELF : VIEW_PACKED;
    const record_result *made = &r->results.data[s->result];
    bool same = made->rank == t->rank &&
                memcmp(&r->items.data[made->first], t->shape, t->rank * sizeof *t->shape) == 0;
    return same ? VIEW_ITSELF : VIEW_PACKED;
}

/* The items of a view. Of an axis of one element a stride says nothing. */
static bool add_view(tensor_record *r, const hg_tensor *t, view_kind kind) {
    uint64_t strides[HG_TENSOR_AXES];
    if (kind == VIEW_ITSELF) return true;
    if (!add_items(&r->items, &t->offset, 1) || !add_items(&r->items, t->shape, t->rank))
        return false;
    if (kind == VIEW_PACKED) return true;
    for (uint32_t d = 0; d < t->rank; d++)
        strides[d] = t->shape[d] > 1 ? (uint64_t)t->strides[d] : 0;
    return add_items(&r->items, strides, t->rank);
}

static hg_status add_array(tensor_record *r, const tensor_work *work, const hg_tensor *t,
                           record_arg *own) {
    HG_TRY(input_number(r, t->storage, &own->storage));
    if (work->program) return HG_OK;
    record_storage *s = &r->storages.data[own->storage];
    if (strcmp(own->name, "b") == 0 && strcmp(work->instruction, "gemm") == 0) s->factor = true;
    view_kind kind = view_of(r, s, t);
    own->view = (uint8_t)kind;
    own->count = t->rank;
    return add_view(r, t, kind) ? HG_OK : hg_fail_memory();
}

static hg_status add_arg(tensor_record *r, const tensor_work *work, const tensor_arg *a) {
    record_arg own = {.name = a->name,
                      .text = a->text,
                      .first = (uint32_t)r->items.count,
                      .kind = (uint8_t)a->kind,
                      .type = a->type};
    bool added = true;
    switch (a->kind) {
    case TENSOR_ARRAY: HG_TRY(add_array(r, work, a->tensor, &own)); break;
    case TENSOR_SIZE: added = add_items(&r->items, &a->number, 1); break;
    case TENSOR_SCALAR: memcpy(&own.number, a->bytes, sizeof own.number); break;
    case TENSOR_FLAG: own.number = a->number; break;
    case TENSOR_TUPLE:
        own.first = (uint32_t)r->tuples.count;
        own.count = a->count;
        added = add_items(&r->tuples, a->items, a->count);
        break;
    case TENSOR_SIZES:
        own.count = a->count;
        added = add_items(&r->items, a->items, a->count);
        break;
    case TENSOR_WORD: break;
    }
    record_arg *to = added ? PUSH(&r->args) : NULL;
    if (!to) return hg_fail_memory();
    *to = own;
    return HG_OK;
}

static hg_status add_result(tensor_record *r, tensor_result *result) {
    record_result own = {
        .operand = result->operand, .first = (uint32_t)r->items.count, .rank = result->rank};
    HG_TRY(tensor_make_of(r->state, result->type, result->shape, result->rank, &r->spare,
                          &result->tensor));
    tensor_storage *s = result->tensor->storage;
    HG_TRY(add_storage(r, s, (uint32_t)r->results.count, &own.storage));
    record_result *to = add_items(&r->items, result->shape, result->rank) ? PUSH(&r->results)
                                                                          : NULL;
    if (!to) return hg_fail_memory();
    *to = own;
    s->number = own.storage;
    hg_atomic_store(&s->record, r, HG_RELEASE);
    return HG_OK;
}

static hg_status add_call(tensor_record *r, const tensor_work *work, const tensor_arg *args,
                          uint32_t arg_count, tensor_result *results, uint32_t result_count) {
    record_node node = {.instruction = work->program ? NULL : work->instruction,
                        .program = work->program,
                        .first_arg = (uint32_t)r->args.count,
                        .arg_count = arg_count,
                        .first_result = (uint32_t)r->results.count,
                        .result_count = result_count};
    for (uint32_t i = 0; i < arg_count; i++) HG_TRY(add_arg(r, work, &args[i]));
    for (uint32_t i = 0; i < result_count; i++) HG_TRY(add_result(r, &results[i]));
    record_node *to = PUSH(&r->nodes);
    if (!to) return hg_fail_memory();
    *to = node;
    return HG_OK;
}

/* What a call that failed had begun to add goes. */
static void cut(tensor_record *r, const record_size *before) {
    r->args.count = before->args;
    r->items.count = before->items;
    r->tuples.count = before->tuples;
    r->results.count = before->results;
    for (uint64_t i = r->storages.count; i-- > before->storages;) {
        tensor_storage *s = r->storages.data[i].storage;
        if (s->record == r) hg_atomic_store(&s->record, NULL, HG_RELEASE);
        r->storages.count = i;
        tensor_storage_release(s);
    }
    if (r->slots) { /* no chain is left broken */
        memset(r->slots, 0, r->slot_count * sizeof *r->slots);
        for (uint64_t i = 0; i < r->storages.count; i++)
            if (r->storages.data[i].result == UINT32_MAX)
                r->slots[slot_of(r, r->storages.data[i].storage)] = (uint32_t)i + 1;
    }
}

/* A record of the state that nobody uses; NULL: out of memory. */
static tensor_record *take_record(tensor_state *state) {
    hg_mutex_lock(&state->lock);
    tensor_record *r = state->spare;
    if (r) state->spare = r->next;
    hg_mutex_unlock(&state->lock);
    if (!r) r = hg_calloc(1, sizeof *r);
    if (r) r->state = state;
    return r;
}

/* What tensors of hg_tensor_lazy record; NULL: nothing so far. */
static tensor_record *lazy_of(const tensor_state *state) {
    return hg_atomic_load(&state->lazy, HG_ACQUIRE);
}

enum { MOST_RESULTS = 8, MOST_LAZY = 1024 };

/* Outside of a scope, with nothing recorded before it, a program is launched by itself. */
static hg_status call_at_once(tensor_run *run, const tensor_work *work, const tensor_arg *args,
                              uint32_t arg_count, tensor_result *results, uint32_t result_count) {
    tensor_target targets[MOST_RESULTS];
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < result_count && status == HG_OK; i++) {
        status = tensor_make(run->state, results[i].type, results[i].shape, results[i].rank,
                             &results[i].tensor);
        if (status != HG_OK) break;
        targets[i] = (tensor_target){results[i].operand, results[i].tensor->storage};
        status = tensor_storage_allocate(targets[i].storage, false);
    }
    return status == HG_OK ? tensor_launch(run->state, work, args, arg_count, targets, result_count)
                           : status;
}

hg_status tensor_call(tensor_run *run, const tensor_work *work, const tensor_arg *args,
                      uint32_t arg_count, tensor_result *results, uint32_t result_count) {
    tensor_record *r = run->record;
    for (uint32_t i = 0; i < result_count; i++) results[i].tensor = NULL;
    for (uint32_t i = 0; i < arg_count; i++) {
        if (args[i].kind != TENSOR_ARRAY) continue;
        tensor_storage *s = args[i].tensor->storage;
        HG_TRY(tensor_place(s, run->state));
        if (!r || hg_atomic_load(&s->record, HG_ACQUIRE) != r) HG_TRY(tensor_ready(s));
    }
    hg_status status = HG_OK;
    bool at_once = run->own && work->program && (!r || !r->nodes.count) &&
                   result_count <= MOST_RESULTS;
    if (!r && !at_once) {
        r = run->record = take_record(run->state);
        if (!r) return hg_fail_memory();
    }
    if (at_once) {
        status = call_at_once(run, work, args, arg_count, results, result_count);
    } else {
        if (!run->own) hg_mutex_lock(&run->state->recording);
        record_size before = {r->args.count, r->items.count, r->tuples.count, r->results.count,
                              r->storages.count};
        status = add_call(r, work, args, arg_count, results, result_count);
        if (status != HG_OK) cut(r, &before);
        if (status == HG_OK && r == lazy_of(run->state) && r->nodes.count >= MOST_LAZY)
            status = tensor_record_run(r);
        if (!run->own) hg_mutex_unlock(&run->state->recording);
    }
    if (status == HG_OK) return HG_OK;
    for (uint32_t i = 0; i < result_count; i++) {
        hg_tensor_release(results[i].tensor);
        results[i].tensor = NULL;
    }
    return status;
}

/* Which results somebody holds; others may let go of them while the record runs, so it is asked
 * once. Nobody takes one that only the record has. True: there is one. */
static bool see_live(tensor_record *r) {
    bool any = false;
    for (uint64_t i = 0; i < r->storages.count; i++) {
        record_storage *s = &r->storages.data[i];
        s->live = s->result != UINT32_MAX &&
                  hg_atomic_load(&s->storage->references, HG_ACQUIRE) > 1;
        any |= s->live;
    }
    return any;
}

/* ---- extents of a graph ---- */

enum { MOST_SYMBOLS = 56 };
static const char *const SYMBOLS[MOST_SYMBOLS] = {
#define EIGHT(t) t "0", t "1", t "2", t "3", t "4", t "5", t "6", t "7"
    EIGHT("e"),  EIGHT("e1"), EIGHT("e2"), EIGHT("e3"),
    EIGHT("e4"), EIGHT("e5"), EIGHT("e6")
#undef EIGHT
};
/* Numbers that are symbols of the graph. Equal numbers are one symbol. */
typedef struct numbers {
    bool literal; /* none is */
    uint64_t values[MOST_SYMBOLS];
    uint32_t count;
} numbers;

static hg_dim dim_of(numbers *n, uint64_t value) {
    if (n->literal || value <= 1) return hg_dim_of(value);
    uint32_t i = 0;
    while (i < n->count && n->values[i] != value) i++;
    if (i == MOST_SYMBOLS) return hg_dim_of(value);
    if (i == n->count) n->values[n->count++] = value;
    return hg_dim_param(SYMBOLS[i]);
}

/* ---- what a record says, as a key ---- */

static void put(hg_text *key, const void *bytes, uint64_t count) {
    if (count) hg_text_add(key, bytes, (size_t)count);
}

static void put_dim(hg_text *key, numbers *n, uint64_t value) {
    hg_dim dim = dim_of(n, value);
    uint64_t word = dim.param ? (uint64_t)(uintptr_t)dim.param : dim.value << 1 | 1;
    put(key, &word, sizeof word);
}

static void put_storages(hg_text *key, const tensor_record *r, numbers *n) {
    for (uint64_t i = 0; i < r->storages.count; i++) {
        const record_storage *s = &r->storages.data[i];
        uint8_t is[] = {s->storage->type, s->constant, s->live, s->result == UINT32_MAX};
        put(key, is, sizeof is);
        if (s->result == UINT32_MAX) put_dim(key, n, s->storage->count);
    }
}

static void put_record(hg_text *key, const tensor_record *r, numbers *n) {
    /* Items are numbers or words of symbols: which is told first. */
    const uint64_t counts[] = {n->literal,       r->storages.count, r->nodes.count, r->args.count,
                               r->results.count, r->items.count,    r->tuples.count};
    put(key, counts, sizeof counts);
    put_storages(key, r, n);
    put(key, r->nodes.data, r->nodes.count * sizeof *r->nodes.data);
    put(key, r->args.data, r->args.count * sizeof *r->args.data);
    put(key, r->results.data, r->results.count * sizeof *r->results.data);
    put(key, r->tuples.data, r->tuples.count * sizeof *r->tuples.data);
    if (n->literal)
        put(key, r->items.data, r->items.count * sizeof *r->items.data);
    else
        for (uint64_t i = 0; i < r->items.count; i++) put_dim(key, n, r->items.data[i]);
}

/* ---- the graph ---- */

static hg_status write_inputs(tensor_record *r, hg_graph *g, numbers *n) {
    for (uint32_t i = 0; i < n->count; i++) HG_TRY(hg_graph_extent(g, SYMBOLS[i]));
    for (uint64_t i = 0; i < r->storages.count; i++) {
        record_storage *s = &r->storages.data[i];
        char name[24];
        if (s->result != UINT32_MAX) continue;
        hg_dim dim = dim_of(n, s->storage->count);
        snprintf(name, sizeof name, "x%u", (unsigned)i);
        hg_type type = (hg_type)s->storage->type;
        HG_TRY(s->constant ? hg_graph_constant(g, name, type, &dim, 1, NULL, &s->value)
                           : hg_graph_input(g, name, type, &dim, 1, &s->value));
    }
    return HG_OK;
}

static hg_status write_view(const tensor_record *r, hg_graph *g, const record_arg *a, numbers *n,
                            hg_value *value) {
    hg_dim dims[HG_TENSOR_AXES], strides[HG_TENSOR_AXES];
    const uint64_t *items = &r->items.data[a->first];
    *value = r->storages.data[a->storage].value;
    if (a->view == VIEW_ITSELF) return HG_OK;
    hg_dim offset = dim_of(n, items[0]);
    for (uint32_t d = 0; d < a->count; d++) {
        dims[d] = dim_of(n, items[1 + d]);
        if (a->view == VIEW_STRIDED) strides[d] = dim_of(n, items[1 + a->count + d]);
    }
    return a->view == VIEW_PACKED
               ? hg_graph_view(g, NULL, *value, offset, dims, a->count, value)
               : hg_graph_strided_view(g, NULL, *value, offset, dims, strides, a->count, value);
}

static void literal(const record_arg *a, char text[40]) {
    hg_type type = (hg_type)a->type;
    double value;
    uint64_t bits = 0;
    uint32_t above = 64 - 8 * (uint32_t)hg_type_size_bytes(type);
    HG_IGNORE(hg_type_to_f64(type, &a->number, &value)); /* it is a type */
    memcpy(&bits, &a->number, (size_t)hg_type_size_bytes(type));
    if (hg_type_is_float(type))
        snprintf(text, 40, "%.17g", value);
    else if (value < 0)
        snprintf(text, 40, "-%llu", (unsigned long long)(((UINT64_C(0) - bits) << above) >> above));
    else
        snprintf(text, 40, "%llu", (unsigned long long)bits);
}

enum { MOST_PARTS = 64 };

static hg_status many_operands(const record_node *node) {
    return hg_fail(HG_ERROR_INTERNAL, "%s has too many operands",
                   node->instruction ? node->instruction : "a program");
}

static hg_status write_node(tensor_record *r, hg_graph *g, const record_node *node, numbers *n) {
    hg_graph_arg args[MOST_PARTS] = {{0}};
    hg_graph_made made[MOST_PARTS] = {{0}};
    hg_dim sizes[MOST_PARTS], tuples[MOST_PARTS];
    char texts[MOST_PARTS][40];
    uint32_t used = 0;
    if (node->arg_count > MOST_PARTS || node->result_count > MOST_PARTS) return many_operands(node);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        const record_arg *a = &r->args.data[node->first_arg + i];
        static const hg_graph_arg_kind kinds[] = {HG_GRAPH_ARRAY, HG_GRAPH_SIZE, HG_GRAPH_NUMBER,
                                                  HG_GRAPH_WORD,  HG_GRAPH_FLAG, HG_GRAPH_TUPLE,
                                                  HG_GRAPH_TUPLE};
        args[i] = (hg_graph_arg){.name = a->name,
                                 .kind = kinds[a->kind],
                                 .dims = &sizes[i],
                                 .count = 1,
                                 .flag = a->number != 0,
                                 .text = a->text};
        sizes[i] = a->kind == TENSOR_SIZE ? dim_of(n, r->items.data[a->first]) : hg_dim_of(0);
        if (a->kind == TENSOR_SCALAR && (a->type == HG_TYPE_U32 || a->type == HG_TYPE_U64)) {
            uint64_t value = 0; /* to a graph a parameter of these types is a size */
            memcpy(&value, &a->number, a->type == HG_TYPE_U32 ? 4 : 8);
            args[i].kind = HG_GRAPH_SIZE;
            sizes[i] = hg_dim_of(value);
        } else if (a->kind == TENSOR_SCALAR) {
            literal(a, texts[i]);
            args[i].text = texts[i];
        }
        if (a->kind == TENSOR_ARRAY && node->program)
            args[i].value = r->storages.data[a->storage].value;
        else if (a->kind == TENSOR_ARRAY)
            HG_TRY(write_view(r, g, a, n, &args[i].value));
        if (a->kind != TENSOR_TUPLE && a->kind != TENSOR_SIZES) continue;
        if (used + a->count > MOST_PARTS) return many_operands(node);
        args[i].dims = &tuples[used];
        args[i].count = a->count;
        for (uint32_t k = 0; k < a->count; k++)
            tuples[used++] = a->kind == TENSOR_TUPLE ? hg_dim_of(r->tuples.data[a->first + k])
                                                     : dim_of(n, r->items.data[a->first + k]);
    }
    for (uint32_t i = 0; i < node->result_count; i++)
        made[i].operand = r->results.data[node->first_result + i].operand;
    HG_TRY(node->program ? hg_graph_call_program(g, node->program, args, node->arg_count, made,
                                                 node->result_count)
                         : hg_graph_call(g, node->instruction, args, node->arg_count, made,
                                         node->result_count));
    for (uint32_t i = 0; i < node->result_count; i++)
        r->storages.data[r->results.data[node->first_result + i].storage].value = made[i].value;
    return HG_OK;
}

static hg_status write_graph(tensor_record *r, hg_graph *g, numbers *n) {
    HG_TRY(write_inputs(r, g, n));
    for (uint64_t i = 0; i < r->nodes.count; i++) HG_TRY(write_node(r, g, &r->nodes.data[i], n));
    for (uint64_t i = 0; i < r->storages.count; i++) {
        const record_storage *s = &r->storages.data[i];
        char name[24];
        snprintf(name, sizeof name, "y%u", (unsigned)i);
        if (s->live) HG_TRY(hg_graph_output(g, s->value, name));
    }
    return HG_OK;
}

static hg_status compile(tensor_record *r, numbers *n, hg_graph_executable **executable) {
    hg_graph *g = hg_graph_create("tensors");
    if (!g) return hg_fail_memory();
    hg_status status = write_graph(r, g, n);
    if (status == HG_OK) status = hg_graph_compile(r->state->backend, g, NULL, executable);
    hg_graph_release(g);
    return status;
}

/* ---- running ---- */

enum { MOST_GRAPHS = 512 };

static void drop_steady(tensor_steady *s) {
    hg_graph_binding_destroy(s->bound.binding);
    hg_free(s->bound.handles);
    *s = (tensor_steady){0};
}

static tensor_graph *oldest(tensor_state *state) {
    tensor_graph *found = state->graphs.data[0];
    for (uint64_t i = 1; i < state->graphs.count; i++)
        if (state->graphs.data[i]->used < found->used) found = state->graphs.data[i];
    return found;
}

/* The state's lock is held. */
static hg_status graph_of(tensor_record *r, hg_text *key, numbers *n, tensor_graph **graph) {
    tensor_state *state = r->state;
    for (uint64_t i = 0; i < state->graphs.count; i++) {
        tensor_graph *g = state->graphs.data[i];
        if (g->length != key->length || memcmp(g->key, key->data, key->length) != 0) continue;
        *graph = g;
        g->used = ++state->uses;
        return HG_OK;
    }
    tensor_graph *g = NULL, **place = NULL;
    if (state->graphs.count < MOST_GRAPHS) {
        g = hg_calloc(1, sizeof *g);
        place = g ? hg_vec_push(&state->graphs) : NULL;
        if (!place) {
            hg_free(g);
            return hg_fail_memory();
        }
        *place = g;
    } else {
        g = oldest(state);
        for (uint32_t k = 0; k < TENSOR_STEADY; k++)
            if (state->steady[k].graph == g->number) drop_steady(&state->steady[k]);
        for (uint32_t k = 0; k < TENSOR_BINDINGS; k++) {
            hg_graph_binding_destroy(g->bound[k].binding);
            hg_free(g->bound[k].handles);
        }
        hg_graph_executable_destroy(g->executable);
        hg_free(g->key);
        *g = (tensor_graph){0};
    }
    HG_TRY(compile(r, n, &g->executable)); /* an entry without a key is found by nobody */
    g->key = key->data;
    g->length = key->length;
    g->used = g->number = ++state->uses;
    *key = (hg_text){0};
    *graph = g;
    return HG_OK;
}

/* Memory for the results that somebody holds. */
static hg_status allocate_results(const tensor_record *r) {
    for (uint64_t i = 0; i < r->storages.count; i++) {
        const record_storage *s = &r->storages.data[i];
        if (s->live) HG_TRY(tensor_storage_allocate(s->storage, false));
    }
    return HG_OK;
}

static hg_status set_params(const tensor_record *r, const numbers *n, hg_params *params) {
    for (uint32_t i = 0; i < n->count; i++)
        HG_TRY(hg_params_set_scalar(params, SYMBOLS[i], HG_TYPE_U64, &n->values[i]));
    for (uint64_t i = 0; i < r->storages.count; i++) {
        const record_storage *s = &r->storages.data[i];
        char name[24];
        bool made = s->result != UINT32_MAX;
        if (made && !s->live) continue;
        snprintf(name, sizeof name, "%c%u", made ? 'y' : 'x', (unsigned)i);
        HG_TRY(hg_params_set_buffer(params, name, s->storage->buffer));
    }
    return HG_OK;
}

/* What a binding depends on beside the graph: its buffers' handles, what constants have, and its
 * symbols' values. NULL: out of memory. */
static uint64_t *handles_of(const tensor_record *r, const numbers *n, uint64_t *count) {
    uint64_t *handles = hg_alloc((size_t)(2 * r->storages.count + n->count + 1) * sizeof *handles);
    *count = 0;
    if (!handles) return NULL;
    for (uint64_t i = 0; i < r->storages.count; i++) {
        const record_storage *s = &r->storages.data[i];
        handles[(*count)++] = s->storage->buffer.handle;
        if (s->constant) handles[(*count)++] = hg_atomic_load(&s->storage->contents, HG_RELAXED);
    }
    for (uint32_t i = 0; i < n->count; i++) handles[(*count)++] = n->values[i];
    return handles;
}

/* Takes a binding that is kept for that; NULL: it is for others. */
static hg_graph_binding *take(tensor_bound *b, const uint64_t *handles, uint64_t count) {
    if (!b->binding || b->count != count ||
        memcmp(b->handles, handles, (size_t)count * sizeof *handles) != 0)
        return NULL;
    hg_graph_binding *binding = b->binding;
    hg_free(b->handles);
    *b = (tensor_bound){0};
    return binding;
}

/* Takes a binding that is kept; the lock is held. */
static hg_graph_binding *take_bound(tensor_state *state, tensor_graph *g, const uint64_t *handles,
                                    uint64_t count) {
    hg_graph_binding *binding = NULL;
    for (uint32_t k = 0; k < TENSOR_BINDINGS && !binding; k++)
        binding = take(&g->bound[k], handles, count);
    for (uint32_t k = 0; k < TENSOR_STEADY && !binding; k++)
        if (state->steady[k].graph == g->number) {
            binding = take(&state->steady[k].bound, handles, count);
            if (!binding) continue;
            state->steady[k].again = true;
            hg_atomic_store(&state->wasted, 0, HG_RELAXED);
        }
    return binding;
}

static hg_status bind(tensor_record *r, const numbers *n, tensor_graph *g,
                      hg_graph_binding **binding) {
    hg_params *params = hg_params_create();
    if (!params) return hg_fail_memory();
    hg_status status = set_params(r, n, params);
    if (status == HG_OK) status = hg_graph_bind(g->executable, params, binding);
    hg_params_destroy(params);
    return status;
}

/* A binding for the record, and its graph's key where it is kept. */
static hg_status find_binding(tensor_record *r, hg_text *key, numbers *n, const uint64_t *handles,
                              uint64_t count, hg_graph_binding **binding, uint64_t *graph) {
    tensor_graph *g = NULL;
    hg_mutex_lock(&r->state->lock);
    hg_status status = graph_of(r, key, n, &g);
    if (status == HG_OK) {
        *graph = g->number;
        *binding = take_bound(r->state, g, handles, count);
        if (!*binding) status = bind(r, n, g, binding);
    }
    hg_mutex_unlock(&r->state->lock);
    return status;
}

/* Where a binding with constants goes: its own place, an empty one, or that of the one that was
 * not used for the longest. The lock is held. */
static tensor_bound *steady_place(tensor_state *state, uint64_t graph) {
    tensor_steady *to = &state->steady[0];
    for (uint32_t k = 0; k < TENSOR_STEADY; k++) {
        tensor_steady *s = &state->steady[k];
        if (s->graph == graph && !s->bound.binding && s->used) {
            to = s; /* it was taken from there */
            break;
        }
        if (s->used < to->used) to = s;
    }
    if (to->graph != graph || to->bound.binding) {
        uint32_t wasted = hg_atomic_load(&state->wasted, HG_RELAXED);
        if (to->bound.binding)
            hg_atomic_store(&state->wasted, to->again ? 0 : wasted + 1, HG_RELAXED);
        to->again = false;
    }
    to->graph = graph;
    to->used = state->uses;
    return &to->bound;
}

/* Keeps a binding with its graph, where that is still known. */
static void keep_binding(tensor_state *state, uint64_t graph, hg_graph_binding *binding,
                         uint64_t *handles, uint64_t count, bool steady) {
    tensor_bound old = {binding, handles, count};
    hg_mutex_lock(&state->lock);
    for (uint64_t i = 0; i < state->graphs.count; i++) {
        tensor_graph *g = state->graphs.data[i];
        if (g->number != graph) continue;
        tensor_bound *to = &g->bound[g->used % TENSOR_BINDINGS];
        for (uint32_t k = 0; k < TENSOR_BINDINGS; k++)
            if (!g->bound[k].binding) to = &g->bound[k];
        if (steady) to = steady_place(state, graph);
        tensor_bound kept = *to;
        *to = old;
        old = kept;
        break;
    }
    hg_mutex_unlock(&state->lock);
    hg_graph_binding_destroy(old.binding);
    hg_free(old.handles);
}

/* Which inputs are constants of the graph: weights of products in scopes, unless bindings with
 * them were of no use. True: one is. */
static bool see_constants(tensor_record *r) {
    bool any = false, may = r->scope && !r->state->appends.queue &&
                            hg_atomic_load(&r->state->wasted, HG_RELAXED) < TENSOR_STEADY;
    for (uint64_t i = 0; i < r->storages.count; i++) {
        record_storage *s = &r->storages.data[i];
        s->constant = may && s->factor && s->result == UINT32_MAX &&
                      tensor_storage_steady(s->storage);
        any |= s->constant;
    }
    return any;
}

static void see_factors(const tensor_record *r) {
    for (uint64_t i = 0; i < r->storages.count && r->scope; i++)
        if (r->storages.data[i].factor) tensor_storage_read(r->storages.data[i].storage);
}

/* Behind what was appended before, whose error it then has. */
static hg_status append(tensor_state *state, hg_graph_binding *binding) {
    hg_event *signal = NULL;
    HG_TRY(hg_graph_binding_submit(binding, state->appends.queue, &state->appends.last,
                                   state->appends.last ? 1 : 0, &signal));
    hg_event_destroy(state->appends.last);
    state->appends.last = signal;
    return HG_OK;
}

static hg_status run_graph(tensor_record *r) {
    numbers n = {.literal = r->scope};
    hg_graph_binding *binding = NULL;
    uint64_t count, graph = 0, *handles = NULL;
    HG_TRY(allocate_results(r));
    bool steady = see_constants(r);
    r->key.length = 0;
    r->key.failed = false;
    put_record(&r->key, r, &n);
    handles = handles_of(r, &n, &count);
    hg_status status = r->key.failed || !handles ? hg_fail_memory() : HG_OK;
    if (status == HG_OK) status = find_binding(r, &r->key, &n, handles, count, &binding, &graph);
    if (status == HG_OK)
        status = r->state->appends.queue ? append(r->state, binding)
                                         : hg_graph_binding_launch(binding);
    hg_error kept = *hg_error_record();
    if (status == HG_OK) {
        keep_binding(r->state, graph, binding, handles, count, steady);
        see_factors(r);
    } else {
        hg_graph_binding_destroy(binding);
        hg_free(handles);
    }
    *hg_error_record() = kept;
    return status;
}

/* The record is empty again. */
static void settle(tensor_record *r, hg_status status) {
    const char *message = status == HG_OK ? NULL : hg_error_record()->message;
    for (uint64_t i = 0; i < r->storages.count; i++) {
        tensor_storage *s = r->storages.data[i].storage;
        if (r->storages.data[i].result != UINT32_MAX) {
            if (message) {
                s->failed = true;
                s->why = hg_alloc(strlen(message) + 1);
                if (s->why) memcpy(s->why, message, strlen(message) + 1);
            }
            hg_atomic_store(&s->record, NULL, HG_RELEASE);
        }
        tensor_storage_spare(s, &r->spare);
    }
    r->nodes.count = r->args.count = r->results.count = r->items.count = 0;
    r->tuples.count = r->storages.count = 0;
    if (r->slots) memset(r->slots, 0, r->slot_count * sizeof *r->slots);
}

hg_status tensor_record_run(tensor_record *r) {
    hg_status status = HG_OK;
    if (!r->nodes.count) return HG_OK;
    if (!r->state->executor)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor's executor is destroyed");
    else if (see_live(r))
        status = run_graph(r);
    hg_error kept = *hg_error_record();
    settle(r, status);
    *hg_error_record() = kept;
    return status;
}

hg_status tensor_ready(tensor_storage *s) {
    tensor_state *state = tensor_state_at(s);
    hg_status status = HG_OK;
    if (!state) return HG_OK;
    if (!state->executor)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor's executor is destroyed");
    if (hg_atomic_load(&s->record, HG_ACQUIRE)) {
        hg_mutex_lock(&state->recording);
        if (s->record) status = tensor_record_run(s->record);
        hg_mutex_unlock(&state->recording);
    }
    return status == HG_OK ? check_elements(s) : status;
}

hg_status hg_tensor_submit(const hg_tensor *t, hg_event **signal) {
    HG_ENTRY;
    if (!t || !signal) return hg_null_argument(t ? "signal" : "tensor");
    *signal = NULL;
    tensor_state *state = tensor_state_at(t->storage);
    if (!state || !state->appends.queue)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "the tensor's executor has no queue: hg_executor_create_on_queue makes one");
    HG_TRY(tensor_ready(t->storage));
    hg_mutex_lock(&state->recording);
    *signal = state->appends.last;
    state->appends.last = NULL;
    hg_mutex_unlock(&state->recording);
    return *signal ? HG_OK : hg_queue_submit(state->appends.queue, NULL, 0, NULL, 0, signal);
}

/* ---- scopes ---- */

struct hg_tensor_scope {
    tensor_record *record;
    struct hg_tensor_scope *outer; /* of this thread */
};
static HG_THREAD_LOCAL hg_tensor_scope *innermost;

/* Whether a record reads it, or memory of the caller that may be the same. */
static bool reads(const tensor_record *r, const tensor_storage *s) {
    for (uint64_t i = 0; i < r->storages.count; i++) {
        const tensor_storage *other = r->storages.data[i].storage;
        if (other == s || ((s->borrowed || s->host) && (other->borrowed || other->host)))
            return true;
    }
    return false;
}

static hg_status run_if_reads(tensor_record *r, const tensor_storage *s) {
    hg_status status = HG_OK;
    hg_mutex_lock(&r->state->recording);
    if (reads(r, s)) status = tensor_record_run(r);
    hg_mutex_unlock(&r->state->recording);
    return status;
}

hg_status tensor_writable(tensor_storage *s) {
    HG_TRY(tensor_ready(s));
    tensor_state *state = tensor_state_at(s);
    for (hg_tensor_scope *scope = innermost; scope; scope = scope->outer)
        if (scope->record->state == state) HG_TRY(run_if_reads(scope->record, s));
    tensor_record *lazy = state ? lazy_of(state) : NULL;
    if (lazy) HG_TRY(run_if_reads(lazy, s));
    tensor_storage_written(s);
    return HG_OK;
}

static void free_record(tensor_record *r) {
    hg_vec_free(&r->nodes);
    hg_vec_free(&r->args);
    hg_vec_free(&r->results);
    hg_vec_free(&r->items);
    hg_vec_free(&r->tuples);
    hg_vec_free(&r->storages);
    hg_text_free(&r->key);
    tensor_spare_free(&r->spare);
    hg_free(r->slots);
}

static void free_records(tensor_state *state) {
    tensor_record *lazy = lazy_of(state);
    hg_atomic_store(&state->lazy, NULL, HG_RELEASE);
    if (lazy) {
        settle(lazy, hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor's executor is destroyed"));
        lazy->next = state->spare;
        state->spare = lazy;
    }
    while (state->spare) {
        tensor_record *r = state->spare;
        state->spare = r->next;
        free_record(r);
        hg_free(r);
    }
}

static void trim_records(tensor_state *state) {
    for (tensor_record *r = state->spare; r; r = r->next) tensor_spare_free(&r->spare);
}

static void give_record(tensor_state *state, tensor_record *r) {
    hg_mutex_lock(&state->lock);
    r->next = state->spare;
    state->spare = r;
    state->free_records = free_records;
    state->trim_records = trim_records;
    hg_mutex_unlock(&state->lock);
}

/* That of tensors of hg_tensor_lazy. */
static tensor_record *lazy_record(tensor_state *state) {
    tensor_record *found = lazy_of(state);
    if (found) return found;
    tensor_record *r = take_record(state);
    if (!r) return NULL;
    r->scope = true;
    hg_mutex_lock(&state->lock);
    found = lazy_of(state);
    if (!found) {
        found = r;
        r = NULL;
        hg_atomic_store(&state->lazy, found, HG_RELEASE);
        state->free_records = free_records;
    }
    hg_mutex_unlock(&state->lock);
    if (r) { /* another thread was first */
        r->scope = false;
        give_record(state, r);
    }
    return found;
}

static hg_status begin_run(tensor_run *run, hg_executor *executor, bool lazy) {
    tensor_state *state;
    HG_TRY(tensor_state_of(executor, &state));
    *run = (tensor_run){.state = state};
    for (hg_tensor_scope *s = innermost; s && !run->record; s = s->outer)
        if (s->record->state == state) run->record = s->record;
    run->own = !run->record && !lazy && !state->appends.queue;
    if (run->record || run->own) return HG_OK; /* its own one is made by a call that needs it */
    run->record = lazy_record(state);
    return run->record ? HG_OK : hg_fail_memory();
}

hg_status tensor_run_begin(tensor_run *run, hg_executor *executor) {
    return begin_run(run, executor, false);
}

hg_status tensor_run_begin_lazy(tensor_run *run, hg_executor *executor) {
    return begin_run(run, executor, true);
}

hg_status tensor_run_end(tensor_run *run, hg_status status) {
    if (!run->own || !run->record) return status;
    if (!run->record->nodes.count && !run->record->storages.count) {
        give_record(run->state, run->record);
        return status;
    }
    hg_error kept = *hg_error_record();
    if (status == HG_OK) {
        status = tensor_record_run(run->record);
        kept = *hg_error_record();
    } else {
        settle(run->record, status);
    }
    give_record(run->state, run->record);
    *hg_error_record() = kept;
    return status;
}

hg_status hg_scope_begin(hg_executor *executor, hg_tensor_scope **scope) {
    HG_ENTRY;
    tensor_state *state;
    if (!scope) return hg_null_argument("scope");
    *scope = NULL;
    HG_TRY(tensor_state_of(executor, &state));
    hg_tensor_scope *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    s->record = take_record(state);
    if (!s->record) {
        hg_free(s);
        return hg_fail_memory();
    }
    tensor_state_retain(state);
    s->record->scope = true;
    s->outer = innermost;
    innermost = s;
    *scope = s;
    return HG_OK;
}

hg_status hg_scope_end(hg_tensor_scope *s) {
    HG_ENTRY;
    if (!s) return HG_OK;
    if (innermost != s)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "the scope is not the innermost one of this thread");
    innermost = s->outer;
    tensor_state *state = s->record->state;
    hg_mutex_lock(&state->recording);
    hg_status status = tensor_record_run(s->record);
    hg_mutex_unlock(&state->recording);
    s->record->scope = false;
    if (state->executor) {
        give_record(state, s->record);
    } else { /* nobody frees spare ones any more */
        free_record(s->record);
        hg_free(s->record);
    }
    tensor_state_release(state);
    hg_free(s);
    return status;
}
