/* Profiles: what is recorded, totals beyond the bound, one trace for several backends, threads,
 * files that cannot be written. */
/* test: labels=threads */
#include "profile/profile.h"
#include "support/runtime_support.h"
#include <pthread.h>
#include <unistd.h>

static char folder[] = "/tmp/hologram-profile-XXXXXX";

static char *path_of(const char *name) {
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    size_t length = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(1, length + 1);
    CHECK_U64(text ? fread(text, 1, length, f) : 0, length);
    fclose(f);
    return text;
}

/* Not with strstr: sanitizers measure the whole text at every call. */
static uint64_t occurrences(const char *text, const char *of) {
    uint64_t n = 0, length = strlen(of), left = text ? strlen(text) : 0;
    for (; left >= length; text++, left--) n += memcmp(text, of, length) == 0;
    return n;
}

static hg_backend *recording(const char *backend, const char *path) {
    hg_config config;
    hg_backend *b = NULL;
    CHECK_OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    config.profiling = true;
    config.profile_file = path;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) exit(test_done());
    return b;
}

/* The row of the table that starts with kind and name: its count and bytes. */
static void check_row(const char *table, const char *kind, const char *name, uint64_t count,
                      uint64_t bytes) {
    char start[64];
    unsigned long long seen = 0, moved = 0;
    double total = 0, longest = 0;
    snprintf(start, sizeof start, "\n%-9s %-32s ", kind, name);
    const char *row = table ? strstr(table, start) : NULL;
    CHECK_MESSAGE(row != NULL, "no row '%s %s' in\n%s", kind, name, table ? table : "(none)");
    if (!row) return;
    int fields = sscanf(row + strlen(start), "%llu %lf %lf %llu", &seen, &total, &longest, &moved);
    CHECK(fields >= 3 && total >= longest && longest > 0);
    CHECK_U64(seen, count);
    CHECK_U64(fields == 4 ? moved : 0, bytes);
}

static void test_launches(const char *backend) {
    char *path = path_of("launches.json"), beside[300];
    hg_backend *b = recording(backend, path);
    hg_program *p = assemble(AXPY);
    hg_params *params = hg_params_create();
    float x[100] = {1}, alpha = 2;
    hg_buffer bx = make_buffer(b, x, sizeof x), by = make_buffer(b, x, sizeof x);
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    for (int i = 0; i < 5; i++)
        CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, by, x, sizeof x));
    CHECK_OK(hg_backend_write_profile(b, NULL));
    snprintf(beside, sizeof beside, "%s.txt", path);
    char *table = read_text(beside), *trace = read_text(path);
    check_row(table, "program", "p", 5, 0);
    check_row(table, "kernel", "p", 5, 5 * 3 * sizeof x); /* x is read, y read and written */
    check_row(table, "copy in", "buffer", 2, 2 * sizeof x);
    check_row(table, "copy out", "buffer", 1, sizeof x);
    check_row(table, "compile", "p", 1, 0);
    check_row(table, "compile", "verify", 1, 0);
    CHECK_U64(occurrences(trace, "\"cat\":\"kernel\""), 5);
    CHECK_U64(occurrences(trace, "\"lanes\":100"), 10);
    CHECK_U64(occurrences(trace, "\"line\":8"), 5); /* the first instruction's */
    free(table);
    free(trace);
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
}

/* More spans than are kept: the trace says so, the totals have them all. */
static void test_bounds(void) {
    hg_profile *profile = NULL;
    hg_text trace = {0}, table = {0};
    char name[32], expected[64];
    CHECK_OK(hg_profile_create(NULL, "nothing \"quoted\"\n", &profile));
    CHECK_STATUS(hg_profile_write(profile, NULL), HG_ERROR_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < HG_PROFILE_EVENTS + 1000; i++) {
        snprintf(name, sizeof name, "name %u", (unsigned)(i % (HG_PROFILE_NAMES + 10)));
        hg_profile_end(profile, &(hg_profile_span){.kind = HG_PROFILE_FILL,
                                                   .name = name,
                                                   .start_ns = hg_clock_ns() - 1,
                                                   .bytes = 3});
    }
    hg_profile_end(profile, &(hg_profile_span){.kind = HG_PROFILE_FILL, .name = "never started"});
    hg_profile_trace(profile, &trace);
    hg_profile_table(profile, &table);
    snprintf(expected, sizeof expected, "\"events\":%d,\"dropped\":1000}", HG_PROFILE_EVENTS);
    CHECK(strstr(trace.data, expected) != NULL);
    CHECK_U64(occurrences(trace.data, "\"ph\":\"X\""), HG_PROFILE_EVENTS);
    CHECK(strstr(trace.data, "nothing \\\"quoted\\\"\\u000a") != NULL);
    uint64_t round = HG_PROFILE_NAMES + 10, all = HG_PROFILE_EVENTS + 1000;
    check_row(table.data, "fill", "name 0", (all + round - 1) / round,
              3 * ((all + round - 1) / round));
    CHECK(strstr(table.data, "(other)") != NULL); /* names beyond the table's bound */
    CHECK(strstr(table.data, "\n1000 spans are not in the trace") != NULL);
    CHECK(strstr(table.data, "never started") == NULL);
    hg_text_free(&table);
    hg_profile_table(profile, &table); /* totals are found again after they were sorted */
    hg_profile_end(profile, &(hg_profile_span){.kind = HG_PROFILE_FILL,
                                               .name = "name 0",
                                               .start_ns = hg_clock_ns() - 1,
                                               .bytes = 3});
    hg_text_free(&table);
    hg_profile_table(profile, &table);
    check_row(table.data, "fill", "name 0", (all + round - 1) / round + 1,
              3 * ((all + round - 1) / round + 1));
    hg_text_free(&table);
    hg_text_free(&trace);
    hg_profile_destroy(profile);
}

static void test_shared_file(void) {
    char *path = path_of("shared.json");
    hg_backend *a = recording("cpu", path), *b = recording("null", path);
    hg_buffer x = make_buffer(a, "12345678", 8), y = make_buffer(b, "1234", 4);
    CHECK(x.handle && y.handle);
    hg_backend_destroy(a);
    hg_backend_destroy(b); /* the last one writes */
    char *trace = read_text(path);
    CHECK_U64(occurrences(trace, "process_name"), 2);
    CHECK_U64(occurrences(trace, "\"cat\":\"copy in\""), 2);
    CHECK(trace && strstr(trace, "\"name\":\"cpu 0") && strstr(trace, "\"name\":\"null 0"));
    free(trace);
}

static void *copy_often(void *user) {
    hg_backend *b = user;
    hg_buffer buffer = {0};
    uint8_t bytes[64] = {0};
    if (hg_backend_allocate_buffer(b, sizeof bytes, &buffer) != HG_OK)
        return NULL; /* the rows below miss its copies then */
    for (int i = 0; i < 500; i++) (void)!hg_backend_copy_to_buffer(b, buffer, bytes, sizeof bytes);
    return NULL;
}

static void test_threads(void) {
    char *path = path_of("threads.json"), beside[300];
    hg_backend *b = recording("cpu", path);
    pthread_t threads[4];
    hg_queue *q = NULL;
    hg_buffer buffer = make_buffer(b, NULL, 64);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, copy_often, b);
    CHECK_OK(hg_queue_create(b, NULL, &q));
    hg_command fill = {
        .size = sizeof fill, .kind = HG_COMMAND_FILL, .buffer = buffer, .length = 64, .value = 7};
    for (int i = 0; i < 10; i++) CHECK_OK(hg_queue_submit(q, &fill, 1, NULL, 0, NULL));
    CHECK_OK(hg_queue_synchronize(q));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    hg_queue_destroy(q);
    hg_backend_destroy(b);
    snprintf(beside, sizeof beside, "%s.txt", path);
    char *table = read_text(beside), *trace = read_text(path);
    check_row(table, "copy in", "buffer", 2000, 2000 * 64);
    check_row(table, "fill", "buffer", 10, 640);
    CHECK(trace && strstr(trace, "\"name\":\"queue 1\""));
    free(table);
    free(trace);
}

static void test_files(void) {
    hg_config config;
    hg_backend *b = NULL;
    CHECK_OK(hg_config_from_env(&config));
    config.profile_file = "/dev/null/none/folder/p.json";
    CHECK_STATUS(hg_backend_create_with_config(&config, &b), HG_ERROR_IO);
    CHECK_TEXT(hg_last_error()->code, "X02");
    config.profile_file = "-";
    CHECK_STATUS(hg_backend_create_with_config(&config, &b), HG_ERROR_INVALID_ARGUMENT);
    char *path = path_of("early.json");
    b = recording("null", path);
    char *trace = read_text(path); /* there from the start: a process that dies leaves a valid file
                                    */
    CHECK(trace && strstr(trace, "\"traceEvents\"") &&
          strcmp(trace + strlen(trace) - 4, "\n]}\n") == 0);
    free(trace);
    hg_backend_destroy(b);
    b = open_backend("null");
    CHECK_STATUS(hg_backend_write_profile(b, path), HG_ERROR_INVALID_ARGUMENT);
    hg_backend_destroy(b);
    CHECK_STATUS(hg_backend_write_profile(NULL, path), HG_ERROR_INVALID_ARGUMENT);
    b = recording("null", NULL); /* only on demand */
    CHECK_OK(hg_backend_write_profile(b, path_of("demand.json")));
    hg_backend_destroy(b);
}

/* Every allocation fails once: spans may be lost, nothing else. */
static void test_out_of_memory(void) {
    for (uint64_t n = 1; n < 40; n++) {
        hg_profile *profile = NULL;
        hg_text trace = {0};
        failing_allocator a = {.fail_at = n, .only_once = true};
        CHECK_OK(hg_set_allocator(
            &(hg_allocator){sizeof(hg_allocator), &a, failing_reallocate, failing_release}));
        hg_status status = hg_profile_create(NULL, "device", &profile);
        for (int i = 0; i < 20 && status == HG_OK; i++)
            hg_profile_end(profile, &(hg_profile_span){.kind = HG_PROFILE_COPY,
                                                       .name = "x",
                                                       .detail = "y",
                                                       .start_ns = hg_clock_ns()});
        if (status == HG_OK) hg_profile_trace(profile, &trace);
        hg_text_free(&trace);
        hg_profile_destroy(profile);
        CHECK(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY);
        CHECK_U64(a.live, 0);
        CHECK_OK(hg_set_allocator(NULL));
    }
}

int main(void) {
    if (!mkdtemp(folder)) {
        SKIP("no temporary folder");
        return test_done();
    }
    test_launches("cpu");
    test_launches("null");
    test_bounds();
    test_shared_file();
    test_threads();
    test_files();
    test_out_of_memory();
    char remove[300];
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    CHECK(system(remove) == 0);
    return test_done();
}
