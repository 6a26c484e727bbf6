/* Configuration: defaults and environment (env.def). The only file that reads the environment. */
#include "base/base.h"
#include <hologram/config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *preset;
} VARIABLES[] = {
#define HG_ENV(name, preset, what) {#name, preset},
#include "runtime/env.def"
#undef HG_ENV
};

const char *hg_config_env(const char *name) {
    for (size_t i = 0; i < HG_COUNT_OF(VARIABLES); i++) {
        if (strcmp(VARIABLES[i].name, name) != 0) continue;
        const char *value = getenv(name);
        return value && *value ? value : VARIABLES[i].preset;
    }
    return NULL;
}

hg_config hg_config_default(void) {
    hg_config config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    memcpy(config.backend, "auto", 5);
    config.timeout_ms = 30000;
    config.cache_programs = 256;
    return config;
}

static hg_status malformed(const char *name, const char *value, const char *expected) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Environment variable error: %s='%s', expected %s", name, value, expected);
}

static hg_status read_number(const char *name, uint64_t most, uint64_t *number) {
    const char *value = hg_config_env(name);
    uint64_t n = 0;
    if (!*value) return malformed(name, value, "a number");
    for (const char *c = value; *c; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (*c < '0' || *c > '9' || n > (most - digit) / 10) return malformed(name, value, "a number that is not too large");
        n = n * 10 + digit;
    }
    *number = n;
    return HG_OK;
}

static hg_status read_word(const char *name, char *word, size_t size) {
    const char *value = hg_config_env(name);
    if (strlen(value) >= size) return malformed(name, value, "a shorter word");
    memcpy(word, value, strlen(value) + 1);
    return HG_OK;
}

static hg_status read_bool(const char *name, bool *result) {
    static const char *const yes[] = {"true", "1", "yes", "on"}, *const no[] = {"false", "0", "no", "off"};
    const char *value = hg_config_env(name);
    for (size_t i = 0; i < HG_COUNT_OF(yes); i++) {
        if (strcmp(value, yes[i]) == 0 || strcmp(value, no[i]) == 0) {
            *result = strcmp(value, yes[i]) == 0;
            return HG_OK;
        }
    }
    return malformed(name, value, "true or false");
}

hg_status hg_config_from_env(hg_config *config) {
    uint64_t number;
    *config = hg_config_default();
    HG_TRY(read_word("HOLOGRAM_BACKEND", config->backend, sizeof config->backend));
    HG_TRY(read_number("HOLOGRAM_DEVICE_ID", UINT32_MAX, &number));
    config->device_id = (uint32_t)number;
    HG_TRY(read_number("HOLOGRAM_NUM_THREADS", 256, &number));
    config->num_threads = (uint32_t)number;
    HG_TRY(read_number("HOLOGRAM_TIMEOUT_MS", UINT64_MAX / 1000000, &config->timeout_ms));
    HG_TRY(read_number("HOLOGRAM_MAX_BUFFER_SIZE", UINT64_MAX, &config->max_buffer_size));
    HG_TRY(read_word("HOLOGRAM_CPU_LEVEL", config->cpu_level, sizeof config->cpu_level));
    HG_TRY(read_word("HOLOGRAM_PRETEND", config->pretend, sizeof config->pretend));
    HG_TRY(read_bool("HOLOGRAM_ENABLE_PROFILING", &config->profiling));
    config->profile_file = hg_config_env("HOLOGRAM_PROFILE_FILE");
    if (config->profiling && !*config->profile_file) config->profile_file = "hologram-profile.json";
    return HG_OK;
}
