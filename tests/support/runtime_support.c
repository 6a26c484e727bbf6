/* See runtime_support.h. */
#include "support/runtime_support.h"

hg_backend *open_backend(const char *name) {
    hg_backend *b = NULL;
    CHECK_OK(hg_backend_create(name, 0, &b));
    if (!b) exit(test_done());
    return b;
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
