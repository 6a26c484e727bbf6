/* What front ends keep in the folder of compiled kernels: what is got is what was put under that
 * key, for every backend of the folder, and nothing where there is no folder. */
#include "runtime/backend.h"
#include "support/runtime_support.h"

#include <stdlib.h>
#include <unistd.h>

static const uint8_t KEY[] = "kernel 1", OTHER[] = "kernel 2", BYTES[] = "what it became";

static hg_backend *open_with(const char *folder) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    config.cache_dir = folder;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) exit(test_done());
    return b;
}

static void check_kept(hg_backend *b, const uint8_t *key, size_t length, const char *wanted) {
    uint8_t *bytes = NULL;
    size_t size = 99;
    CHECK_OK(hg_backend_cache_get(b, key, length, &bytes, &size));
    CHECK_U64(size, wanted ? strlen(wanted) : 0);
    CHECK(wanted ? bytes && memcmp(bytes, wanted, size) == 0 : !bytes);
    hg_string_free((char *)bytes);
}

int main(void) {
    char folder[] = "/tmp/hologram-kept-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    hg_backend *first = open_with(folder), *second = open_with(folder), *none = open_with("off");
    check_kept(first, KEY, sizeof KEY, NULL);
    CHECK_OK(hg_backend_cache_put(first, KEY, sizeof KEY, BYTES, sizeof BYTES - 1));
    check_kept(second, KEY, sizeof KEY, (const char *)BYTES);
    check_kept(second, KEY, sizeof KEY - 2, NULL);
    check_kept(second, OTHER, sizeof OTHER, NULL);
    CHECK_OK(hg_backend_cache_put(second, KEY, sizeof KEY, BYTES, 4));
    check_kept(first, KEY, sizeof KEY, "what");
    CHECK_OK(hg_backend_cache_put(none, KEY, sizeof KEY, BYTES, 4));
    check_kept(none, KEY, sizeof KEY, NULL);
    hg_backend_destroy(first);
    hg_backend_destroy(second);
    hg_backend_destroy(none);
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return test_done();
}
