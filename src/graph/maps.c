/* Maps on the same elements become one lane program: an element is loaded once, goes through all of
 * them in registers, each of which rounds it to its type as the map does, and only what something
 * else reads is stored. A call of a program that is a formula (formula.c) is one of them: its code
 * stands in theirs.
 *
 * Maps that share a value are a group as long as nothing outside has read what the group makes;
 * then, or at the end, the group becomes a call of a program there. Two groups that a map reads
 * become one.
 *
 * A product, a convolution, a norm, a softmax does maps of its result itself, and some of them
 * those that make their input (plan_collective.fuses, .loads). Such maps and the instruction stand
 * together then (graph_call.together), as plan/steps/chain.h says for programs too: the run time
 * makes one kernel of them where the device has one; where not, each is done by itself.
 *
 * Requires: outputs that are results of calls. Provides: nothing that other passes need. */
#include "graph/maps.h"
#include "graph/passes.h"
#include "graph/shapes.h"
#include <string.h>

enum { MOST_GROUPS = 8 };

typedef struct fusion {
    hg_graph *g;
    graph_maps groups[MOST_GROUPS];
    graph_member *members;    /* of each call; elements GRAPH_NOT_SET: of no group */
    uint32_t *group_of;       /* of each value the group that makes it + 1; 0: none */
    uint32_t *reads;          /* of each value how many operands name it, and outputs and views */
    uint32_t together;        /* the last number of calls that stand together */
    HG_VEC(graph_call) calls; /* as they will be */
} fusion;

/* ---- maps around an instruction ---- */

/* Whether its program does maps of its result. */
static bool is_head(const hg_graph *g, const graph_call *c) {
    const plan_collective *of = c->program ? NULL : plan_collective_of((hg_op)c->op);
    return of && of->fuses && c->result_count == 1 &&
           !graph_has_leading(hg_op_get((hg_op)c->op), &g->operands.data[c->first_operand],
                              c->operand_count);
}

static plan_member_array array_of(const hg_graph *g, uint32_t value) {
    const graph_value *v = &g->values.data[value];
    return (plan_member_array){
        .memory = v, .elements = v->strided ? 0 : v->elements + UINT64_C(1), .type = v->type};
}

/* A map or an instruction as plan/steps/chain.h sees it. */
static void describe(const hg_graph *g, const graph_call *c, plan_member *m) {
    *m = (plan_member){
        .of = plan_collective_of((hg_op)c->op), .type = (uint8_t)c->type, .count = 1};
    if (graph_map_inputs(c)) m->fn = kir_fn_of_name(graph_map_name(g, c));
    m->arrays[0] = array_of(g, graph_map_result(g, c));
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const graph_operand *o = &g->operands.data[c->first_operand + k];
        if (o->kind == GRAPH_ARRAY) m->arrays[m->count++] = array_of(g, graph_whole(g, o->number));
    }
    m->arrays[1].once = m->of->loads;
}

/* The value that maps in front of an instruction may make; GRAPH_NOT_SET: none. */
static uint32_t loaded_by(const hg_graph *g, const graph_call *c) {
    plan_member m;
    describe(g, c, &m);
    return m.arrays[1].once ? (uint32_t)((const graph_value *)m.arrays[1].memory - g->values.data)
                            : GRAPH_NOT_SET;
}

/* Each value is what it was made as, wherever the memory plan puts it. */
static plan_relation relation(const void *owner, const void *x, const void *y) {
    (void)owner;
    return x == y ? PLAN_SAME : PLAN_APART;
}

/* Whether the group's calls and this one can be one kernel around an instruction. */
static bool stand_together(const hg_graph *g, const graph_maps *of, const graph_call *call) {
    plan_group group = {
        .relation = relation, .takes = PLAN_TAKES_QUICK, .most_arrays = PLAN_CHAIN_ARRAYS};
    for (uint32_t i = 0; i <= of->count; i++) {
        plan_member m;
        const graph_call *c = i < of->count ? &g->calls.data[of->calls[i]] : call;
        if (c->program) return false;
        describe(g, c, &m);
        if (!plan_group_add(&group, &m)) return false;
    }
    return true;
}

/* ---- groups ---- */

static bool push_call(fusion *f, const graph_call *c) {
    graph_call *to = hg_vec_push(&f->calls);
    if (to) *to = *c;
    return to != NULL;
}

/* A value of the group that something outside reads. */
static bool is_seen(const fusion *f, const graph_maps *of, uint32_t value) {
    uint32_t inside = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        const graph_member *m = &f->members[of->calls[i]];
        for (uint32_t k = 0; k < m->count; k++) inside += m->inputs[k] == value;
    }
    return f->reads[value] > inside;
}

static hg_status make_call(fusion *f, const graph_maps *of, const uint32_t *outputs,
                           uint32_t count) {
    graph_call call;
    HG_TRY(graph_maps_call(f->g, of, outputs, count, &call));
    return push_call(f, &call) ? HG_OK : hg_fail_memory();
}

static uint32_t strided_in(const hg_graph *g, const graph_maps *of) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < of->input_count; i++) count += g->values.data[of->inputs[i]].strided;
    return count;
}

/* The calls as they are, of a group with an instruction together. */
static hg_status push_calls(fusion *f, const graph_maps *of) {
    uint32_t together = of->head && of->count > 1 ? ++f->together : 0;
    for (uint32_t i = 0; i < of->count; i++) {
        graph_call c = f->g->calls.data[of->calls[i]];
        c.together = together;
        if (!push_call(f, &c)) return hg_fail_memory();
    }
    return HG_OK;
}

/* The group becomes a call here. One map of arrays stays what it is. */
static hg_status close_group(fusion *f, uint32_t number) {
    graph_maps *of = &f->groups[number];
    uint32_t outputs[MOST_MAPS], count = 0;
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t value = graph_map_result(f->g, &f->g->calls.data[of->calls[i]]);
        f->group_of[value] = 0;
        if (is_seen(f, of, value)) outputs[count++] = value;
    }
    if (of->head || (of->count == 1 && !strided_in(f->g, of)) ||
        of->input_count + count > MOST_ARRAYS) {
        status = push_calls(f, of);
    } else if (count) {
        status = make_call(f, of, outputs, count);
    }
    of->count = of->input_count = of->numbers = 0;
    return status;
}

static uint32_t find_place(fusion *f, hg_status *status) {
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < MOST_GROUPS; i++) {
        if (!f->groups[i].count) return i;
        if (f->groups[i].first < f->groups[oldest].first) oldest = i;
    }
    *status = close_group(f, oldest);
    return oldest;
}

/* Its number among the inputs; input_count: it is no input. */
static uint32_t input_number(const graph_maps *of, uint32_t value) {
    uint32_t i = 0;
    while (i < of->input_count && of->inputs[i] != value) i++;
    return i;
}

static bool has_input(const graph_maps *of, uint32_t value) {
    return input_number(of, value) < of->input_count;
}

static void add_input(graph_maps *of, uint32_t value, bool own) {
    uint32_t i = input_number(of, value);
    if (i == of->input_count) {
        of->inputs[of->input_count++] = value;
        of->loaded[i] = false;
    }
    of->loaded[i] |= own;
}

/* Arrays that stay visible: at most so many, or the group is not joined. */
static uint32_t arrays_of(const fusion *f, const graph_maps *of) {
    uint32_t arrays = of->input_count;
    for (uint32_t i = 0; i < of->count; i++)
        arrays += is_seen(f, of, graph_map_result(f->g, &f->g->calls.data[of->calls[i]]));
    return arrays;
}

static void add_to_group(fusion *f, uint32_t number, uint32_t call) {
    graph_maps *of = &f->groups[number];
    const graph_member *m = &f->members[call];
    for (uint32_t i = 0; i < m->count; i++)
        if (f->group_of[m->inputs[i]] != number + 1)
            add_input(of, m->inputs[i], (m->own >> i & 1) != 0);
    of->calls[of->count++] = call;
    of->numbers += m->numbers;
    f->group_of[graph_map_result(f->g, &f->g->calls.data[call])] = number + 1;
}

/* With those that the call adds. */
static uint32_t strided_with(const hg_graph *g, const graph_maps *of, const graph_member *m) {
    uint32_t count = strided_in(g, of);
    for (uint32_t k = 0; k < m->count; k++)
        count += g->values.data[m->inputs[k]].strided && !has_input(of, m->inputs[k]);
    return count;
}

/* b's maps behind a's; false: that is too many. */
static bool unite(fusion *f, uint32_t a, uint32_t b) {
    graph_maps *to = &f->groups[a], *from = &f->groups[b];
    if (to->count + from->count >= MOST_MAPS || to->input_count + from->input_count > MOST_ARRAYS)
        return false;
    if (to->head || from->head || to->numbers + from->numbers > MOST_NUMBERS ||
        strided_in(f->g, to) + strided_in(f->g, from) > MOST_STRIDED)
        return false;
    for (uint32_t i = 0; i < from->count; i++) {
        to->calls[to->count++] = from->calls[i];
        f->group_of[graph_map_result(f->g, &f->g->calls.data[from->calls[i]])] = a + 1;
    }
    for (uint32_t i = 0; i < from->input_count; i++)
        if (f->group_of[from->inputs[i]] != a + 1) add_input(to, from->inputs[i], from->loaded[i]);
    if (from->first < to->first) to->first = from->first;
    to->numbers += from->numbers;
    from->count = from->input_count = from->numbers = 0;
    return true;
}

/* The open group that may take the map, MOST_GROUPS: none. First one whose instruction's results it
 * reads, then one of maps that shares a value with it. */
static uint32_t group_for(const fusion *f, const graph_call *c, const graph_member *m) {
    uint32_t found = MOST_GROUPS;
    for (uint32_t k = 0; k < m->count; k++) {
        uint32_t made = f->group_of[m->inputs[k]];
        if (!made || f->groups[made - 1].elements != m->elements) continue;
        if (f->groups[made - 1].head && stand_together(f->g, &f->groups[made - 1], c))
            return made - 1;
        if (!f->groups[made - 1].head && found == MOST_GROUPS) found = made - 1;
    }
    for (uint32_t i = 0; i < MOST_GROUPS && found == MOST_GROUPS; i++)
        for (uint32_t k = 0; k < m->count && f->groups[i].count && !f->groups[i].head &&
                             f->groups[i].elements == m->elements;
             k++)
            if (has_input(&f->groups[i], m->inputs[k])) found = i;
    return found;
}

/* A group that makes what the call reads, and cannot have the call, is made before it. */
static hg_status close_read(fusion *f, const graph_call *c, uint32_t except) {
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const graph_operand *o = &f->g->operands.data[c->first_operand + k];
        if (o->kind != GRAPH_ARRAY) continue;
        for (uint32_t value = o->number;; value = f->g->values.data[value].of) {
            uint32_t made = f->group_of[value];
            if (made && made - 1 != except) HG_TRY(close_group(f, made - 1));
            if (f->g->values.data[value].source != GRAPH_VIEW) break;
        }
    }
    return HG_OK;
}

/* A view of what a group makes, and elements of other lanes, can be read when the group is done. */
static hg_status close_viewed(fusion *f, const graph_member *m) {
    for (uint32_t k = 0; k < m->count; k++) {
        uint32_t made = f->group_of[graph_base(f->g, m->inputs[k])];
        bool view = f->g->values.data[m->inputs[k]].source == GRAPH_VIEW;
        if ((view || !(m->own >> k & 1)) && made) HG_TRY(close_group(f, made - 1));
    }
    return HG_OK;
}

static bool is_full(const fusion *f, const graph_maps *of, const graph_member *m) {
    if (of->head) return false; /* stand_together */
    return of->count == MOST_MAPS || of->input_count + m->count > MOST_ARRAYS - 1 ||
           of->numbers + m->numbers > MOST_NUMBERS || arrays_of(f, of) >= MOST_ARRAYS ||
           strided_with(f->g, of, m) > MOST_STRIDED;
}

static hg_status open_group(fusion *f, uint32_t call, graph_extent elements, uint32_t *number) {
    hg_status status = HG_OK;
    *number = find_place(f, &status);
    if (status == HG_OK) f->groups[*number] = (graph_maps){.elements = elements, .first = call};
    return status;
}

static hg_status take_map(fusion *f, uint32_t call) {
    const graph_call *c = &f->g->calls.data[call];
    const graph_member *m = &f->members[call];
    HG_TRY(close_viewed(f, m));
    uint32_t number = group_for(f, c, m);
    hg_status status = HG_OK;
    for (uint32_t k = 0; k < m->count && number < MOST_GROUPS; k++) {
        uint32_t other = f->group_of[m->inputs[k]];
        if (other && other - 1 != number && f->groups[other - 1].elements == m->elements)
            (void)unite(f, number, other - 1);
    }
    HG_TRY(close_read(f, c, number));
    if (number < MOST_GROUPS && is_full(f, &f->groups[number], m)) {
        status = close_group(f, number);
        number = MOST_GROUPS;
    }
    if (status == HG_OK && number == MOST_GROUPS)
        status = open_group(f, call, m->elements, &number);
    if (status == HG_OK) add_to_group(f, number, call);
    return status;
}

/* The instruction goes behind the group of maps that make its input, or opens one for those that
 * read its result. */
static hg_status take_head(fusion *f, uint32_t call) {
    const hg_graph *g = f->g;
    const graph_call *c = &g->calls.data[call];
    uint32_t input = loaded_by(g, c), made = input == GRAPH_NOT_SET ? 0 : f->group_of[input],
             result = graph_map_result(g, c), number = made - 1;
    bool joins = made && !f->groups[number].head && stand_together(g, &f->groups[number], c);
    HG_TRY(close_read(f, c, joins ? number : MOST_GROUPS));
    if (!joins) HG_TRY(open_group(f, call, g->values.data[result].elements, &number));
    graph_maps *of = &f->groups[number];
    of->calls[of->count++] = call;
    of->head = of->count;
    f->group_of[result] = number + 1;
    return HG_OK;
}

/* What reads a view of a whole value reads that. */
static void count_reads(fusion *f) {
    const hg_graph *g = f->g;
    for (uint64_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            const graph_operand *o = &g->operands.data[g->calls.data[i].first_operand + k];
            if (o->kind == GRAPH_ARRAY) f->reads[graph_whole(g, o->number)]++;
        }
    for (uint64_t i = 0; i < g->values.count; i++)
        if (graph_whole(g, (uint32_t)i) == i && g->values.data[i].source == GRAPH_VIEW)
            f->reads[graph_whole(g, g->values.data[i].of)]++;
    for (uint64_t i = 0; i < g->outputs.count; i++)
        f->reads[graph_whole(g, g->outputs.data[i].value)]++;
}

/* The calls are the new ones, or after a failure what they were. */
static void finish(fusion *f, hg_status status) {
    hg_graph *g = f->g;
    if (status != HG_OK) {
        hg_vec_free(&f->calls);
        return;
    }
    hg_vec_free(&g->calls);
    g->calls.data = f->calls.data;
    g->calls.count = f->calls.count;
    g->calls.capacity = f->calls.capacity;
    graph_number_results(g);
}

static bool allocate(fusion *f) {
    const hg_graph *g = f->g;
    f->group_of = hg_calloc((size_t)(2 * g->values.count + 2), sizeof *f->group_of);
    f->members = hg_alloc((size_t)(g->calls.count + 1) * sizeof *f->members);
    f->reads = f->group_of ? f->group_of + g->values.count + 1 : NULL;
    return f->group_of && f->members;
}

hg_status graph_pass_maps(hg_graph *g) {
    fusion f = {.g = g};
    graph_formula formula;
    hg_status status = allocate(&f) ? HG_OK : hg_fail_memory();
    if (status == HG_OK) count_reads(&f);
    uint64_t calls = g->calls.count;
    for (uint32_t i = 0; i < calls && status == HG_OK; i++) {
        if (graph_member_of(g, &g->calls.data[i], &f.members[i], &formula)) {
            status = take_map(&f, i);
            continue;
        }
        if (is_head(g, &g->calls.data[i])) {
            status = take_head(&f, i);
            continue;
        }
        status = close_read(&f, &g->calls.data[i], MOST_GROUPS);
        if (status == HG_OK && !push_call(&f, &g->calls.data[i])) status = hg_fail_memory();
    }
    for (uint32_t i = 0; i < MOST_GROUPS && status == HG_OK; i++)
        if (f.groups[i].count) status = close_group(&f, i);
    finish(&f, status);
    hg_free(f.members);
    hg_free(f.group_of);
    return status;
}

/* ---- views with strides ---- */

static bool is_strided(const hg_graph *g, const graph_operand *o) {
    return o->kind == GRAPH_ARRAY && g->values.data[o->number].strided;
}

static bool reads_strided(const hg_graph *g, const graph_call *c) {
    for (uint32_t k = 0; k < c->operand_count; k++)
        if (is_strided(g, &g->operands.data[c->first_operand + k])) return true;
    return false;
}

/* Whether a lane program can be what the call is: a copy of any type. */
bool graph_reads_views(const hg_graph *g, const graph_call *c) {
    graph_member m;
    if (!c->program && graph_member_of(g, c, &m, NULL)) return true;
    return !c->program && c->op == HG_OP_PARALLEL_MAP &&
           hg_opname_op(graph_map_name(g, c)) == HG_OP_MOV;
}

hg_status graph_make_strided_maps(hg_graph *g) {
    fusion f = {.g = g};
    graph_maps *one = &f.groups[0];
    hg_status status = HG_OK;
    uint64_t calls = g->calls.count;
    for (uint32_t i = 0; i < calls && status == HG_OK; i++) {
        const graph_call *c = &g->calls.data[i];
        if (!reads_strided(g, c)) {
            if (!push_call(&f, c)) status = hg_fail_memory();
            continue;
        }
        uint32_t result = graph_map_result(g, c);
        *one = (graph_maps){.calls = {i}, .count = 1, .elements = g->values.data[result].elements};
        for (uint32_t k = 1; k <= graph_map_inputs(c); k++)
            add_input(one, graph_whole(g, graph_operand_of(g, c, k)->number), true);
        status = make_call(&f, one, &result, 1);
    }
    finish(&f, status);
    return status;
}
