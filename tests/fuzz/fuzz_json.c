/* Any bytes as a JSON kernel: the reader refuses them with a place inside the text or gives a tape
 * that fits together; the translator refuses with diagnostics in order, or gives a program that
 * prints and assembles again; one that verifies runs on a few lanes with small arrays and an end to
 * its steps. Seeds: seeds/fuzz_json. */
#include "fuzz.h"
#include "base/json_read.h"
#include "isa/program.h"
#include <hologram/backend.h>
#include <hologram/json_kernel.h>

#include <stdlib.h>
#include <string.h>

enum { LANES = 5, ARRAY_BYTES = 96, MOST_STEPS = 2000, LARGEST_RUN = 4096 };

/* Every container ends where its items do, inside its parent. */
static void check_tape(const hg_json_document *d) {
    require(d->count > 0 && hg_json_next(d, 0) == d->count);
    for (uint32_t token = 0; token < d->count; token++) {
        hg_json_kind kind = hg_json_kind_of(d, token);
        require(hg_json_next(d, token) <= d->count && d->tokens[token].offset < d->length);
        if (kind == HG_JSON_ARRAY || kind == HG_JSON_OBJECT) {
            uint32_t item = token + 1, end = hg_json_next(d, token);
            while (item < end) {
                if (kind == HG_JSON_OBJECT) require(hg_json_is_string(d, item++) && item < end);
                item = hg_json_next(d, item);
            }
            require(item == end);
        } else if (hg_json_is_number(d, token)) {
            hg_json_number n = hg_json_number_of(d, token);
            require(n.kind != HG_JSON_U64 || (double)n.u64 == n.f64);
            require(n.kind != HG_JSON_I64 || (double)n.i64 == n.f64);
        }
    }
}

static void read_only(const char *text, size_t size) {
    hg_json_document d;
    hg_json_fault fault = {0};
    if (hg_json_read(&d, text, size, 0, &fault)) {
        check_tape(&d);
        hg_arena arena = {0};
        for (uint32_t token = 0; token < d.count; token++) {
            size_t length;
            if (hg_json_is_string(&d, token))
                require(hg_json_decode(&d, token, &arena, &length) != NULL &&
                        length <= d.tokens[token].size);
        }
        hg_arena_free(&arena);
    } else {
        require(fault.message[0] && fault.offset <= size && fault.length <= size - fault.offset &&
                !d.tokens);
    }
    hg_json_document_free(&d);
}

static void check_places(const hg_diagnostics *d, bool failed) {
    require(failed == (hg_diagnostics_errors(d) > 0));
    for (size_t i = 0; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *a = hg_diagnostics_get(d, i);
        require(a->code[0] && a->message[0] && a->line > 0 && a->column > 0);
    }
}

/* Faults are welcome, anything else must work. */
static void run(const hg_program *p) {
    static hg_backend *backend;
    if (!backend) {
        hg_config config = hg_config_default();
        strcpy(config.backend, "cpu");
        config.num_threads = 1;
        config.cache_programs = 4;
        config.cache_dir = NULL;
        require(hg_backend_create_with_config(&config, &backend) == HG_OK);
    }
    hg_params *params = hg_params_create();
    hg_buffer buffers[256];
    uint32_t count = 0;
    require(params != NULL);
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *param = &p->params[i];
        static const unsigned char three[512] = {3};
        if (param->kind == HG_PARAM_SCALAR) {
            require(hg_params_set_scalar(params, param->name, (hg_type)param->type, three) ==
                    HG_OK);
        } else {
            require(count < 256 &&
                    hg_backend_allocate_buffer(backend, ARRAY_BYTES, &buffers[count]) == HG_OK);
            require(hg_params_set_buffer(params, param->name, buffers[count++]) == HG_OK);
        }
    }
    hg_launch launch = hg_launch_linear(LANES);
    launch.max_steps = MOST_STEPS;
    launch.timeout_ms = 10000;
    hg_status status = hg_backend_execute_program_with_params(backend, p, &launch, params);
    require(status == HG_OK || status == HG_ERROR_EXECUTION_FAILED);
    hg_params_destroy(params);
    while (count) require(hg_backend_free_buffer(backend, buffers[--count]) == HG_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_only((const char *)data, size);
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL, **all = NULL;
    size_t count = 0;
    hg_status status = hg_json_to_isa_translate((const char *)data, size, d, &p);
    require((status == HG_OK) == (p != NULL) && (status == HG_OK || status == HG_ERROR_ISA));
    check_places(d, status != HG_OK);
    hg_string_free(hg_diagnostics_print(d, "fuzz", (const char *)data, size));
    hg_diagnostics_destroy(d);
    hg_status several = hg_json_to_isa_translate_all((const char *)data, size, NULL, &all, &count);
    require(several == HG_OK || (several == HG_ERROR_ISA && !all && status != HG_OK));
    if (p) require(count == 1 && memcmp(hg_program_hash(p), hg_program_hash(all[0]), 32) == 0);
    for (size_t i = 0; i < count; i++) {
        check_text(all[i]);
        if (hg_program_verify(all[i], NULL) == HG_OK && all[i]->inst_count < LARGEST_RUN)
            run(all[i]);
    }
    hg_json_programs_free(all, count);
    hg_program_release(p);
    return 0;
}

/* ---- changes that keep it JSON: a value becomes another value of the text, or a word that kernels
 * use ---- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static const char *const words[] = {
    "0",
    "1",
    "-1",
    "4",
    "255",
    "256",
    "4294967295",
    "9223372036854775808",
    "0.5",
    "-0.0",
    "1e308",
    "true",
    "null",
    "[]",
    "{}",
    "\"let\"",
    "\"assign\"",
    "\"if\"",
    "\"for\"",
    "\"while\"",
    "\"return\"",
    "\"call\"",
    "\"parallel_map_unary\"",
    "\"parallel_reduce\"",
    "\"var\"",
    "\"literal\"",
    "\"binary_op\"",
    "\"unary_op\"",
    "\"index\"",
    "\"if_expr\"",
    "\"add\"",
    "\"div\"",
    "\"mod\"",
    "\"floor_div\"",
    "\"lt\"",
    "\"and\"",
    "\"or\"",
    "\"not\"",
    "\"inv\"",
    "\"neg\"",
    "\"get_global_id\"",
    "\"exp\"",
    "\"sqrt\"",
    "\"pow\"",
    "\"abs\"",
    "\"min\"",
    "\"f32\"",
    "\"i32\"",
    "\"u8\"",
    "\"u64\"",
    "\"f64\"",
    "\"bool\"",
    "\"atomic_add\"",
    "\"scalar\"",
    "\"device_array\"",
    "\"device_ptr\"",
    "\"n\"",
    "\"i\"",
    "{\"type\":\"literal\",\"value\":1}",
    "{\"type\":\"var\",\"name\":\"n\"}",
    "{\"type\":\"return\"}",
    "\"1.0\"",
    "\"vector_add\"",
    "\"relu\"",
};

/* The bytes of a value in the text. */
static void span_of(const hg_json_document *d, uint32_t token, size_t *start, size_t *end) {
    hg_json_token t = d->tokens[token];
    *start = t.offset;
    *end = *start + t.size + (hg_json_is_string(d, token) ? 2 : 0);
    if (t.kind != HG_JSON_ARRAY && t.kind != HG_JSON_OBJECT) return;
    int open = 0;
    bool quoted = false;
    for (*end = *start; *end < d->length; ++*end) {
        char c = d->text[*end];
        if (quoted && c == '\\') ++*end;
        if (c == '"') quoted = !quoted;
        if (!quoted) open += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (!open) break;
    }
    ++*end;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    hg_json_document d;
    hg_json_fault fault;
    uint8_t *copy = seed % 4 ? malloc(size + 1) : NULL;
    if (!copy) return LLVMFuzzerMutate(data, size, max_size);
    memcpy(copy, data, size);
    size_t result = 0;
    if (hg_json_read(&d, (const char *)copy, size, 0, &fault)) {
        uint32_t draw = seed * 2654435761u, target = draw % d.count,
                 source = (draw >> 8) * 40503u % d.count;
        const char *word = words[(draw >> 4) % HG_COUNT_OF(words)];
        size_t start, end, from = 0, length = strlen(word);
        span_of(&d, target, &start, &end);
        if (seed & 16) {
            span_of(&d, source, &from, &length);
            word = (const char *)copy + from;
            length -= from;
        }
        if (start + length + (size - end) <= max_size) {
            memcpy(data + start, word, length);
            memcpy(data + start + length, copy + end, size - end);
            result = start + length + (size - end);
        }
    }
    hg_json_document_free(&d);
    free(copy);
    return result ? result : LLVMFuzzerMutate(data, size, max_size);
}
