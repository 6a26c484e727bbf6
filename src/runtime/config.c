/* Configuration: defaults, and settings as text (env.def) that become fields, whether they come
 * from the environment, a profile or a file (config_file.c). The only file that reads our part of
 * the environment. */
#include "base/base.h"
#include "base/host.h"
#include "base/sized.h"
#include "base/compat.h"
#include "runtime/config.h"
#include <stdio.h>
#include <string.h>

const hg_setting hg_settings[HG_SETTING_COUNT] = {
#define HG_ENV(name, preset, key, what) {#name, preset, key, what},
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
    for (size_t i = 0; name && i < HG_SETTING_COUNT; i++) {
        if (strcmp(hg_settings[i].name, name) != 0) continue;
        const char *value = set_value(name);
        return value ? value : hg_settings[i].preset;
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
    config->pooling = true;
    config->pool_buffers = 1024;
    config->pool_bytes = UINT64_C(4096) << 20;
    memcpy(config->log_level, "info", 5);
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

/* ---- settings as fields ---- */

/* How the text of a setting is read, and into which field. */
typedef enum form {
    ELSEWHERE, /* asked for by its name */
    SWITCH,    /* apply_switches */
    WORD,      /* at most `most` bytes */
    CHOICE,    /* one of the words in `choices` */
    NUMBER32,
    NUMBER64,
    SIZE, /* bytes */
    MEBIBYTES,
    BOOLEAN,
    TEXT,  /* a const char * */
    TRIPLE /* three numbers */
} form;

typedef struct field {
    form form;
    size_t offset;
    uint64_t least, most;
    const char *choices; /* separated by blanks */
} field;
#define AT(name) offsetof(hg_config, name)
#define WORD_OF(name) \
    { WORD, AT(name), 0, sizeof(((hg_config *)0)->name) - 1, NULL }
#define LONGEST_MS (UINT64_MAX / 1000000)

static const field FIELDS[HG_SETTING_COUNT] = {
    [HG_SET_HOLOGRAM_BACKEND] = WORD_OF(backend),
    [HG_SET_HOLOGRAM_DEVICE_ID] = {NUMBER32, AT(device_id), 0, UINT32_MAX, NULL},
    [HG_SET_HOLOGRAM_NUM_THREADS] = {NUMBER32, AT(num_threads), 0, 256, NULL},
    [HG_SET_HOLOGRAM_TIMEOUT_MS] = {NUMBER64, AT(timeout_ms), 0, LONGEST_MS, NULL},
    [HG_SET_HOLOGRAM_COMPILE_TIMEOUT_MS] = {NUMBER64, AT(compile_timeout_ms), 0, LONGEST_MS, NULL},
    [HG_SET_HOLOGRAM_MAX_BUFFER_SIZE] = {SIZE, AT(max_buffer_size), 0, 0, NULL},
    [HG_SET_HOLOGRAM_MAX_MEMORY] = {SIZE, AT(max_memory), 0, 0, NULL},
    [HG_SET_HOLOGRAM_CPU_LEVEL] = WORD_OF(cpu_level),
    [HG_SET_HOLOGRAM_JIT] = {CHOICE, AT(jit), 0, 0, "on off auto"},
    [HG_SET_HOLOGRAM_NATIVE] = {CHOICE, AT(vendor), 0, 0, "on off auto"},
    [HG_SET_HOLOGRAM_VENDOR] = {CHOICE, AT(vendor), 0, 0, "on off auto"},
    [HG_SET_HOLOGRAM_DETERMINISTIC] = {BOOLEAN, AT(deterministic), 0, 0, NULL},
    [HG_SET_HOLOGRAM_PRETEND] = WORD_OF(pretend),
    [HG_SET_HOLOGRAM_CACHE_DIR] = {TEXT, AT(cache_dir), 0, 0, NULL},
    [HG_SET_HOLOGRAM_CACHE_BYTES] = {SIZE, AT(cache_bytes), 0, 0, NULL},
    [HG_SET_HOLOGRAM_PROFILING] = {BOOLEAN, AT(profiling), 0, 0, NULL},
    [HG_SET_HOLOGRAM_ENABLE_PROFILING] = {BOOLEAN, AT(profiling), 0, 0, NULL},
    [HG_SET_HOLOGRAM_PROFILE_FILE] = {TEXT, AT(profile_file), 0, 0, NULL},
    [HG_SET_HOLOGRAM_VERIFY] = {BOOLEAN, AT(verify), 0, 0, NULL},
    [HG_SET_HOLOGRAM_OPTIMIZATIONS] = {SWITCH, 0, 0, 0, NULL},
    [HG_SET_HOLOGRAM_ENABLE_SIMD] = {SWITCH, 0, 0, 0, NULL},
    [HG_SET_HOLOGRAM_ENABLE_CACHE] = {SWITCH, 0, 0, 0, NULL},
    [HG_SET_HOLOGRAM_PARALLEL] = {SWITCH, 0, 0, 0, NULL},
    [HG_SET_HOLOGRAM_CACHE_SIZE_MB] = {NUMBER64, AT(cache_size_mb), 0, UINT64_MAX >> 20, NULL},
    [HG_SET_HOLOGRAM_ENABLE_POOLING] = {BOOLEAN, AT(pooling), 0, 0, NULL},
    [HG_SET_HOLOGRAM_BUFFER_POOL_SIZE] = {NUMBER32, AT(pool_buffers), 1, 65536, NULL},
    [HG_SET_HOLOGRAM_POOL_CAPACITY] = {MEBIBYTES, AT(pool_bytes), 1, UINT64_C(1) << 43, NULL},
    [HG_SET_HOLOGRAM_LAUNCH_GRID] = {TRIPLE, AT(grid), 1, UINT32_MAX, NULL},
    [HG_SET_HOLOGRAM_LAUNCH_BLOCK] = {TRIPLE, AT(block), 1, UINT32_MAX, NULL},
    [HG_SET_HOLOGRAM_LOG_LEVEL] = {CHOICE, AT(log_level), 0, 0, "error warn info debug trace"},
    [HG_SET_HOLOGRAM_LOG_FILE] = {TEXT, AT(log_file), 0, 0, NULL},
};

/* A number in decimal, in its limits. */
static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number) {
    size_t length = strlen(text);
    return length && hg_read_digits(text, length, number) == length && *number >= least &&
           *number <= most;
}

static bool read_bool(const char *value, bool *result) {
    static const char *const yes[] = {"true", "1", "yes", "on"}, *const no[] = {"false", "0", "no",
                                                                                "off"};
    for (size_t i = 0; i < HG_COUNT_OF(yes); i++) {
        if (!hg_same_name(value, yes[i]) && !hg_same_name(value, no[i])) continue;
        *result = hg_same_name(value, yes[i]);
        return true;
    }
    return false;
}

static bool is_choice(const char *value, const char *choices) {
    size_t length = strlen(value);
    for (const char *word = choices; length && *word;) {
        size_t n = strcspn(word, " ");
        if (n == length && memcmp(word, value, n) == 0) return true;
        word += n + (word[n] == ' ');
    }
    return false;
}

static bool read_triple(const char *value, const field *f, uint32_t numbers[3]) {
    for (int i = 0; i < 3; i++) {
        uint64_t number;
        size_t digits = hg_read_digits(value, strlen(value), &number);
        if (!digits || number < f->least || number > f->most) return false;
        numbers[i] = (uint32_t)number;
        value += digits;
        if (*value++ != (i < 2 ? ',' : '\0')) return false;
    }
    return true;
}

/* What a setting takes, for messages. */
static const char *expected(const field *f, char text[64]) {
    switch (f->form) {
    case WORD: return "a shorter word";
    case SWITCH:
    case BOOLEAN: return "true or false";
    case SIZE: return "bytes, as 1048576 or 512M";
    case MEBIBYTES: return "MiB, a power of two";
    case TRIPLE: return "three numbers from 1, as 4,1,1";
    case CHOICE: {
        size_t last = strlen(f->choices), length = 0;
        while (f->choices[last - 1] != ' ') last--;
        for (const char *c = f->choices; *c; c++) {
            const char *between = *c != ' '                               ? NULL
                                  : c - f->choices + 1 == (ptrdiff_t)last ? " or "
                                                                          : ", ";
            length += (size_t)snprintf(text + length, 64 - length, between ? "%s" : "%.1s",
                                       between ? between : c);
        }
        return text;
    }
    default:
        if (f->least)
            snprintf(text, 64, "a number from %llu to %llu", (unsigned long long)f->least,
                     (unsigned long long)f->most);
        else
            snprintf(text, 64, "a number up to %llu", (unsigned long long)f->most);
        return text;
    }
}

static bool read_field(const field *f, const char *value, hg_config *config) {
    void *to = (char *)config + f->offset;
    uint64_t number;
    uint32_t three[3];
    bool on;
    switch (f->form) {
    case ELSEWHERE: return true;
    case SWITCH: return read_bool(value, &on);
    case WORD:
        if (strlen(value) > f->most) return false;
        memcpy(to, value, strlen(value) + 1);
        return true;
    case CHOICE:
        if (!is_choice(value, f->choices)) return false;
        memcpy(to, value, strlen(value) + 1);
        return true;
    case NUMBER32:
        if (!read_number(value, f->least, f->most, &number)) return false;
        *(uint32_t *)to = (uint32_t)number;
        return true;
    case NUMBER64: return read_number(value, f->least, f->most, to);
    case SIZE: return hg_parse_size(value, to);
    case MEBIBYTES:
        if (!read_number(value, f->least, f->most, &number) || (number & (number - 1)))
            return false;
        *(uint64_t *)to = number << 20;
        return true;
    case BOOLEAN: return read_bool(value, to);
    case TEXT: return true;
    case TRIPLE:
        if (!read_triple(value, f, three)) return false;
        memcpy(to, three, sizeof three);
        return true;
    }
    return false;
}

hg_status hg_config_malformed(const hg_setting_value values[], size_t i, const char *what) {
    const hg_setting_value *value = &values[i];
    if (value->from == HG_FROM_FILE)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Configuration error: %s: %s = %s, expected %s",
                       value->place, hg_settings[i].key, value->text, what);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "Environment variable error: %s%s%s='%s', expected %s",
                   value->place ? value->place : "", value->place ? ": " : "", hg_settings[i].name,
                   value->text, what);
}

static bool is_off(const hg_setting_value values[], size_t i) {
    bool on = true;
    return values[i].text && read_bool(values[i].text, &on) && !on;
}

/* What the switches of the specification turn off, whatever the settings say. */
static void apply_switches(const hg_setting_value values[], hg_config *config) {
    bool plain = is_off(values, HG_SET_HOLOGRAM_ENABLE_SIMD);
    if (plain) memcpy(config->cpu_level, "baseline", 9);
    if (plain || is_off(values, HG_SET_HOLOGRAM_OPTIMIZATIONS)) {
        memcpy(config->jit, "off", 4);
        memcpy(config->vendor, "off", 4);
    }
    if (is_off(values, HG_SET_HOLOGRAM_ENABLE_CACHE)) {
        config->cache_dir = "off";
        config->pooling = false;
    }
    if (is_off(values, HG_SET_HOLOGRAM_PARALLEL)) config->num_threads = 1;
}

/* Texts that configurations point to, for the life of the process, each once. */
typedef struct kept_text {
    struct kept_text *next;
    char text[];
} kept_text;
static kept_text *all_kept; /* atomic */

static const char *keep(const char *text) {
    kept_text *first = hg_atomic_load(&all_kept, HG_ACQUIRE);
    for (kept_text *k = first; k; k = k->next)
        if (strcmp(k->text, text) == 0) return k->text;
    kept_text *k = hg_alloc(sizeof *k + strlen(text) + 1);
    if (!k) return NULL;
    memcpy(k->text, text, strlen(text) + 1);
    k->next = first;
    while (!hg_atomic_compare_exchange(&all_kept, &k->next, k, HG_SEQ_CST)) {}
    return k->text;
}

hg_status hg_config_apply(const hg_setting_value values[], hg_config *config) {
    char text[64];
    for (size_t i = 0; i < HG_SETTING_COUNT; i++) {
        const char *value = values[i].text;
        if (!value) continue;
        if (!read_field(&FIELDS[i], value, config))
            return hg_config_malformed(values, i, expected(&FIELDS[i], text));
        if (FIELDS[i].form != TEXT) continue;
        if (!(value = keep(value))) return hg_fail_memory();
        *(const char **)((char *)config + FIELDS[i].offset) = value;
    }
    apply_switches(values, config);
    if (config->cache_size_mb) {
        config->cache_bytes = config->cache_size_mb << 19;
        config->pool_bytes = config->cache_size_mb << 19;
    }
    if (config->profiling && !config->profile_file) config->profile_file = "hologram-profile.json";
    return HG_OK;
}

bool hg_setting_takes(size_t i, hg_toml_kind kind) {
    switch (FIELDS[i].form) {
    case NUMBER32:
    case NUMBER64:
    case MEBIBYTES: return kind == HG_TOML_INTEGER;
    case SIZE: return kind == HG_TOML_INTEGER || kind == HG_TOML_STRING;
    case SWITCH:
    case BOOLEAN: return kind == HG_TOML_BOOL;
    case TRIPLE: return kind == HG_TOML_INTEGERS;
    default: return kind == HG_TOML_STRING;
    }
}

hg_status hg_config_expected(const hg_setting_value values[], size_t i) {
    char text[64];
    return hg_config_malformed(values, i,
                               FIELDS[i].form == WORD || FIELDS[i].form == TEXT
                                   ? "a text in quotes"
                                   : expected(&FIELDS[i], text));
}

void hg_config_environment(hg_setting_value values[]) {
    for (size_t i = 0; i < HG_SETTING_COUNT; i++) {
        const char *value = set_value(hg_settings[i].name);
        if (value) values[i] = (hg_setting_value){value, HG_FROM_ENVIRONMENT, NULL};
    }
}

/* ---- profiles ---- */

static const struct {
    const char *name;
    struct {
        size_t setting;
        const char *text;
    } values[8];
} PROFILES[] = {
    {"dev",
     {{HG_SET_HOLOGRAM_BACKEND, "cpu"},
      {HG_SET_HOLOGRAM_MAX_BUFFER_SIZE, "100M"},
      {HG_SET_HOLOGRAM_BUFFER_POOL_SIZE, "256"},
      {HG_SET_HOLOGRAM_POOL_CAPACITY, "1024"},
      {HG_SET_HOLOGRAM_NUM_THREADS, "1"},
      {HG_SET_HOLOGRAM_TIMEOUT_MS, "10000"},
      {HG_SET_HOLOGRAM_LOG_LEVEL, "debug"}}},
    {"prod",
     {{HG_SET_HOLOGRAM_BACKEND, "cuda"},
      {HG_SET_HOLOGRAM_DEVICE_ID, "0"},
      {HG_SET_HOLOGRAM_MAX_BUFFER_SIZE, "8G"},
      {HG_SET_HOLOGRAM_BUFFER_POOL_SIZE, "4096"},
      {HG_SET_HOLOGRAM_POOL_CAPACITY, "16384"},
      {HG_SET_HOLOGRAM_NUM_THREADS, "0"},
      {HG_SET_HOLOGRAM_TIMEOUT_MS, "0"},
      {HG_SET_HOLOGRAM_LOG_LEVEL, "info"}}},
    {"test",
     {{HG_SET_HOLOGRAM_BACKEND, "cpu"},
      {HG_SET_HOLOGRAM_MAX_BUFFER_SIZE, "10M"},
      {HG_SET_HOLOGRAM_BUFFER_POOL_SIZE, "128"},
      {HG_SET_HOLOGRAM_POOL_CAPACITY, "512"},
      {HG_SET_HOLOGRAM_NUM_THREADS, "1"},
      {HG_SET_HOLOGRAM_TIMEOUT_MS, "5000"},
      {HG_SET_HOLOGRAM_LOG_LEVEL, "trace"}}},
};

hg_status hg_config_profile(hg_setting_value values[]) {
    const hg_setting_value *chosen = &values[HG_SET_HOLOGRAM_PROFILE];
    if (!chosen->text) return HG_OK;
    for (size_t k = 0; k < HG_COUNT_OF(PROFILES); k++) {
        if (strcmp(PROFILES[k].name, chosen->text) != 0) continue;
        for (size_t i = 0; i < 8 && PROFILES[k].values[i].text; i++) {
            hg_setting_value *value = &values[PROFILES[k].values[i].setting];
            if (!value->text)
                *value = (hg_setting_value){PROFILES[k].values[i].text, HG_FROM_PROFILE,
                                            PROFILES[k].name};
        }
        return HG_OK;
    }
    return hg_config_malformed(values, HG_SET_HOLOGRAM_PROFILE, "dev, prod or test");
}

/* What the environment sets, with its profile, over `config`. */
static hg_status read_variables(hg_config *config) {
    hg_setting_value values[HG_SETTING_COUNT] = {{0}};
    hg_config_environment(values);
    HG_TRY(hg_config_profile(values));
    return hg_config_apply(values, config);
}

void hg_config_give(const hg_config *own, hg_config *config) {
    hg_sized_give(&RULES, own, config, config->size);
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
    const char *limit = hg_config_env("HOLOGRAM_DRIVER_TIMEOUT_MS");
    if (read_number(limit, 0, LONGEST_MS, &options->limit_ms)) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "Environment variable error: HOLOGRAM_DRIVER_TIMEOUT_MS='%s', expected a number "
                   "of milliseconds",
                   limit);
}
