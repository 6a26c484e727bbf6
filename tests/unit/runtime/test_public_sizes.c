/* Every public structure with a size: as an older header has it, as a newer one has it, and sizes
 * that none has. */
#include "support/runtime_support.h"

enum { MOST = 4096 };

static hg_backend *backend;
static hg_program *program;
static hg_queue *queue;
static hg_binding *binding;
static hg_translated_program circuit = {.size = sizeof circuit};

/* A structure, a good value of it, and a call that takes it. */
typedef struct subject {
    const char *name, *needed; /* and the last field that a call needs */
    size_t known, least;       /* bytes of this header; bytes that a call needs */
    const void *good;
    hg_status (*use)(const void *given);
} subject;

/* ---- the calls ---- */

static hg_status use_config(const void *given) {
    hg_backend *b = NULL;
    hg_status status = hg_backend_create_with_config(given, &b);
    CHECK((status == HG_OK) == (b != NULL) && (!b || strcmp(hg_backend_name(b), "null") == 0));
    hg_backend_destroy(b);
    return status;
}

/* Into a copy, so that what is written past the size would be seen. */
static hg_status use_config_for_env(const void *given) {
    size_t size;
    memcpy(&size, given, sizeof size);
    hg_config *copy = malloc(size <= MOST && size >= sizeof size ? size : sizeof *copy);
    memcpy(copy, given, size <= MOST && size >= 24 ? size : sizeof size);
    hg_status status = hg_config_read_env(copy);
    free(copy);
    return status;
}

static hg_status use_launch(const void *given) {
    return hg_backend_execute_program(backend, program, given);
}
static hg_status use_launch_for_binding(const void *given) {
    hg_executable *executable = NULL;
    hg_binding *made = NULL;
    hg_status status = hg_executable_create(backend, program, &executable);
    if (status == HG_OK) status = hg_binding_create(executable, given, NULL, &made);
    hg_binding_destroy(made);
    hg_executable_destroy(executable);
    return status;
}

static hg_status use_command(const void *given) {
    hg_status status = hg_queue_submit(queue, given, 1, NULL, 0, NULL);
    return status == HG_OK ? hg_queue_synchronize(queue) : status;
}

static hg_status use_options(const void *given) {
    hg_circuit *c = NULL;
    hg_status status = hg_circuit_parse("copy@c01->c02", 13, given, NULL, &c);
    hg_circuit_destroy(c);
    return status;
}
static hg_status use_options_to_translate(const void *given) {
    hg_translated_program t = {.size = sizeof t};
    hg_status status = hg_circuit_to_isa_translate("copy@c01->c02", 13, given, NULL, &t);
    hg_translated_program_release(&t);
    return status;
}
static hg_status use_options_to_lower(const void *given) {
    hg_translated_program t = {.size = sizeof t};
    hg_circuit *c = NULL;
    hg_status status = hg_circuit_compile("copy@c01->c02", 13, NULL, NULL, &c);
    if (status == HG_OK) status = hg_circuit_to_isa(c, given, &t);
    hg_translated_program_release(&t);
    hg_circuit_destroy(c);
    return status;
}

static hg_status run_circuit(const hg_translated_program *t, const hg_circuit_launch *launch) {
    float in[2] = {1, 2}, out[2] = {0, 0};
    hg_class_array arrays[] = {{.cls = 1, .input = in, .input_count = 2},
                               {.cls = 2, .output = out, .output_count = 2}};
    hg_status status = hg_circuit_run(backend, t, launch, arrays, 2);
    CHECK(status != HG_OK || (out[0] == 1 && out[1] == 2));
    return status;
}
static hg_status use_circuit_launch(const void *given) { return run_circuit(&circuit, given); }
static hg_status use_circuit(const void *given) { return run_circuit(given, NULL); }

static hg_status use_assembling(const void *given) {
    static const char text[] = ".atlas 1\n.program t\n.const N = 1\n";
    hg_program *p = NULL;
    hg_status status = hg_program_assemble_with(text, sizeof text - 1, given, NULL, &p);
    hg_program_release(p);
    return status;
}

static void *plain_reallocate(void *user, void *memory, size_t bytes) {
    return (void)user, realloc(memory, bytes);
}
static void plain_release(void *user, void *memory) { (void)user, free(memory); }
static hg_status use_allocator(const void *given) {
    hg_status status = hg_set_allocator(given);
    CHECK(hg_set_allocator(NULL) == HG_OK);
    return status;
}

/* ---- what holds for each ---- */

/* A copy of the good value with that size; what lies behind a smaller one is not there (exact) or
 * 0xFF. */
static void *make(const subject *s, size_t size, bool exact) {
    size_t given = size <= MOST ? size : s->known, kept = given < s->known ? given : s->known;
    size_t room = exact || given > s->known ? given : s->known + 8;
    unsigned char *bytes = malloc(room);
    memset(bytes, given > s->known ? 0 : 0xFF, room);
    memcpy(bytes, s->good, kept);
    memcpy(bytes, &size, sizeof size);
    return bytes;
}

static void good(const subject *s, size_t size, bool exact) {
    void *given = make(s, size, exact);
    hg_status status = s->use(given);
    CHECK_MESSAGE(status == HG_OK, "%s of %zu bytes: %s", s->name, size, hg_last_error_text());
    free(given);
}

static void bad(const subject *s, size_t size, const char *why) {
    char begin[128];
    void *given = make(s, size, false);
    snprintf(begin, sizeof begin, "%s.size is %zu, expected %zu, and %s", s->name, size, s->known,
             why);
    CHECK_STATUS(s->use(given), HG_ERROR_INVALID_ARGUMENT);
    CHECK_MESSAGE(strstr(hg_last_error()->message, begin), "expected \"%s…\", got \"%s\"", begin,
                  hg_last_error()->message);
    free(given);
}

/* A newer header's field is set. */
static void unknown(const subject *s, size_t size, size_t at) {
    char expected[192];
    unsigned char *given = make(s, size, true);
    given[at] = 0x40;
    snprintf(expected, sizeof expected,
             "%s.size is %zu, this library knows %zu bytes: byte %zu is 64, expected 0", s->name,
             size, s->known, at);
    CHECK_STATUS(s->use(given), HG_ERROR_INVALID_ARGUMENT);
    CHECK_MESSAGE(strstr(hg_last_error()->message, expected), "expected \"%s…\", got \"%s\"",
                  expected, hg_last_error()->message);
    free(given);
}

/* The page that tells callers has a row for the structure. */
static void check_page(const char *name, const char *needed) {
    static char page[32768];
    char row[128];
    FILE *file = fopen(HG_SOURCE_DIR "/docs/reference/stability.md", "rb");
    CHECK(file != NULL);
    if (!file) return;
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    snprintf(row, sizeof row, "\n| `%s` | `%s` |", name, needed);
    CHECK_MESSAGE(strstr(page, row), "docs/reference/stability.md: missing row:%s", row);
}

static void test_subject(const subject *s) {
    check_page(s->name, s->needed);
    for (size_t size = s->least; size <= s->known + 32; size += 8) {
        good(s, size, true);
        good(s, size, false);
    }
    good(s, MOST, true);
    for (size_t at = s->known; at < s->known + 16; at++) unknown(s, s->known + 16, at);
    unknown(s, MOST, MOST - 1);
    bad(s, 0, "never less than");
    bad(s, s->least - 8, "never less than");
    bad(s, s->known + 4, "always a multiple of 8");
    bad(s, MOST + 8, "never more than 4096");
    bad(s, SIZE_MAX - 7, "never more than 4096");
}

/* ---- what the library fills ---- */

static void test_device_info(void) {
    enum {
        KNOWN = sizeof(hg_device_info),
        NEWER = KNOWN + 40,
        COUNT = 8,
        LEAST = offsetof(hg_device_info, platform)
    };
    static union {
        hg_device_info alignment;
        unsigned char bytes[COUNT * NEWER];
    } newer;
    static hg_device_info plain[COUNT];
    check_page("hg_device_info", "driver");
    hg_device_info info;
    size_t count = 0, again = 0;
    CHECK_OK(hg_devices(plain, COUNT, &count));
    memset(&newer, 0xEE, sizeof newer);
    CHECK_OK(hg_devices_list(&newer.alignment, NEWER, COUNT, &again));
    CHECK_U64(again, count);
    for (size_t i = 0; i < count && i < COUNT; i++) { /* the caller's step, and zero in what the
                                                         library does not know */
        const unsigned char *at = newer.bytes + i * NEWER;
        memcpy(&info, at, sizeof info);
        CHECK(info.size == NEWER && strcmp(info.backend, plain[i].backend) == 0 &&
              strcmp(info.name, plain[i].name) == 0);
        for (size_t k = KNOWN; k < NEWER; k++) CHECK(at[k] == 0);
    }
    memset(&newer, 0xEE, sizeof newer);
    CHECK_OK(hg_backend_describe(backend, &newer.alignment, NEWER));
    memcpy(&info, &newer, sizeof info);
    CHECK(info.size == NEWER && strcmp(info.backend, "cpu") == 0 && newer.bytes[NEWER - 1] == 0 &&
          newer.bytes[NEWER] == 0xEE);
    memset(&newer, 0xEE, sizeof newer); /* an older header: nothing behind its own */
    CHECK_OK(hg_backend_describe(backend, &newer.alignment, LEAST));
    memcpy(&info, &newer, LEAST);
    CHECK(info.size == LEAST && strcmp(info.backend, "cpu") == 0 && newer.bytes[LEAST] == 0xEE);
    const size_t sizes[] = {0, LEAST - 8, KNOWN + 4, MOST + 8, SIZE_MAX - 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char begin[64];
        snprintf(begin, sizeof begin, "hg_device_info.size is %zu, expected %d, and", sizes[i],
                 (int)KNOWN);
        CHECK_STATUS(hg_devices_list(plain, sizes[i], COUNT, &count), HG_ERROR_INVALID_ARGUMENT);
        CHECK_MESSAGE(strstr(hg_last_error()->message, begin), "%s", hg_last_error()->message);
        CHECK_STATUS(hg_backend_describe(backend, plain, sizes[i]), HG_ERROR_INVALID_ARGUMENT);
        CHECK_MESSAGE(strstr(hg_last_error()->message, begin), "%s", hg_last_error()->message);
    }
}

static void test_translated(void) {
    enum {
        KNOWN = sizeof(hg_translated_program),
        LEAST = 160 /* of version 0.1 */,
        NEWER = KNOWN + 24
    };
    union {
        hg_translated_program program;
        unsigned char bytes[NEWER + 8];
    } newer;
    const size_t sizes[] = {0, LEAST - 8, KNOWN + 4, MOST + 8, SIZE_MAX - 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char begin[64];
        hg_translated_program t = {.size = sizes[i]};
        snprintf(begin, sizeof begin, "hg_translated_program.size is %zu, expected %d, and",
                 sizes[i], (int)KNOWN);
        CHECK_STATUS(hg_circuit_to_isa_translate("copy@c01->c02", 13, NULL, NULL, &t),
                     HG_ERROR_INVALID_ARGUMENT);
        CHECK_MESSAGE(strstr(hg_last_error()->message, begin), "%s", hg_last_error()->message);
    }
    memset(&newer, 0xEE, sizeof newer);
    newer.program.size = NEWER;
    CHECK_OK(hg_circuit_to_isa_translate("copy@c01->c02", 13, NULL, NULL, &newer.program));
    for (size_t k = KNOWN; k < NEWER; k++) CHECK(newer.bytes[k] == 0);
    CHECK(newer.program.size == NEWER && newer.bytes[NEWER] == 0xEE);
    CHECK_OK(run_circuit(&newer.program, NULL));
    hg_translated_program_release(&newer.program);
    CHECK(newer.program.size == NEWER && !newer.program.program && !newer.program.original_expr &&
          newer.bytes[NEWER] == 0xEE);
    hg_translated_program_release(&newer.program); /* holds nothing */
    hg_translated_program_release(&(hg_translated_program){0});
}

static void test_config_init(void) {
    unsigned char bytes[sizeof(hg_config) + 32];
    hg_config whole = hg_config_default();
    for (size_t size = 24; size <= sizeof bytes - 8; size += 8) {
        memset(bytes, 0xEE, sizeof bytes);
        CHECK_OK(hg_config_init((hg_config *)(void *)bytes, size));
        size_t same = size < sizeof whole ? size : sizeof whole;
        CHECK(memcmp(bytes, &size, sizeof size) == 0 &&
              memcmp(bytes + 8, (char *)&whole + 8, same - 8) == 0 && bytes[size] == 0xEE);
        for (size_t k = same; k < size; k++) CHECK(bytes[k] == 0);
    }
    CHECK_STATUS(hg_config_init(&whole, 16), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_config_init(NULL, sizeof whole), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_config_read_env(NULL), HG_ERROR_INVALID_ARGUMENT);
}

/* The library's own records say how large they are, so a newer library may have more in them. */
static void test_records(void) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK_STATUS(hg_program_assemble("nonsense", 8, d, &p), HG_ERROR_ISA);
    CHECK(hg_last_error()->size == sizeof(hg_error) && hg_diagnostics_count(d) &&
          hg_diagnostics_get(d, 0)->size == sizeof(hg_diagnostic));
    hg_diagnostics_destroy(d);
}

/* ---- arrays of commands ---- */

typedef struct newer_command {
    hg_command command;
    uint64_t added;
} newer_command;

static void test_commands(void) {
    uint8_t bytes[8] = {0};
    hg_buffer buffer = make_buffer(backend, NULL, 8);
    newer_command c[3] = {
        {{.kind = HG_COMMAND_FILL, .buffer = buffer, .length = 8, .value = 3}, 0},
        {{.kind = HG_COMMAND_FILL, .buffer = buffer, .offset = 2, .length = 2, .value = 5}, 0},
        {{.kind = HG_COMMAND_COPY_OUT, .buffer = buffer, .length = 8, .host = bytes}, 0},
    };
    for (int i = 0; i < 3; i++) c[i].command.size = sizeof *c;
    CHECK_OK(hg_queue_submit(queue, &c[0].command, 3, NULL, 0, NULL));
    CHECK_OK(hg_queue_synchronize(queue));
    CHECK(bytes[0] == 3 && bytes[2] == 5 && bytes[3] == 5 && bytes[4] == 3);
    c[2].added = 1;
    CHECK_FAILS(hg_queue_submit(queue, &c[0].command, 3, NULL, 0, NULL), HG_ERROR_INVALID_ARGUMENT,
                "",
                "command 2: hg_command.size is 104, this library knows 96 bytes: byte 96 is 1, "
                "expected 0 (a field of a newer version is set)");
    c[1].command.size = sizeof(hg_command);
    CHECK_FAILS(hg_queue_submit(queue, &c[0].command, 3, NULL, 0, NULL), HG_ERROR_INVALID_ARGUMENT,
                "",
                "command 1: hg_command.size is 96, that of command 0 is 104, expected the same");
    CHECK_OK(hg_backend_free_buffer(backend, buffer));
}

int main(void) {
    hg_executable *executable = NULL;
    backend = open_backend("cpu");
    program = assemble(PROGRAM(" exit\n"));
    CHECK_OK(hg_queue_create(backend, NULL, &queue));
    CHECK_OK(hg_executable_create(backend, program, &executable));
    CHECK_OK(hg_binding_create(executable, NULL, NULL, &binding));
    CHECK_OK(hg_circuit_to_isa_translate("copy@c01->c02", 13, NULL, NULL, &circuit));

    hg_config config = hg_config_default();
    memcpy(config.backend, "null", 5);
    const hg_launch launch = {sizeof launch, {2, 1, 1}, {3, 1, 1}, 0, 5, 0, 0, 0};
    const hg_command command = {
        .size = sizeof command, .kind = HG_COMMAND_LAUNCH, .binding = binding};
    const hg_circuit_options options = {.size = sizeof options, .name = "named"};
    const hg_circuit_launch elements = {sizeof elements, 2, 0};
    static const char *const defines[] = {"N=2"};
    const hg_assemble_options assembling = {
        .size = sizeof assembling, .defines = defines, .define_count = 1};
    const hg_allocator allocator = {sizeof allocator, NULL, plain_reallocate, plain_release};
    const subject subjects[] = {
        {"hg_config", "backend", sizeof config, 24, &config, use_config},
        {"hg_config", "backend", sizeof config, 24, &config, use_config_for_env},
        {"hg_launch", "block", sizeof launch, 32, &launch, use_launch},
        {"hg_launch", "block", sizeof launch, 32, &launch, use_launch_for_binding},
        {"hg_command", "length", sizeof command, 64, &command, use_command},
        {"hg_circuit_options", "variants", sizeof options, 16, &options, use_options},
        {"hg_circuit_options", "variants", sizeof options, 16, &options, use_options_to_translate},
        {"hg_circuit_options", "variants", sizeof options, 16, &options, use_options_to_lower},
        {"hg_assemble_options", "define_count", sizeof assembling, 24, &assembling, use_assembling},
        {"hg_circuit_launch", "elements", sizeof elements, 16, &elements, use_circuit_launch},
        {"hg_translated_program", "whole_array", sizeof circuit, 160, &circuit, use_circuit},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) test_subject(&subjects[i]);
    hg_launch short_launch = launch; /* lanes are behind it */
    short_launch.size = 32;
    CHECK(hg_launch_total_threads(&launch) == 5 && hg_launch_total_threads(&short_launch) == 6);

    test_device_info();
    test_translated();
    test_config_init();
    test_records();
    test_commands();

    hg_translated_program_release(&circuit);
    hg_binding_destroy(binding);
    hg_executable_destroy(executable);
    hg_queue_destroy(queue);
    hg_program_release(program);
    hg_backend_destroy(backend);
    const subject last = {"hg_allocator",   "release",  sizeof allocator,
                          sizeof allocator, &allocator, use_allocator}; /* nothing may be alive */
    test_subject(&last);
    return test_done();
}
