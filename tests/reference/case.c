/* Building, running and comparing cases. */
#include "case.h"
#include "oracle/oracle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

case_array *case_add_array(run_case *c, const char *name, hg_type type, const void *bytes,
                           uint64_t size) {
    if (c->array_count == CASE_ARRAYS) return NULL;
    case_array *a = &c->arrays[c->array_count];
    *a = (case_array){.type = type, .size = size, .bytes = calloc(size + 1, 1)};
    if (!a->bytes) return NULL;
    snprintf(a->name, sizeof a->name, "%s", name);
    if (bytes) memcpy(a->bytes, bytes, size);
    c->array_count++;
    return a;
}

void case_add_scalar(run_case *c, const char *name, hg_type type, uint64_t bits) {
    case_scalar *s = &c->scalars[c->scalar_count++];
    *s = (case_scalar){.type = type, .bits = bits};
    snprintf(s->name, sizeof s->name, "%s", name);
}

void case_set_lanes(run_case *c, uint64_t n) {
    uint64_t block = n < 1 ? 1 : n > 256 ? 256 : n;
    c->launch = (ref_launch){.grid = {(uint32_t)((n + block - 1) / block), 1, 1},
                             .block = {(uint32_t)block, 1, 1},
                             .lanes = n};
}

bool case_copy(run_case *to, const run_case *from) {
    *to = *from;
    bool ok = true;
    to->text = malloc(from->length + 1);
    if (to->text) memcpy(to->text, from->text, from->length + 1);
    for (uint32_t i = 0; i < from->array_count; i++) {
        to->arrays[i].bytes = malloc(from->arrays[i].size + 1);
        if (to->arrays[i].bytes)
            memcpy(to->arrays[i].bytes, from->arrays[i].bytes, from->arrays[i].size);
        else
            ok = false;
    }
    if (ok && to->text) return true;
    case_free(to);
    return false;
}

void case_free(run_case *c) {
    for (uint32_t i = 0; i < c->array_count; i++) free(c->arrays[i].bytes);
    free(c->text);
    memset(c, 0, sizeof *c);
}

static const hg_param *find_param(const hg_program *program, const char *name) {
    for (uint32_t i = 0; i < program->param_count; i++)
        if (strcmp(program->params[i].name, name) == 0) return &program->params[i];
    return NULL;
}

/* Indices 1, 2, 3, … for buffers and for pools, in the order of the case, in a generation that no
 * program guesses. */
enum { GENERATION = 6 << 23 };
static bool bind(ref_machine *m, const hg_program *program, const run_case *c, run_result *result) {
    uint64_t next[2] = {1, 1};
    for (uint32_t i = 0; i < program->param_count; i++)
        if (program->params[i].has_default)
            ref_set_register(m, program->params[i].reg, (hg_type)program->params[i].type,
                             program->params[i].default_bytes);
    for (uint32_t i = 0; i < c->array_count; i++) {
        const case_array *a = &c->arrays[i];
        const hg_param *p = find_param(program, a->name);
        uint64_t handle = GENERATION + next[a->pool]++;
        if (!p) continue; /* a reduced program may have lost it */
        if (!ref_bind(m, a->pool ? REF_POOL : REF_BUFFER, handle, a->bytes, a->size)) return false;
        ref_set_register(m, p->reg, HG_TYPE_U64, &handle);
    }
    for (uint32_t i = 0; i < c->scalar_count; i++) {
        const hg_param *p = find_param(program, c->scalars[i].name);
        uint8_t bytes[8];
        for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(c->scalars[i].bits >> (8 * k));
        if (p) ref_set_register(m, p->reg, c->scalars[i].type, bytes);
    }
    (void)result;
    return true;
}

void case_run_reference(const hg_program *program, run_case *c, run_result *result) {
    *result = (run_result){.outcome = RUN_ERROR};
    ref_fault fault = {0};
    ref_machine *m = ref_create(program);
    if (!m || !bind(m, program, c, result)) {
        snprintf(result->message, sizeof result->message, "out of memory");
        ref_destroy(m);
        return;
    }
    ref_outcome outcome = ref_run(m, &c->launch, &fault);
    result->outcome = outcome == REF_DONE ? RUN_OK : outcome == REF_FAULT ? RUN_FAULT : RUN_ERROR;
    if (outcome == REF_DONE && case_uses_state(program)) ref_state(m, c->phase, c->resonance);
    if (outcome == REF_FAULT || outcome == REF_BROKEN) {
        memcpy(result->code, fault.code, sizeof result->code);
        snprintf(result->message, sizeof result->message, "%s", fault.message);
        result->step = fault.step;
        result->phase = fault.phase;
        result->lane = fault.lane;
        result->instruction = fault.instruction;
    }
    ref_destroy(m);
}

static void print_bytes(char *text, size_t capacity, const uint8_t *bytes, uint32_t size) {
    size_t at = 0;
    for (uint32_t i = size; i-- > 0 && at + 3 < capacity;)
        at += (size_t)snprintf(text + at, capacity - at, "%02x", bytes[i]);
}

static bool same_value(const case_array *a, const case_array *b, uint64_t offset, hg_type type,
                       char reason[512]) {
    uint32_t size = oracle_size(type);
    if (offset + size > a->size || oracle_agrees(type, 0, a->bytes + offset, b->bytes + offset))
        return true;
    char expected[160], actual[160];
    print_bytes(expected, sizeof expected, a->bytes + offset, size);
    print_bytes(actual, sizeof actual, b->bytes + offset, size);
    snprintf(reason, 512, "%s at byte %llu (%s): expected %s, got %s", a->name,
             (unsigned long long)offset, hg_type_name(type), expected, actual);
    return false;
}

static bool same_array(const case_array *a, const case_array *b, char reason[512]) {
    if (!a->stride) {
        for (uint64_t at = 0; at < a->size; at += oracle_size(a->type))
            if (!same_value(a, b, at, a->type, reason)) return false;
        return true;
    }
    for (uint64_t at = 0; at < a->size; at += a->stride)
        for (uint32_t f = 0; f < a->field_count; f++)
            if (!same_value(a, b, at + a->fields[f].offset, a->fields[f].type, reason))
                return false;
    return true;
}

bool case_same(const run_case *expected, const run_result *er, const run_case *actual,
               const run_result *ar, char reason[512]) {
    if (er->outcome != ar->outcome) {
        snprintf(reason, 512, "expected %s%.200s, got %s%.200s",
                 er->outcome == RUN_OK      ? "success"
                 : er->outcome == RUN_FAULT ? "fault "
                                            : "error ",
                 er->message,
                 ar->outcome == RUN_OK      ? "success"
                 : ar->outcome == RUN_FAULT ? "fault "
                                            : "error ",
                 ar->message);
        return false;
    }
    if (er->outcome == RUN_FAULT) {
        /* A whole-array instruction has no lane; the message tells where, the code and the place
         * must be equal. */
        bool same = memcmp(er->code, ar->code, 3) == 0 && er->instruction == ar->instruction &&
                    (er->lane == HG_NONE || er->lane == ar->lane);
        if (!same)
            snprintf(reason, 512,
                     "expected %s at instruction %llu, lane %lld (%.100s), got %s at %llu, lane "
                     "%lld (%.100s)",
                     er->code, (unsigned long long)er->instruction, (long long)er->lane,
                     er->message, ar->code, (unsigned long long)ar->instruction,
                     (long long)ar->lane, ar->message);
        return same;
    }
    if (er->outcome == RUN_ERROR || expected->racy) return true;
    for (int i = 0; i <= 96 && !actual->state_unknown; i++) {
        uint8_t a[8], b[8];
        memcpy(a, &expected->resonance[i], sizeof a);
        memcpy(b, &actual->resonance[i], sizeof b);
        bool phase = i == 96 || expected->phase[i] == actual->phase[i];
        if (phase && oracle_agrees(HG_TYPE_F64, 0, a, b)) continue;
        snprintf(reason, 512,
                 phase ? "resonance of class %d: expected %016llx, got %016llx"
                       : "phase of class %d: expected %llu, got %llu",
                 i, (unsigned long long)(phase ? expected->resonance[i] : expected->phase[i]),
                 (unsigned long long)(phase ? actual->resonance[i] : actual->phase[i]));
        return false;
    }
    for (uint32_t i = 0; i < expected->array_count; i++)
        if (!expected->arrays[i].scratch &&
            !same_array(&expected->arrays[i], &actual->arrays[i], reason))
            return false;
    return true;
}
