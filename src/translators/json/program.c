/* What a program has beside its statements: what the document says of launches, and parameters in
 * registers, for kernels without a body.
 * Must not know: nodes. */
#include "translators/json/named.h"

#include <stdio.h>
#include <string.h>

/* Private memory and the names of its arrays, for listings and faults. */
static void declare_private(jk_kernel *k, hg_builder *b) {
    hg_builder_private(b, k->launch.private_bytes);
    for (uint32_t i = k->name_table.params; i < k->name_table.count; i++) {
        const jk_name *n = &k->name_table.all[i];
        char key[HG_MAX_IDENT_BYTES + 16], value[64];
        if (n->memory != JK_PRIVATE || n->length > HG_MAX_IDENT_BYTES) continue;
        snprintf(key, sizeof key, "private.%.*s", (int)n->length, n->text);
        snprintf(value, sizeof value, "%s[%llu] at %llu", hg_type_name(jk_held(n->type)),
                 (unsigned long long)n->elements, (unsigned long long)n->offset);
        if (hg_is_identifier(key, strlen(key))) hg_builder_meta(b, key, value);
    }
}

int jk_direction(const jk_name *n) {
    static const int directions[] = {HG_PARAM_IN, HG_PARAM_IN, HG_PARAM_OUT, HG_PARAM_INOUT};
    return directions[n->access & 3];
}

void jk_declare_launch(jk_kernel *k, hg_builder *b) {
    if (k->launch.token) jk_at(k, b, k->launch.token);
    if (k->launch.grid_rank) hg_builder_grid(b, k->launch.grid, k->launch.grid_rank);
    if (k->launch.lane_rank) hg_builder_lanes(b, k->launch.lanes, k->launch.lane_rank);
    if (k->launch.block[0])
        hg_builder_block(b, k->launch.block[0], k->launch.block[1], k->launch.block[2]);
    if (k->launch.shared_bytes) hg_builder_shared(b, k->launch.shared_bytes);
    if (k->launch.private_bytes) declare_private(k, b);
}

/* Each in its register. */
static void declare_params(jk_kernel *k, hg_builder *b) {
    for (uint32_t i = 0; i < k->name_table.params; i++) {
        const jk_name *n = &k->name_table.all[i];
        char *name = hg_arena_text(&k->arena, n->text, n->length);
        if (!name) return;
        jk_at(k, b, n->token);
        if (n->kind == JK_ARRAY)
            hg_builder_param_buffer(b, n->reg, name, jk_held(n->type), jk_direction(n), n->dims,
                                    n->rank);
        else
            hg_builder_param_scalar(b, n->reg, name, jk_held(n->type));
    }
    jk_declare_launch(k, b);
}

void jk_at(jk_kernel *k, hg_builder *b, uint32_t token) {
    hg_place place = jk_place(k, token);
    hg_builder_at(b, place.line, place.column);
}

/* ---- without a body ---- */

void jk_add_op(hg_builder *b, hg_op op, hg_type type, uint8_t d, uint8_t x, uint8_t y) {
    hg_arg arg[] = {hg_arg_reg(d), hg_arg_reg(x), hg_arg_reg(y)};
    hg_builder_add(b, hg_op_get(op)->opcode, type, HG_TYPE_COUNT, arg,
                   hg_op_get(op)->operand_count);
}

hg_status jk_make_named(jk_kernel *k, jk_build *add, const void *what, hg_program **program) {
    hg_status status = HG_OK;
    for (int round = 0; round < 2 && status == HG_OK; round++) {
        hg_builder *b = hg_builder_create(k->name);
        declare_params(k, b);
        jk_at(k, b, k->root);
        add(b, what);
        if (!b)
            status = hg_fail_memory();
        else if (round)
            status = hg_builder_build(b, k->diagnostics, program);
        hg_builder_destroy(b);
    }
    return status;
}
