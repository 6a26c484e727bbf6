/* A module of one call: slices of memory are its arrays, and what it writes goes back into memory.
 * Must not know: what an instruction is. */
#include "stablehlo/step.h"

typedef struct step {
    ten_module m;
    const plan_call *call;
    const shlo_memory *memories;
    const shlo_place *places;
    uint32_t count;
    ten now[HG_MAX_OPERANDS]; /* of each memory */
} step;

static uint64_t bytes_of(uint8_t type) { return hg_type_size_bytes((hg_type)type); }

static ten elements(step *s, uint32_t i) {
    const shlo_place *p = &s->places[i];
    ten memory = s->now[p->memory];
    uint64_t own = bytes_of(memory.type), type = bytes_of(s->call->arrays[i].type);
    memory = ten_slice(&s->m, memory, 0, p->offset / own, (p->offset + p->bytes) / own, 1);
    return ten_recast(&s->m, memory, s->call->arrays[i].type, p->bytes / type);
}

static void store(step *s, uint32_t i, ten result) {
    const shlo_place *p = &s->places[i];
    ten *memory = &s->now[p->memory];
    uint64_t count = ten_count(result);
    result = ten_recast(&s->m, ten_reshape(&s->m, result, 1, &count), memory->type,
                        count * bytes_of(result.type) / bytes_of(memory->type));
    if (result.extents[0] == memory->extents[0])
        *memory = result;
    else
        *memory = ten_update(&s->m, *memory, result,
                             (uint64_t[]){p->offset / bytes_of(memory->type)});
}

static void print_list(step *s, hg_text *out, bool types, bool all) {
    const char *comma = "";
    uint32_t result = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!all && !s->memories[i].written) continue;
        hg_text_addf(out, "%s", comma);
        if (all || !types) hg_text_addf(out, "%%%u", (unsigned)s->now[i].name);
        if (all) hg_text_addf(out, ": ");
        if (types) ten_print_type(out, s->now[i]);
        if (all && s->memories[i].written)
            hg_text_addf(out, " {tf.aliasing_output = %u : i32}", (unsigned)result++);
        comma = ", ";
    }
}

static void begin(step *s, hg_text *out) {
    for (uint32_t i = 0; i < s->count; i++)
        s->now[i] = ten_new(&s->m, ten_shape(s->memories[i].type, 1, &s->memories[i].count));
    hg_text_addf(out, "module @step {\n  func.func public @main(");
    print_list(s, out, true, true);
    hg_text_addf(out, ") -> (");
    print_list(s, out, true, false);
    hg_text_addf(out, ") {\n");
}

static void end(step *s, hg_text *out) {
    for (uint32_t i = 0; i < s->count; i++) s->now[i] = ten_made(&s->m, s->now[i]);
    hg_text_addf(out, "    return ");
    print_list(s, out, false, false);
    hg_text_addf(out, " : ");
    print_list(s, out, true, false);
    hg_text_addf(out, "\n  }\n}\n");
}

hg_status shlo_print_step(const plan_call *call, const shlo_memory *memories, uint32_t count,
                          const shlo_place *places, hg_text *out) {
    step s = {.m = {.out = out, .next = 1},
              .call = call,
              .memories = memories,
              .places = places,
              .count = count};
    shlo_operands o = {0};
    begin(&s, out);
    for (uint32_t i = 0; i < call->array_count; i++) o.memory[i] = elements(&s, i);
    if (shlo_print_call(&s.m, call, &o))
        for (uint32_t i = 0; i < call->array_count; i++)
            if (call->arrays[i].written && o.result[i].name) store(&s, i, o.result[i]);
    if (s.m.bad.name) ten_refuse(&s.m, "it can fault");
    end(&s, out);
    if (out->failed) return hg_fail_memory();
    return s.m.unsupported[0] ? hg_fail(HG_ERROR_ISA, "no StableHLO for %s", s.m.unsupported)
                              : HG_OK;
}

hg_status shlo_print_move(const shlo_memory *memories, uint32_t count, const shlo_move *move,
                          hg_text *out) {
    step s = {.m = {.out = out, .next = 1}, .memories = memories, .count = count};
    const uint64_t size = move->to - move->from;
    const ten shape = ten_shape(memories[0].type, 1, &size);
    begin(&s, out);
    ten part = move->elements ? ten_bytes(&s.m, shape, move->elements)
               : move->fills
                   ? ten_integer(&s.m, shape, move->number)
                   : ten_slice(&s.m, s.now[count - 1], 0, move->source, move->source + size, 1);
    s.now[0] = size == s.now[0].extents[0] ? part : ten_update(&s.m, s.now[0], part, &move->from);
    end(&s, out);
    return out->failed ? hg_fail_memory() : HG_OK;
}
