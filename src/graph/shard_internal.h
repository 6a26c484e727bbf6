/* Sharding at work: forms of values, what a call can be cut along. */
#ifndef HG_GRAPH_SHARD_INTERNAL_H
#define HG_GRAPH_SHARD_INTERNAL_H

#include "graph/shard.h"

/* A place with numbers. Cuts are kept once: equal ones have equal numbers. */
typedef struct shard_place {
    uint8_t kind, axis, operation;
    uint32_t cut; /* SPLIT */
} shard_place;

/* The value as the ranks have it; a value has several, once it was needed in several. */
typedef struct shard_form {
    shard_place place;
    uint32_t local; /* the value of the rank's graph */
    uint32_t next;  /* of the same value; GRAPH_NOT_SET: none */
} shard_form;

typedef struct shard_cut {
    const uint64_t *starts; /* ranks + 1 places: where parts begin, and the end */
    uint64_t most;          /* elements of the largest part */
    bool even;              /* part r begins at r times the largest */
} shard_cut;

typedef struct shard {
    const hg_graph *g;
    hg_graph *to; /* the rank's */
    const graph_shard_options *options;
    uint32_t ranks, rank;
    uint64_t *sizes; /* of g's extents */
    hg_arena arena;
    HG_VEC(shard_cut) cuts;
    HG_VEC(shard_form) forms;
    uint32_t *first; /* form of each value of g; GRAPH_NOT_SET: none yet */
    hg_op scatter;   /* reduce_scatter */
    bool handed_on;  /* sums go from rank to rank: the first and the last rank are not as others */
} shard;

static inline bool shard_same(shard_place a, shard_place b) {
    return a.kind == b.kind && (a.kind != GRAPH_SPLIT || (a.axis == b.axis && a.cut == b.cut)) &&
           (a.kind != GRAPH_PARTIAL || a.operation == b.operation);
}
static inline uint64_t shard_extent(const shard *s, uint32_t value, uint32_t axis) {
    return s->sizes[s->g->values.data[value].extents[axis]];
}

/* A value as three axes: that which is cut, and what is outside and inside of it. */
typedef struct shard_axes {
    uint64_t outer, extent, inner;
} shard_axes;
shard_axes shard_axes_of(const shard *s, uint32_t value, uint32_t axis);
/* Where the rank's part begins, and how long it is. */
static inline uint64_t shard_start(const shard *s, uint32_t cut) {
    return s->cuts.data[cut].starts[s->rank];
}
static inline uint64_t shard_length(const shard *s, uint32_t cut) {
    return s->cuts.data[cut].starts[s->rank + 1] - shard_start(s, cut);
}

/* Where parts of an extent begin; starts has ranks + 1 places. */
hg_status shard_keep_cut(shard *s, const uint64_t *starts, uint32_t *cut) HG_NODISCARD;
/* The ranks' parts of an extent where nothing says where they begin. */
void shard_even_starts(const shard *s, uint64_t extent, uint64_t *starts);
/* The place that a value of g says, with numbers. */
hg_status shard_place_of(shard *s, uint32_t value, shard_place *place) HG_NODISCARD;

/* ---- forms (shard_forms.c) ---- */

/* A value of the rank's graph with the local shape of a value of g that lies so. name may be NULL.
 */
hg_status shard_add_local(shard *s, uint32_t value, shard_place place, graph_source source,
                          const char *name, uint32_t *local) HG_NODISCARD;
hg_status shard_add_form(shard *s, uint32_t value, shard_place place, uint32_t local) HG_NODISCARD;
/* The value in that place: as it is there, or by slices and collectives from what there is. */
hg_status shard_want(shard *s, uint32_t value, shard_place place, uint32_t *local) HG_NODISCARD;
/* A value of the rank's graph as a view in the whole shape of a value of g. */
hg_status shard_shaped(shard *s, uint32_t local, uint32_t value, uint32_t *made) HG_NODISCARD;
/* Bytes that all ranks together send for that. */
uint64_t shard_cost(const shard *s, uint32_t value, shard_place place);
/* Of a value of the rank's graph. */
uint64_t shard_local_extent(const shard *s, uint32_t local, uint32_t axis);
/* Elements `start` to `start + length` of an axis, as a view. */
hg_status shard_slice(shard *s, uint32_t local, uint32_t axis, uint64_t start, uint64_t length,
                      uint32_t *made) HG_NODISCARD;
/* A value of one rank on another one too, or on all; each of them gives an array of its shape. */
enum { SHARD_ALL_RANKS = UINT16_MAX };
hg_status shard_broadcast(shard *s, uint32_t input, uint32_t from, uint32_t to, const char *name,
                          uint32_t *made) HG_NODISCARD;
/* An array with rows of its first axis, from `at` on, that are others. */
hg_status shard_put_rows(shard *s, uint32_t whole, uint32_t rows, uint64_t at,
                         uint32_t *made) HG_NODISCARD;
/* Forms of a view from those of its array; none where no place of the array is one of the view. */
hg_status shard_view_forms(shard *s, uint32_t view) HG_NODISCARD;

/* ---- what a call can be cut along (shard_rules.c) ---- */

/* An axis of an array is part `sub` of a size of the call: of the `n*` of a shape, else 0. */
enum { SHARD_NO_SIZE = 255, SHARD_MOST_WAYS = 16 };
typedef struct shard_array {
    uint8_t operand;
    bool result;
    uint32_t value;
    uint8_t size[PLAN_MAX_RANK], sub[PLAN_MAX_RANK];
} shard_array;

typedef struct shard_way {
    uint8_t size, sub;
    bool folded;
    bool handed_on; /* folded: each rank goes on with the sums of the rank before it
                       (shard_chain.c), so that the result is whole and has the bits of one device
                     */
} shard_way;

typedef struct shard_rule {
    shard_array arrays[HG_MAX_OPERANDS];
    uint32_t array_count;
    shard_way ways[SHARD_MOST_WAYS]; /* along which it can be cut */
    uint32_t way_count;
    uint8_t alias[HG_MAX_OPERANDS]; /* of sizes: cut as that one */
    hg_opname operation;            /* of a folded way */
} shard_rule;

/* No ways: the call is done on whole arrays. */
hg_status shard_find_rule(const shard *s, const graph_call *call, shard_rule *rule) HG_NODISCARD;
/* The axis of an array along a way; -1: it has none. */
int shard_axis_along(const shard_array *array, const shard_way *way);
/* NULL: the call has no such array. */
const shard_array *shard_array_of(const shard_rule *rule, uint32_t operand, bool result);

/* ---- sums that ranks hand on (shard_chain.c) ---- */

/* A product whose k is cut, with operands of the rank's graph: *made is its result, whole. */
hg_status shard_hand_on(shard *s, const graph_call *call, const shard_rule *rule,
                        const graph_operand *operands, uint32_t value, uint32_t *made) HG_NODISCARD;

#endif
