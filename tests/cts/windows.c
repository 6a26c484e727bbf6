/* conv, conv_transpose, max_pool, avg_pool along 1 to 3 axes against the reference, to the bit. */
#include "cts.h"
#include <stdio.h>
#include <string.h>

typedef struct shape {
    unsigned batch, in, out, groups; /* of a pool: batch is its planes */
    const char *sizes, *window, *more;
    uint64_t inputs, kernel, outputs; /* of a plane */
} shape;

/* clang-format off */
static const shape CONVS[] = {
    {2, 3, 5, 1, "(7)", "(3)", "stride=(2), padding=(1), bias=b, activation=relu", 7, 3, 4},
    {1, 4, 6, 2, "(4, 6)", "(2, 3)", "padding=(1, 0), padding_end=(0, 2), dilation=(2, 1)", 24, 6, 18},
    {2, 3, 9, 3, "(4, 3, 5)", "(2, 2, 3)", "stride=(2, 1, 1), padding=(1, 0, 1), bias=b", 60, 12, 30},
    {1, 2, 3, 1, "(3, 4, 4)", "(3, 1, 2)", "padding=(2, 0, 0), padding_end=(0, 0, 1), dilation=(2, 1, 1)", 48, 6, 16},
    {3, 2, 2, 1, "(2, 1, 70)", "(1, 1, 1)", "activation=tanh", 140, 1, 140},
    {1, 0, 2, 1, "(2, 2, 2)", "(1, 2, 1)", "bias=b", 8, 2, 4},
};
static const shape TRANSPOSED[] = {
    {2, 3, 5, 1, "(5)", "(3)", "stride=(2), padding=(1), out=(10), bias=b", 5, 3, 10},
    {1, 4, 6, 2, "(3, 4)", "(3, 3)", "bias=b, activation=relu", 12, 9, 30},
    {2, 2, 3, 1, "(3, 3)", "(2, 3)", "stride=(3, 2), padding=(0, 1), padding_end=(1, 1), dilation=(1, 2)", 9, 6, 49},
    {1, 2, 9, 1, "(2, 3, 3)", "(2, 2, 3)", "stride=(2, 1, 2), dilation=(1, 2, 1)", 18, 12, 140},
    {1, 2, 2, 1, "(4)", "(1)", "stride=(2), padding=(1)", 4, 1, 5},                /* rows of the input are cut, places without one */
    {1, 2, 2, 2, "(3)", "(2)", "stride=(4), dilation=(4), out=(15), bias=b", 3, 2, 15},
    {2, 1, 1, 1, "(2, 1, 3)", "(1, 1, 1)", "", 6, 1, 6},
};
static const shape POOLS[] = {
    {3, 0, 0, 0, "(9)", "(3)", "stride=(2), padding=(1)", 9, 3, 5},
    {2, 0, 0, 0, "(5, 70)", "(2, 3)", "stride=(2, 1), padding=(1, 1), padding_end=(0, 2), out=(3, 71)", 350, 6, 213},
    {2, 0, 0, 0, "(4, 5, 6)", "(2, 3, 2)", "stride=(2, 2, 3), dilation=(1, 2, 2), out=(2, 2, 2)", 120, 12, 8},
    {5, 0, 0, 0, "(7, 7)", "(7, 7)", "", 49, 49, 1},
    {2, 0, 0, 0, "(1)", "(2)", "dilation=(3), padding=(2)", 1, 2, 2},              /* no element */
    {0, 0, 0, 0, "(4)", "(2)", "", 4, 2, 3},
};
/* clang-format on */

static case_array *add(cts *s, run_case *c, const char *name, hg_type type, uint64_t elements,
                       bool any) {
    uint32_t size = oracle_size(type);
    case_array *a = case_add_array(c, name, type, NULL, elements * size + size);
    for (uint64_t i = 0; a && i < elements; i++) {
        double value = (double)((int64_t)(cts_random(s) % 2001) - 1000) / 64;
        if (any && cts_random(s) % 2)
            cts_any(s, type, a->bytes + i * size);
        else
            oracle_convert(type, HG_TYPE_F64, (const uint8_t *)&value, a->bytes + i * size);
    }
    return a;
}

static void convolve(cts *s, const char *name, const shape *p, hg_type type, unsigned number) {
    const char *t = hg_type_name(type);
    run_case c = {.cleared_class = 96};
    char label[64];
    cts_text(&c,
             ".atlas 1\n.program cts\n.param y buffer %s out\n.param x buffer %s in\n.param w "
             "buffer %s in\n.param b buffer %s in\n"
             "    %s.%s output=y, input=x, kernel=w, batch=%u, in_channels=%u, out_channels=%u, "
             "groups=%u, size=%s, window=%s%s%s\n",
             t, t, t, t, name, t, p->batch, p->in, p->out, p->groups, p->sizes, p->window,
             *p->more ? ", " : "", p->more);
    case_add_array(&c, "y", type, NULL, (p->batch * p->out * p->outputs + 1) * oracle_size(type));
    add(s, &c, "x", type, p->batch * p->in * p->inputs, false);
    add(s, &c, "w", type, (uint64_t)p->in * p->out / p->groups * p->kernel, false);
    add(s, &c, "b", type, p->out, false);
    case_set_lanes(&c, 2);
    snprintf(label, sizeof label, "%s.%s shape %u", name, t, number);
    cts_compare(s, label, &c);
}

static void pool(cts *s, const char *name, const shape *p, hg_type type, unsigned number) {
    const char *t = hg_type_name(type);
    run_case c = {.cleared_class = 96};
    char label[64];
    bool largest = strcmp(name, "max_pool") == 0;
    cts_text(&c,
             ".atlas 1\n.program cts\n.param y buffer %s out\n.param x buffer %s in\n.param w "
             "buffer i64 out\n"
             "    %s.%s output=y, input=x, planes=%u, size=%s, window=%s%s%s%s\n",
             t, t, name, t, p->batch, p->sizes, p->window, *p->more ? ", " : "", p->more,
             number % 2 == 0 ? ""
             : largest       ? ", places=w"
                             : ", counted=true");
    case_add_array(&c, "y", type, NULL, (p->batch * p->outputs + 1) * oracle_size(type));
    add(s, &c, "x", type, p->batch * p->inputs, largest);
    case_add_array(&c, "w", HG_TYPE_I64, NULL, (p->batch * p->outputs + 1) * 8);
    case_set_lanes(&c, 2);
    snprintf(label, sizeof label, "%s.%s shape %u", name, t, number);
    cts_compare(s, label, &c);
}

void cts_windows(cts *s) {
    for (hg_type t = 0; t < HG_TYPE_COUNT; t++) {
        for (unsigned i = 0; i < HG_COUNT_OF(CONVS); i++)
            if (hg_type_is_float(t) && cts_wanted(s, "conv", t))
                convolve(s, "conv", &CONVS[i], t, i);
        for (unsigned i = 0; i < HG_COUNT_OF(TRANSPOSED); i++)
            if (hg_type_is_float(t) && cts_wanted(s, "conv_transpose", t))
                convolve(s, "conv_transpose", &TRANSPOSED[i], t, i);
        for (unsigned i = 0; i < 2 * HG_COUNT_OF(POOLS); i++) {
            const shape *p = &POOLS[i / 2];
            if (oracle_size(t) <= 8 && cts_wanted(s, "max_pool", t)) pool(s, "max_pool", p, t, i);
            if (hg_type_is_float(t) && cts_wanted(s, "avg_pool", t)) pool(s, "avg_pool", p, t, i);
        }
    }
}
