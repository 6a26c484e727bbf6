/* Settings as text, with where they came from, and how they become a configuration. Must not know:
 * who asks. */
#ifndef HG_RUNTIME_CONFIG_H
#define HG_RUNTIME_CONFIG_H

#include "base/toml.h"
#include "runtime/backend.h"

typedef struct hg_setting {
    const char *name, *preset, *key, *what;
} hg_setting;

enum {
#define HG_ENV(name, preset, key, what) HG_SET_##name,
#include "runtime/env.def"
#undef HG_ENV
    HG_SETTING_COUNT
};
extern const hg_setting hg_settings[HG_SETTING_COUNT];

typedef enum hg_setting_from {
    HG_FROM_DEFAULT,
    HG_FROM_PROFILE,
    HG_FROM_FILE,
    HG_FROM_ENVIRONMENT
} hg_setting_from;

typedef struct hg_setting_value {
    const char *text; /* NULL: not set */
    hg_setting_from from;
    const char *place; /* "hologram.toml:3:9"; a profile's name; of a variable its line in .env */
} hg_setting_value;

/* Adds what the environment sets. */
void hg_config_environment(hg_setting_value values[]);
/* Adds the values of the profile that is set, where nothing else is. */
hg_status hg_config_profile(hg_setting_value values[]) HG_NODISCARD;
/* Reads the texts into the fields; the configuration points into them. */
hg_status hg_config_apply(const hg_setting_value values[], hg_config *config) HG_NODISCARD;
/* Whether a value of that kind in a file can be one of setting i. */
bool hg_setting_takes(size_t i, hg_toml_kind kind);
/* Error: the value of setting i is not `what`; it is not of the kind that it takes. */
hg_status hg_config_malformed(const hg_setting_value values[], size_t i, const char *what);
hg_status hg_config_expected(const hg_setting_value values[], size_t i);
/* Copies this library's form to the caller's. */
void hg_config_give(const hg_config *own, hg_config *config);

#endif
