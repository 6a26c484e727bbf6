/* Inputs of a comparison: from files and --set, made up where those leave them open, cut to smaller
 * ones. */
#include "diff.h"
#include <string.h>

/* Of extents that nothing tells: one alone, or several. Powers of two suit programs with blocks. */
enum { ONE_EXTENT = 1024, MANY_EXTENTS = 32 };

/* ---- numbers ---- */

/* splitmix64 (Steele, Lea, Flood, 2014). */
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint64_t seed_of(uint64_t seed, const char *name) {
    for (; *name; name++) seed = (seed ^ (uint8_t)*name) * UINT64_C(0x100000001B3);
    return seed;
}

/* A float by its bits: 15 of 16 are of ordinary size, the others zeros, infinities, NaN, subnormals
 * and the largest. */
static uint64_t make_float(hg_type type, uint64_t *state) {
    int fraction = type == HG_TYPE_F16    ? 10
                   : type == HG_TYPE_BF16 ? 7
                   : type == HG_TYPE_F32  ? 23
                                          : 52;
    int exponents = (int)hg_type_size_bytes(type) * 8 - 1 - fraction;
    uint64_t random = next(state), sign = random >> 63 << (exponents + fraction),
             one = (UINT64_C(1) << fraction) - 1;
    uint64_t infinity = ((UINT64_C(1) << exponents) - 1) << fraction,
             bias = (UINT64_C(1) << (exponents - 1)) - 1;
    const uint64_t special[] = {0,
                                infinity,
                                infinity | one >> 1 | 1 | (one + 1) >> 1,
                                1,
                                one,
                                infinity - 1,
                                bias << fraction,
                                one + 1};
    if (random % 16 == 0) return sign | special[random >> 8 & 7];
    return sign | (bias - 4 + (random >> 8) % 8) << fraction | (next(state) & one);
}

/* For products and sums over long rows: nothing but numbers between 1/16 and 1, of either sign. */
static uint64_t make_ordinary(hg_type type, uint64_t *state) {
    int fraction = type == HG_TYPE_F16    ? 10
                   : type == HG_TYPE_BF16 ? 7
                   : type == HG_TYPE_F32  ? 23
                                          : 52;
    int exponents = (int)hg_type_size_bytes(type) * 8 - 1 - fraction;
    uint64_t random = next(state), one = (UINT64_C(1) << fraction) - 1,
             bias = (UINT64_C(1) << (exponents - 1)) - 1;
    return random >> 63 << (exponents + fraction) | (bias - 4 + (random >> 8) % 4) << fraction |
           (next(state) & one);
}

/* Half of the integers are indices below `most`, a quarter is near zero, the others are any bits.
 */
static void make_value(hg_type type, uint64_t most, uint64_t *state, uint8_t *bytes) {
    uint64_t size = hg_type_size_bytes(type), random = next(state);
    if (hg_type_is_float(type)) {
        uint64_t bits = make_float(type, state);
        memcpy(bytes, &bits, (size_t)size);
        return;
    }
    bool any = random % 4 == 3,
         negative = random % 4 == 2 && hg_type_is_signed(type) && (random >> 8 & 1);
    uint64_t small = random % 4 == 2 ? next(state) % 17 : next(state) % (most ? most : 1);
    if (negative) small = 0 - small;
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t limb = any ? next(state) : i == 0 ? small : negative && small ? UINT64_MAX : 0;
        memcpy(bytes + i, &limb, size - i < 8 ? (size_t)(size - i) : 8);
    }
}

/* ---- what is open ---- */

bool diff_is_extent(const hg_program *p, uint32_t param) {
    for (uint32_t i = 0; i < p->lanes_count; i++)
        if (hg_extent_names(p, &p->lanes[i], (uint16_t)param)) return true;
    for (uint32_t i = 0; i < p->grid_count; i++)
        if (hg_extent_names(p, &p->grid[i], (uint16_t)param)) return true;
    for (uint32_t i = 0; i < p->param_count; i++)
        for (uint32_t k = 0; p->params[i].rank != 255 && k < p->params[i].rank; k++) /* of buffers
                                                                                        and scratch
                                                                                      */
            if (hg_extent_names(p, &p->params[i].dims[k], (uint16_t)param)) return true;
    return false;
}

static bool is_open(const cli_value *v, hg_param_kind kind) {
    return v->param->kind == kind && !v->bound;
}

static bool make_scalars(cli *c, cli_values *values, uint64_t lanes, uint64_t seed) {
    uint32_t open = 0;
    for (uint32_t i = 0; i < values->count; i++)
        open += is_open(&values->data[i], HG_PARAM_SCALAR) && !values->data[i].param->has_default &&
                diff_is_extent(c->program, i);
    uint64_t extent = open > 1 ? MANY_EXTENTS : lanes ? lanes : ONE_EXTENT;
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        uint64_t state = seed_of(seed, v->param->name);
        if (!is_open(v, HG_PARAM_SCALAR) || v->param->has_default) continue;
        if (diff_is_extent(c->program, i)) {
            if (!cli_bind_extent(c, v, extent)) return false;
            continue;
        }
        if (hg_type_is_float((hg_type)v->param->type)) { /* 1.0 … 1.99, small integers: counts,
                                                            shifts, factors */
            do make_value((hg_type)v->param->type, 0, &state, v->scalar);
            while (v->scalar[hg_type_size_bytes((hg_type)v->param->type) - 1] >> 7);
        } else {
            v->scalar[0] = (uint8_t)(1 + next(&state) % 8);
        }
        v->bound = true;
    }
    return true;
}

/* Contents for in and inout arrays that have none. */
static bool make_array(cli *c, cli_values *values, cli_value *v, uint64_t seed) {
    uint64_t state = seed_of(seed, v->param->name),
             size = hg_type_size_bytes((hg_type)v->param->type);
    if (!v->shaped && v->param->rank == 255) {
        v->rank = 1;
        v->extent[0] = ONE_EXTENT;
        v->shaped = true;
    }
    if (!cli_shape(c, values, v)) return false;
    if (v->param->dir == HG_DIR_OUT) return true;
    v->data = cli_zeroed(c, v->bytes, sizeof(uint64_t));
    if (!v->data) return false;
    for (uint64_t i = 0; i < v->elements; i++) {
        uint64_t bits;
        if (c->graph && hg_type_is_float((hg_type)v->param->type))
            bits = make_ordinary((hg_type)v->param->type, &state),
            memcpy(v->data + i * size, &bits, (size_t)size);
        else
            make_value((hg_type)v->param->type, v->elements < 256 ? v->elements : 256, &state,
                       v->data + i * size);
    }
    return v->bound = true;
}

bool diff_inputs(cli *c, cli_values *values, uint64_t lanes, uint64_t seed) {
    if (!cli_values_options(c, values) || (c->graph && !cli_graph_files(c, values)) ||
        !cli_values_shapes(c, values) || !make_scalars(c, values, lanes, seed))
        return false;
    if (!cli_values_scalars(c, values)) return false;
    for (uint32_t i = 0; i < values->count; i++)
        if (is_open(&values->data[i], HG_PARAM_BUFFER) &&
            !make_array(c, values, &values->data[i], seed))
            return false;
    return true;
}

/* ---- smaller ones ---- */

/* Copies the beginning of every dimension. */
static void cut_elements(const cli_value *from, cli_value *to, uint64_t size) {
    uint64_t at[HG_MAX_EXTENTS] = {0};
    uint64_t row = to->rank ? to->extent[to->rank - 1] : 1;
    if (!to->elements) return;
    for (uint64_t done = 0; done < to->elements; done += row) {
        uint64_t source = 0;
        for (uint32_t i = 0; i < to->rank; i++) source = source * from->extent[i] + at[i];
        memcpy(to->data + done * size, from->data + source * size, (size_t)(row * size));
        for (uint32_t i = to->rank ? to->rank - 1 : 0; i-- > 0;) {
            if (++at[i] < to->extent[i]) break;
            at[i] = 0;
        }
    }
}

/* One parameter without its data; the scalar `extent` becomes n. */
static void copy_one(const cli_values *from, uint32_t index, uint32_t extent, uint64_t n,
                     cli_value *to) {
    *to = from->data[index];
    to->data = NULL;
    memset(&to->file, 0, sizeof to->file);
    uint64_t size = hg_type_size_bytes((hg_type)to->param->type);
    if (index == extent)
        for (uint64_t i = 0; i < size; i++) to->scalar[i] = i < 8 ? (uint8_t)(n >> (8 * i)) : 0;
}

/* The array as its extents are with the scalars of `values`. */
static hg_status cut_one(const cli_values *values, const cli_value *v, uint32_t extent,
                         cli_value *to) {
    const hg_param *p = v->param;
    uint64_t size = hg_type_size_bytes((hg_type)p->type), value;
    if (p->kind != HG_PARAM_BUFFER) return HG_OK;
    to->elements = 1;
    for (uint32_t i = 0; i < v->rank; i++) {
        if (p->rank != 255 && extent != UINT32_MAX &&
            hg_extent_names(values->program, &p->dims[i], (uint16_t)extent)) {
            if (cli_extent(values, &p->dims[i], &value) != HG_EXTENT_KNOWN || value > v->extent[i])
                return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "an extent of '%s' does not become smaller", p->name);
            to->extent[i] = value;
        }
        to->elements *= to->extent[i];
    }
    to->bytes = to->elements * size;
    if (!v->data) return HG_OK;
    to->data = hg_calloc_aligned(to->bytes ? (size_t)to->bytes : 1, sizeof(uint64_t));
    if (!to->data) return hg_fail_memory();
    cut_elements(v, to, size);
    return HG_OK;
}

hg_status diff_inputs_cut(const cli_values *from, uint32_t extent, uint64_t n, cli_values *to) {
    *to = (cli_values){.program = from->program};
    to->data = hg_calloc(from->count + 1u, sizeof *to->data);
    if (!to->data) return hg_fail_memory();
    to->count = from->count;
    for (uint32_t i = 0; i < from->count; i++) copy_one(from, i, extent, n, &to->data[i]);
    for (uint32_t i = 0; i < from->count; i++)
        HG_TRY(cut_one(to, &from->data[i], extent, &to->data[i]));
    return HG_OK;
}
