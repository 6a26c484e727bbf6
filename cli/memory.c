/* The memory of a command: its inputs and outputs count towards the same limit as the backend's
 * buffers. Must not know: launches. */
#include "cli.h"
#include "runtime/client.h"
#include <string.h>

bool cli_size(cli *c, const char *option, const char *text, uint64_t most, uint64_t *value) {
    uint64_t bytes = 0;
    if (!text) return true;
    if (hg_parse_size(text, &bytes) && bytes <= most) {
        *value = bytes;
        return true;
    }
    if (*text >= '0' && *text <= '9' && text[strspn(text, "0123456789_")] == '\0')
        return cli_number(c, option, text, most, value);
    cli_usage(c, "%s expects a number of bytes up to %llu, as 1048576 or 512M, got '%s'", option,
              (unsigned long long)most, text);
    return false;
}

bool cli_memory_begin(cli *c, const char *max_memory) {
    hg_config config;
    if (hg_config_load(NULL, &config) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    c->max_memory = config.max_memory;
    if (!cli_size(c, "--max-memory", max_memory, UINT64_MAX, &c->max_memory)) return false;
    hg_budget_of_host(&c->own_memory, c->max_memory);
    c->memory = &c->own_memory;
    return true;
}

hg_status cli_memory_share(cli *c, hg_backend *backend) {
    hg_budget *shared = hg_backend_host_budget(backend);
    if (!shared) return HG_OK;
    HG_TRY(hg_budget_charge(shared, hg_budget_used(&c->own_memory)));
    c->memory = shared;
    return HG_OK;
}

uint8_t *cli_zeroed(cli *c, uint64_t bytes, size_t alignment) {
    if (hg_budget_charge(c->memory, bytes) == HG_OK) {
        uint8_t *memory = bytes < SIZE_MAX / 2
                              ? hg_calloc_aligned(bytes ? (size_t)bytes : 1, alignment)
                              : NULL;
        if (memory) return memory;
        hg_budget_release(c->memory, bytes);
        (void)hg_fail_memory();
    }
    cli_last_error(c);
    return NULL;
}
