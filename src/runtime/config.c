/* Configuration: defaults and environment (env.def). The only file that reads our part of the
 * environment. */
#include "base/base.h"
#include "base/host.h"
#include "base/sized.h"
#include "runtime/backend.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *preset;
} VARIABLES[] = {
#define HG_ENV(name, preset, what) {#name, preset},
#include "runtime/env.def"
#undef HG_ENV
};

/* Set to nothing is unset: NULL. */
static const char *set_value(const char *name) {
    const char *value = hg_host_variable(name);
    return value && *value ? value : NULL;
}

const char *hg_config_env(const char *name) {
    HG_ENTRY;
    for (size_t i = 0; name && i < HG_COUNT_OF(VARIABLES); i++) {
        if (strcmp(VARIABLES[i].name, name) != 0) continue;
        const char *value = set_value(name);
        return value ? value : VARIABLES[i].preset;
    }
    return NULL;
}

static const char AUTO_DIR[] = "auto";

static const hg_sized RULES = HG_SIZED(hg_config, backend,
                                       "fill it with hg_config_default or hg_config_init");

static void set_defaults(hg_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    memcpy(config->backend, "auto", 5);
    memcpy(config->jit, "auto", 5);
    memcpy(config->vendor, "auto", 5);
    config->timeout_ms = 30000;
    config->compile_timeout_ms = 120000;
    config->cache_programs = 256;
    config->cache_dir = AUTO_DIR;
    config->cache_bytes = 268435456;
}

hg_status hg_config_init(hg_config *config, size_t size) {
    HG_ENTRY;
    hg_config own;
    if (!config) return hg_null_argument("config");
    HG_TRY(hg_sized_check(&RULES, size));
    set_defaults(&own);
    hg_sized_give(&RULES, &own, config, size);
    return HG_OK;
}

hg_status hg_config_take(const hg_config *given, hg_config *own) {
    set_defaults(own);
    return hg_sized_take(&RULES, given, own);
}

static hg_status malformed(const char *name, const char *value, const char *expected) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Environment variable error: %s='%s', expected %s",
                   name, value, expected);
}

static hg_status read_number(const char *name, uint64_t most, uint64_t *number) {
    const char *value = hg_config_env(name);
    size_t length = strlen(value);
    uint64_t n;
    if (!length) return malformed(name, value, "a number");
    if (hg_read_digits(value, length, &n) != length || n > most) {
        char expected[48];
        snprintf(expected, sizeof expected, "a number up to %llu", (unsigned long long)most);
        return malformed(name, value, expected);
    }
    *number = n;
    return HG_OK;
}

/* Bytes: a number, or one of K, M, G, T behind it. */
static hg_status read_size(const char *name, uint64_t *bytes) {
    const char *value = hg_config_env(name);
    return hg_parse_size(value, bytes) ? HG_OK
                                       : malformed(name, value, "bytes, as 1048576 or 512M");
}

static hg_status read_word(const char *name, char *word, size_t size) {
    const char *value = hg_config_env(name);
    if (strlen(value) >= size) return malformed(name, value, "a shorter word");
    memcpy(word, value, strlen(value) + 1);
    return HG_OK;
}

static hg_status read_choice(const char *name, char word[8]) {
    const char *value = hg_config_env(name);
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0 && strcmp(value, "auto") != 0)
        return malformed(name, value, "on, off or auto");
    memcpy(word, value, strlen(value) + 1);
    return HG_OK;
}

/* In any case: TRUE, True, true. */
static bool same_word(const char *value, const char *word) {
    for (; *value && *word; value++, word++)
        if ((*value >= 'A' && *value <= 'Z' ? *value - 'A' + 'a' : *value) != *word) return false;
    return *value == *word;
}

static hg_status read_bool(const char *name, bool *result) {
    static const char *const yes[] = {"true", "1", "yes", "on"}, *const no[] = {"false", "0", "no",
                                                                                "off"};
    const char *value = hg_config_env(name);
    for (size_t i = 0; i < HG_COUNT_OF(yes); i++) {
        if (same_word(value, yes[i]) || same_word(value, no[i])) {
            *result = same_word(value, yes[i]);
            return HG_OK;
        }
    }
    return malformed(name, value, "true or false");
}

static hg_status read_variables(hg_config *config) {
    uint64_t number;
    HG_TRY(read_word("HOLOGRAM_BACKEND", config->backend, sizeof config->backend));
    HG_TRY(read_number("HOLOGRAM_DEVICE_ID", UINT32_MAX, &number));
    config->device_id = (uint32_t)number;
    HG_TRY(read_number("HOLOGRAM_NUM_THREADS", 256, &number));
    config->num_threads = (uint32_t)number;
    HG_TRY(read_number("HOLOGRAM_TIMEOUT_MS", UINT64_MAX / 1000000, &config->timeout_ms));
    HG_TRY(read_number("HOLOGRAM_COMPILE_TIMEOUT_MS", UINT64_MAX / 1000000,
                       &config->compile_timeout_ms));
    HG_TRY(read_size("HOLOGRAM_MAX_BUFFER_SIZE", &config->max_buffer_size));
    HG_TRY(read_size("HOLOGRAM_MAX_MEMORY", &config->max_memory));
    HG_TRY(read_word("HOLOGRAM_CPU_LEVEL", config->cpu_level, sizeof config->cpu_level));
    HG_TRY(read_choice("HOLOGRAM_JIT", config->jit));
    HG_TRY(read_choice("HOLOGRAM_VENDOR", config->vendor));
    if (!set_value("HOLOGRAM_VENDOR") && set_value("HOLOGRAM_NATIVE"))
        HG_TRY(read_choice("HOLOGRAM_NATIVE", config->vendor));
    HG_TRY(read_bool("HOLOGRAM_DETERMINISTIC", &config->deterministic));
    HG_TRY(read_word("HOLOGRAM_PRETEND", config->pretend, sizeof config->pretend));
    HG_TRY(read_size("HOLOGRAM_CACHE_BYTES", &config->cache_bytes));
    const char *dir = hg_config_env("HOLOGRAM_CACHE_DIR");
    config->cache_dir = strcmp(dir, AUTO_DIR) == 0 ? AUTO_DIR : dir;
    HG_TRY(read_bool("HOLOGRAM_PROFILING", &config->profiling));
    if (set_value("HOLOGRAM_ENABLE_PROFILING"))
        HG_TRY(read_bool("HOLOGRAM_ENABLE_PROFILING", &config->profiling));
    HG_TRY(read_bool("HOLOGRAM_VERIFY", &config->verify));
    config->profile_file = hg_config_env("HOLOGRAM_PROFILE_FILE");
    if (!*config->profile_file)
        config->profile_file = config->profiling ? "hologram-profile.json" : NULL;
    return HG_OK;
}

hg_status hg_config_read_env(hg_config *config) {
    HG_ENTRY;
    hg_config own;
    if (!config) return hg_null_argument("config");
    HG_TRY(hg_config_take(config, &own));
    HG_TRY(read_variables(&own));
    hg_sized_give(&RULES, &own, config, config->size);
    return HG_OK;
}

/* The directory that config.cache_dir means, to be freed; "" for none. A relative $XDG_CACHE_HOME
 * does not count (its specification). */
hg_status hg_config_cache_path(const hg_config *config, char **path) {
    hg_text text = {0};
    const char *dir = config->cache_dir ? config->cache_dir : "", *base;
    if (strcmp(dir, "off") == 0 || config->cache_bytes == 0)
        dir = "";
    else if (strcmp(dir, AUTO_DIR) == 0) {
        dir = "";
        if ((base = hg_host_variable("XDG_CACHE_HOME")) && *base == '/')
            hg_text_addf(&text, "%s/hologram", base);
        else if ((base = hg_host_variable("HOME")) && *base == '/')
            hg_text_addf(&text, "%s/.cache/hologram", base);
    }
    if (!text.length) hg_text_add(&text, dir, strlen(dir));
    if (text.failed) {
        hg_text_free(&text);
        return hg_fail_memory();
    }
    *path = text.data;
    return HG_OK;
}

hg_status hg_config_env_cache_path(char **path) {
    hg_error kept = *hg_error_record();
    hg_config config;
    set_defaults(&config);
    if (read_variables(&config) != HG_OK) config.cache_dir = NULL;
    *hg_error_record() = kept;
    return hg_config_cache_path(&config, path);
}

hg_status hg_config_trial(const char *cache_path, hg_trial_options *options) {
    *options = (hg_trial_options){.helper = hg_config_env("HOLOGRAM_DRIVER_HELPER"),
                                  .cache_dir = cache_path};
    return read_number("HOLOGRAM_DRIVER_TIMEOUT_MS", UINT64_MAX / 1000000, &options->limit_ms);
}
