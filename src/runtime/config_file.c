/* Configuration files: which are read, and what they set. Settings become fields in config.c.
 * Must not know: what a setting does. */
#include "base/nearest.h"
#include "runtime/config.h"
#include "base/host.h"
#include "base/thread.h"
#include <stdio.h>
#include <string.h>

/* What is known of every setting so far, and the memory of its texts. */
typedef struct loading {
    hg_setting_value values[HG_SETTING_COUNT];
    hg_arena arena;
} loading;

static hg_status unreadable(const char *path, const char *why) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Failed to load config file: %s: %s", path,
                   *why ? why : "there is no such file");
}

/* The file's text in the arena; NULL: it is not there. */
static hg_status read_text(loading *l, const char *path, bool must, char **text, size_t *length) {
    *text = hg_arena_alloc(&l->arena, HG_TOML_MOST_BYTES + 1);
    if (!*text) return hg_fail_memory();
    const char *why = hg_host_read(path, *text, HG_TOML_MOST_BYTES + 1, length);
    if (!why) return HG_OK;
    *text = NULL;
    return *why || must ? unreadable(path, why) : HG_OK;
}

static hg_status place(loading *l, hg_setting_value *value, const char *format, const char *path,
                       uint32_t line, uint32_t column) {
    char text[320];
    int length = snprintf(text, sizeof text, format, path, (unsigned)line, (unsigned)column);
    value->place = hg_arena_text(&l->arena, text, length < 0 ? 0 : strlen(text));
    return value->place ? HG_OK : hg_fail_memory();
}

/* ---- hologram.toml ---- */

static hg_status set_key(loading *l, const char *path, const hg_toml_value *given) {
    hg_nearest nearest;
    size_t i = 0;
    while (i < HG_SETTING_COUNT && strcmp(hg_settings[i].key, given->key) != 0) i++;
    if (i == HG_SETTING_COUNT) {
        hg_nearest_init(&nearest, given->key, strlen(given->key));
        for (i = 0; i < HG_SETTING_COUNT; i++)
            if (*hg_settings[i].key) hg_nearest_try(&nearest, hg_settings[i].key);
        const char *hint = hg_nearest_hint(&nearest);
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Configuration error: %s:%u:%u: there is no setting '%.80s'%s%s", path,
                       (unsigned)given->key_line, (unsigned)given->key_column, given->key,
                       hint ? "; " : "", hint ? hint : "");
    }
    hg_setting_value *value = &l->values[i];
    *value = (hg_setting_value){.text = given->text, .from = HG_FROM_FILE};
    HG_TRY(place(l, value, "%s:%u:%u", path, given->line, given->column));
    bool whole = strlen(given->text) == given->length; /* no zero in it */
    return whole && hg_setting_takes(i, given->kind) ? HG_OK : hg_config_expected(l->values, i);
}

static hg_status take_document(loading *l, const char *path, const char *text, size_t length) {
    hg_toml document;
    hg_toml_fault fault;
    hg_status status = HG_OK;
    if (!hg_toml_read(&document, text, length, &fault))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Failed to parse TOML: %s:%u:%u: %s", path,
                       (unsigned)fault.line, (unsigned)fault.column, fault.message);
    for (uint64_t i = 0; i < document.values.count && status == HG_OK; i++) {
        hg_toml_value value = document.values.data[i];
        value.text = hg_arena_text(&l->arena, value.text, value.length);
        status = value.text ? set_key(l, path, &value) : hg_fail_memory();
    }
    hg_toml_free(&document);
    return status;
}

/* Where the user's own file is; "": nowhere. */
static void user_file(char *path, size_t size) {
    const char *home = hg_host_variable("XDG_CONFIG_HOME");
    const char *below = "/hologram/config.toml";
    if (!home || *home != '/') {
        home = hg_host_variable("HOME");
        below = "/.config/hologram/config.toml";
    }
    int length = home && *home == '/' ? snprintf(path, size, "%s%s", home, below) : 0;
    if (length <= 0 || (size_t)length >= size) *path = '\0';
}

static hg_status read_file(loading *l, const char *given) {
    char path[4096] = "hologram.toml", *text;
    size_t length;
    if (given) {
        HG_TRY(read_text(l, given, true, &text, &length));
        return take_document(l, given, text, length);
    }
    HG_TRY(read_text(l, path, false, &text, &length));
    if (!text) {
        user_file(path, sizeof path);
        if (!*path) return HG_OK;
        HG_TRY(read_text(l, path, false, &text, &length));
    }
    return text ? take_document(l, path, text, length) : HG_OK;
}

/* ---- .env ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The value of NAME=VALUE: in quotes, or as it stands to a " #" or the end of the line. */
static bool env_value(const char *text, size_t length, const char **value, size_t *size) {
    while (length && is_blank(*text)) text++, length--;
    while (length && is_blank(text[length - 1])) length--;
    if (length && (*text == '"' || *text == '\'')) {
        const char *end = memchr(text + 1, *text, length - 1);
        if (!end) return false;
        *value = text + 1;
        *size = (size_t)(end - text - 1);
        size_t behind = *size + 2;
        while (behind < length && is_blank(text[behind])) behind++;
        return behind == length || text[behind] == '#';
    }
    *value = text;
    for (*size = 0; *size < length; ++*size)
        if (text[*size] == '#' && (*size == 0 || is_blank(text[*size - 1]))) break;
    while (*size && is_blank(text[*size - 1])) --*size;
    return true;
}

static hg_status env_fault(uint32_t line, const char *what, const char *name, size_t length,
                           const char *hint) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Environment variable error: .env:%u: %s '%.*s'%s%s",
                   (unsigned)line, what, (int)(length > 60 ? 60 : length), name, hint ? "; " : "",
                   hint ? hint : "");
}

/* A line that sets one of our variables; the file is others' too, whose lines are not looked at. */
static hg_status env_line(loading *l, uint32_t line, const char *text, size_t length) {
    static const char export[] = "export ", ours[] = "HOLOGRAM_";
    const char *value;
    size_t size, i = 0, name = 0;
    while (length && is_blank(*text)) text++, length--;
    if (length > 7 && memcmp(text, export, 7) == 0) text += 7, length -= 7;
    if (length < 9 || memcmp(text, ours, 9) != 0) return HG_OK;
    while (name < length && text[name] != '=' && !is_blank(text[name])) name++;
    size_t sign = name;
    while (sign < length && is_blank(text[sign])) sign++;
    while (i < HG_SETTING_COUNT &&
           (strlen(hg_settings[i].name) != name || memcmp(hg_settings[i].name, text, name) != 0))
        i++;
    if (i == HG_SETTING_COUNT) {
        hg_nearest nearest;
        hg_nearest_init(&nearest, text, name);
        for (i = 0; i < HG_SETTING_COUNT; i++) hg_nearest_try(&nearest, hg_settings[i].name);
        return env_fault(line, "there is no variable", text, name, hg_nearest_hint(&nearest));
    }
    if (sign == length || text[sign] != '=' ||
        !env_value(text + sign + 1, length - sign - 1, &value, &size))
        return env_fault(line, "expected NAME=VALUE, got", text, length, NULL);
    if (!size || memchr(value, '\0', size)) return HG_OK; /* set to nothing is unset */
    hg_setting_value *set = &l->values[i];
    *set = (hg_setting_value){.text = hg_arena_text(&l->arena, value, size),
                              .from = HG_FROM_ENVIRONMENT};
    if (!set->text) return hg_fail_memory();
    return place(l, set, "%s:%u", ".env", line, 0);
}

static hg_status read_env_file(loading *l) {
    char *text;
    size_t length;
    HG_TRY(read_text(l, ".env", false, &text, &length));
    if (!text) return HG_OK;
    if (length > HG_TOML_MOST_BYTES) return unreadable(".env", "it is longer than 256 KiB");
    uint32_t line = 1;
    for (size_t at = 0; at < length; line++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end ? (size_t)(end - text) - at : length - at;
        HG_TRY(env_line(l, line, text + at, n));
        at += n + 1;
    }
    return HG_OK;
}

/* ---- all of them ---- */

/* Backends of the specification that mean a device by its number. */
static hg_status check_backend(const loading *l) {
    const hg_setting_value *type = &l->values[HG_SET_HOLOGRAM_BACKEND];
    char names[256];
    if (!type->text || type->from != HG_FROM_FILE) return HG_OK;
    if (!hg_backend_is_name(type->text, names))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Invalid backend type: %.60s (%s; expected one of: %s)", type->text,
                       type->place, names);
    static const char *const plain[] = {"auto", "cpu", "null", "wasm"};
    for (size_t i = 0; i < HG_COUNT_OF(plain); i++)
        if (strcmp(plain[i], type->text) == 0) return HG_OK;
    if (l->values[HG_SET_HOLOGRAM_DEVICE_ID].text) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "GPU backends require device_id (%s: backend.type = %s)", type->place,
                   type->text);
}

/* A file may be written on another machine. */
static hg_status check_threads(const loading *l, const hg_config *config) {
    const hg_setting_value *threads = &l->values[HG_SET_HOLOGRAM_NUM_THREADS];
    char what[64];
    uint32_t most = 2 * hg_cpu_count();
    if (!threads->text || threads->from != HG_FROM_FILE) return HG_OK;
    if (config->num_threads >= 1 && config->num_threads <= most) return HG_OK;
    snprintf(what, sizeof what, "a number from 1 to %u, twice the CPUs", (unsigned)most);
    return hg_config_malformed(l->values, HG_SET_HOLOGRAM_NUM_THREADS, what);
}

static hg_status load(loading *l, const char *path, hg_config *config) {
    if (!hg_host_privileged()) {
        HG_TRY(read_file(l, path));
        HG_TRY(read_env_file(l));
    }
    hg_config_environment(l->values);
    HG_TRY(hg_config_profile(l->values));
    HG_TRY(check_backend(l));
    HG_TRY(hg_config_apply(l->values, config));
    return check_threads(l, config);
}

hg_status hg_config_read_files(const char *path, hg_config *config) {
    HG_ENTRY;
    hg_config own;
    loading l = {0};
    if (!config) return hg_null_argument("config");
    HG_TRY(hg_config_take(config, &own));
    hg_status status = load(&l, path, &own);
    hg_arena_free(&l.arena);
    if (status == HG_OK) hg_config_give(&own, config);
    return status;
}

static void tell(const hg_setting *setting, const hg_setting_value *value, hg_config_listener *each,
                 void *user) {
    char from[336] = "default";
    if (value->text && value->from == HG_FROM_PROFILE)
        snprintf(from, sizeof from, "profile %s", value->place);
    else if (value->text)
        snprintf(from, sizeof from, "%s", value->place ? value->place : "environment");
    hg_config_item item = {.variable = setting->name,
                           .key = setting->key,
                           .value = value->text ? value->text : setting->preset,
                           .origin = from,
                           .what = setting->what};
    each(user, &item);
}

hg_status hg_config_list(const char *path, hg_config_listener *each, void *user) {
    HG_ENTRY;
    hg_config config;
    loading l = {0};
    if (!each) return hg_null_argument("each");
    HG_TRY(hg_config_init(&config, sizeof config));
    hg_status status = load(&l, path, &config);
    for (size_t i = 0; i < HG_SETTING_COUNT && status == HG_OK; i++)
        tell(&hg_settings[i], &l.values[i], each, user);
    hg_arena_free(&l.arena);
    return status;
}
