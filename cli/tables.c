/* devices, version: tables from the library. */
#include "cli.h"
#include "device.h"
#include "driver/trial.h"
#include "kir/kir.h"
#include "tile/tile.h"
#include <hologram/version.h>
#include <stdio.h>
#include <string.h>

/* "64 KiB": bytes as people say them, exact where it is a whole number of the unit. */
static const char *size_text(uint64_t bytes, char text[32]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    double value = (double)bytes;
    for (; value >= 1024 && unit < 4; unit++) value /= 1024;
    snprintf(text, 32, value < 10 && unit && value != (double)(int)value ? "%.1f %s" : "%.0f %s",
             value, units[unit]);
    return text;
}

/* What makes native code of a backend's kernels, or why nothing does. False: it has no such thing.
 */
static bool native_code(const char *backend, bool *there, char text[256]) {
    hg_config config;
    bool off = hg_config_load(NULL, &config) == HG_OK && strcmp(config.jit, "off") == 0;
    for (uint32_t i = 0; i < hg_driver_count; i++) {
        if (strcmp(hg_drivers[i]->name, backend) != 0 || !hg_drivers[i]->improves_by) continue;
        *there = !off && hg_drivers[i]->improves_by(text);
        if (off) snprintf(text, 256, "HOLOGRAM_JIT is off");
        return true;
    }
    return false;
}

/* The same of steps through a vendor's library. */
static bool vendor_steps(const char *backend, bool *there, char text[256]) {
    hg_config config;
    bool off = hg_config_load(NULL, &config) == HG_OK && strcmp(config.vendor, "off") == 0;
    for (uint32_t i = 0; i < hg_driver_count; i++) {
        if (strcmp(hg_drivers[i]->name, backend) != 0 || !hg_drivers[i]->steps_by) continue;
        *there = !off && hg_drivers[i]->steps_by(text);
        if (off) snprintf(text, 256, "HOLOGRAM_VENDOR is off");
        return true;
    }
    return false;
}

static void print_device(cli *c, const hg_device_info *d) {
    char shared[32], memory[32], buffer[32], number[16] = "-";
    if (d->name[0]) snprintf(number, sizeof number, "%u", (unsigned)d->device);
    if (!d->available) {
        cli_out(c, "%-8s %-2s %s%snot available: %s\n", d->backend, number, d->name,
                d->name[0] ? ": " : "", d->reason);
        return;
    }
    cli_out(c, "%-8s %-2s %s%s\n", d->backend, number, d->name,
            d->software ? " (software: only when asked for)" : "");
    cli_out(c, "            %s", d->exact ? "exact" : "bounded");
    if (d->compute_units) cli_out(c, ", %u units", (unsigned)d->compute_units);
    cli_out(c, ", blocks up to %u lanes, %s shared", (unsigned)d->max_block_lanes,
            size_text(d->max_shared_bytes, shared));
    if (d->memory_bytes) cli_out(c, ", %s memory", size_text(d->memory_bytes, memory));
    if (d->max_buffer_bytes)
        cli_out(c, ", buffers up to %s", size_text(d->max_buffer_bytes, buffer));
    cli_out(c, "\n");
    if (d->capabilities[0]) cli_out(c, "            %s\n", d->capabilities);
    char platform[32] = "";
    if (d->platform) snprintf(platform, sizeof platform, ", platform %u", (unsigned)d->platform);
    if (d->driver[0]) cli_out(c, "            driver: %s%s\n", d->driver, platform);
    char by[256];
    bool there;
    if (vendor_steps(d->backend, &there, by))
        cli_out(c, "            vendor steps: %s%s\n", there ? "" : "none: ", by);
    if (native_code(d->backend, &there, by))
        cli_out(c, "            native code: %s%s\n", there ? "" : "none: ", by);
}

/* Why the libraries of a backend's drivers were opened without the helper program; "": they were
 * not. */
static const char *untried(const char *backend, char note[160]) {
    note[0] = 0;
    for (uint32_t i = 0; i < hg_driver_count; i++)
        if (strcmp(hg_drivers[i]->name, backend) == 0) hg_trial_note(hg_drivers[i], note);
    return note;
}

static void print_untried(cli *c) {
    char note[160];
    for (uint32_t i = 0; i < hg_driver_count; i++)
        if (*untried(hg_drivers[i]->name, note))
            cli_out(c, "%s: drivers' libraries are opened directly: %s\n", hg_drivers[i]->name,
                    note);
}

static void add_device(cli *c, const hg_device_info *d, bool automatic) {
    char note[160];
    hg_json json = {0};
    cli_json_item(c, &json);
    hg_json_add_text(&json, "backend", d->backend);
    hg_json_add_bool(&json, "available", d->available);
    hg_json_add_u64(&json, "device", d->device);
    hg_json_add_text(&json, "name", d->name);
    hg_json_add_text(&json, "reason", d->reason);
    hg_json_add_bool(&json, "exact", d->exact);
    hg_json_add_text(&json, "class", d->exact ? "exact" : "bounded");
    hg_json_add_bool(&json, "software", d->software);
    hg_json_add_bool(&json, "automatic", automatic);
    hg_json_add_u64(&json, "memory_bytes", d->memory_bytes);
    hg_json_add_u64(&json, "max_buffer_bytes", d->max_buffer_bytes);
    hg_json_add_u64(&json, "compute_units", d->compute_units);
    hg_json_add_u64(&json, "max_block_lanes", d->max_block_lanes);
    hg_json_add_u64(&json, "max_shared_bytes", d->max_shared_bytes);
    hg_json_add_text(&json, "capabilities", d->capabilities);
    hg_json_add_text(&json, "driver", d->driver);
    char by[256];
    bool there;
    if (vendor_steps(d->backend, &there, by)) {
        hg_json_add_bool(&json, "vendor_steps", there);
        hg_json_add_text(&json, "vendor_steps_by", by);
    }
    if (native_code(d->backend, &there, by)) {
        hg_json_add_bool(&json, "native_code", there);
        hg_json_add_text(&json, "native_code_by", by);
    }
    hg_json_add_text(&json, "opened_directly", untried(d->backend, note));
    hg_json_add_u64(&json, "platform", d->platform);
    hg_json_end_object(&json);
}

/* Opens the device, so that what is told of it is what its probe found. One that does not open is
 * not available. */
static void probe(const hg_config *environment, hg_device_info *d) {
    hg_backend *b = NULL;
    hg_config config = *environment;
    hg_device_info found;
    if (!d->available) return;
    memcpy(config.backend, d->backend, sizeof config.backend);
    config.device_id = d->device;
    config.profile_file = NULL;
    config.profiling = false;
    if (cli_device_open(&config, &b) == HG_OK && hg_backend_device(b, &found) == HG_OK) {
        *d = found;
    } else {
        d->available = false;
        snprintf(d->reason, sizeof d->reason, "%.255s", hg_last_error()->message);
    }
    hg_backend_destroy(b);
}

/* The device that "auto" means, as "cpu 0"; "" for none. */
static void find_automatic(const hg_config *environment, char text[32]) {
    hg_backend *b = NULL;
    hg_config config = *environment;
    hg_device_info found;
    memcpy(config.backend, "auto", 5);
    config.device_id = 0;
    config.profile_file = NULL;
    config.profiling = false;
    text[0] = 0;
    if (cli_device_open(&config, &b) == HG_OK && hg_backend_device(b, &found) == HG_OK)
        snprintf(text, 32, "%s %u", found.backend, (unsigned)found.device);
    hg_backend_destroy(b);
}

static void list_devices(cli *c, const hg_config *environment, hg_device_info *devices,
                         size_t count) {
    char automatic[32], name[32];
    find_automatic(environment, automatic);
    for (size_t i = 0; i < count; i++) {
        probe(environment, &devices[i]);
        snprintf(name, sizeof name, "%s %u", devices[i].backend, (unsigned)devices[i].device);
        if (c->json)
            add_device(c, &devices[i], strcmp(name, automatic) == 0);
        else
            print_device(c, &devices[i]);
    }
    if (c->json) return;
    cli_out(c, "auto means %s", *automatic ? automatic : "no device");
    if (strcmp(environment->backend, "auto") != 0)
        cli_out(c, "; HOLOGRAM_BACKEND asks for %s %u", environment->backend,
                (unsigned)environment->device_id);
    cli_out(c, "\n");
    print_untried(c);
}

int command_devices(int argc, char **argv) {
    cli c = {0};
    hg_device_info *devices = NULL;
    hg_config environment;
    size_t room = 0, count = 0;
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count) {
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
        return cli_finish(&c);
    }
    hg_status status = hg_config_load(NULL, &environment);
    if (status == HG_OK) status = hg_devices(NULL, 0, &room);
    if (status == HG_OK && !(devices = hg_calloc(room, sizeof *devices))) status = hg_fail_memory();
    if (status == HG_OK) status = hg_devices(devices, room, &count);
    if (status == HG_OK)
        list_devices(&c, &environment, devices, count < room ? count : room);
    else
        cli_last_error(&c);
    hg_free(devices);
    return cli_finish(&c);
}

int command_version(int argc, char **argv) {
    cli c = {0};
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count) {
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
        return cli_finish(&c);
    }
    const char *level = tile_level_name(tile_level_best());
    if (!c.json) {
        cli_out(&c, "hologram %s, bits %u\n%d instructions, %d types, CPU level %s\n",
                hg_version_text(), (unsigned)hg_bits_version(), (int)HG_OP_COUNT,
                (int)HG_TYPE_COUNT, level);
        return cli_finish(&c);
    }
    hg_json json = {0};
    cli_json_item(&c, &json);
    hg_json_add_text(&json, "version", hg_version_text());
    hg_json_add_u64(&json, "bits", hg_bits_version());
    hg_json_key(&json, "instructions");
    hg_json_u64(&json, HG_OP_COUNT);
    hg_json_add_text(&json, "cpu_level", level);
    hg_json_end_object(&json);
    return cli_finish(&c);
}
