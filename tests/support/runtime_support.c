/* See runtime_support.h. */
#include "support/runtime_support.h"
#include "runtime/backend.h"
#include <time.h>

hg_backend *open_backend(const char *name) {
    hg_backend *b = NULL;
    CHECK_OK(hg_backend_create(name, 0, &b));
    if (!b) exit(test_done());
    return b;
}

hg_status open_in_steps(const hg_config *config, hg_backend **backend) {
    const struct timespec moment = {.tv_nsec = 100000};
    hg_opening *opening = NULL;
    bool done = false;
    *backend = NULL;
    hg_status status = hg_backend_open_start(config, &opening);
    while (status == HG_OK && !done) {
        status = hg_opening_poll(opening, &done, backend);
        if (!done) nanosleep(&moment, NULL);
    }
    hg_opening_destroy(opening);
    return status;
}

void set_pretend(hg_config *config, const char *words) {
    hg_config all;
    CHECK_OK(hg_config_from_env(&all));
    int length = snprintf(config->pretend, sizeof config->pretend, "%s,%s", words, all.pretend);
    CHECK(length >= 0 && (size_t)length < sizeof config->pretend);
}

hg_buffer make_buffer(hg_backend *b, const void *data, uint64_t size) {
    hg_buffer buffer = {0};
    CHECK_OK(hg_backend_allocate_buffer(b, size, &buffer));
    if (data) CHECK_OK(hg_backend_copy_to_buffer(b, buffer, data, size));
    return buffer;
}

uint64_t count_in_trace(hg_backend *b, const char *text) {
    hg_text out = {0};
    uint64_t count = 0;
    hg_profile_trace(b->profile, &out);
    for (const char *at = out.data; at && (at = strstr(at, text)); at++) count++;
    hg_text_free(&out);
    return count;
}
