/* Configuration: defaults, environment, malformed values; choosing and listing backends.
 * Semantics 8.2, 8.5. */
#include "runtime/backend.h"
#include "support/runtime_support.h"
#include <sys/stat.h>
#include <unistd.h>

static void clear(void) {
    static const char *const names[] = {"HOLOGRAM_BACKEND",
                                        "HOLOGRAM_DEVICE_ID",
                                        "HOLOGRAM_NUM_THREADS",
                                        "HOLOGRAM_TIMEOUT_MS",
                                        "HOLOGRAM_MAX_BUFFER_SIZE",
                                        "HOLOGRAM_MAX_MEMORY",
                                        "HOLOGRAM_CPU_LEVEL",
                                        "HOLOGRAM_PRETEND",
                                        "HOLOGRAM_ENABLE_PROFILING",
                                        "HOLOGRAM_CACHE_DIR",
                                        "HOLOGRAM_CACHE_BYTES",
                                        "HOLOGRAM_PROFILING",
                                        "HOLOGRAM_COMPILE_TIMEOUT_MS",
                                        "HOLOGRAM_JIT",
                                        "HOLOGRAM_VENDOR",
                                        "HOLOGRAM_NATIVE",
                                        "HOLOGRAM_DETERMINISTIC",
                                        "HOLOGRAM_PROFILE",
                                        "HOLOGRAM_OPTIMIZATIONS",
                                        "HOLOGRAM_ENABLE_SIMD",
                                        "HOLOGRAM_ENABLE_CACHE",
                                        "HOLOGRAM_PARALLEL",
                                        "HOLOGRAM_CACHE_SIZE_MB",
                                        "HOLOGRAM_ENABLE_POOLING",
                                        "HOLOGRAM_BUFFER_POOL_SIZE",
                                        "HOLOGRAM_POOL_CAPACITY",
                                        "HOLOGRAM_LAUNCH_GRID",
                                        "HOLOGRAM_LAUNCH_BLOCK",
                                        "HOLOGRAM_LOG_LEVEL",
                                        "HOLOGRAM_LOG_FILE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

static void test_defaults(void) {
    hg_config c = hg_config_default(), e;
    CHECK_TEXT(c.backend, "auto");
    CHECK_TEXT(c.cpu_level, "");
    CHECK_TEXT(c.pretend, "");
    CHECK_TEXT(c.jit, "auto");
    CHECK_TEXT(c.vendor, "auto");
    CHECK(!c.deterministic);
    CHECK(c.size == sizeof c && c.device_id == 0 && c.num_threads == 0 && c.timeout_ms == 30000 &&
          c.compile_timeout_ms == 120000 && c.max_buffer_size == 0 && !c.profiling &&
          !c.check_races);
    CHECK(c.cache_programs > 0);
    clear();
    CHECK_OK(hg_config_from_env(&e));
    CHECK(memcmp(&c, &e, sizeof c) == 0);
    CHECK_TEXT(hg_config_env("HOLOGRAM_TIMEOUT_MS"), "30000");
    CHECK(hg_config_env("HOLOGRAM_NOTHING") == NULL);
}

/* HOLOGRAM_NATIVE is the old name of HOLOGRAM_VENDOR, which wins. */
static void test_old_name(void) {
    hg_config c;
    clear();
    setenv("HOLOGRAM_NATIVE", "off", 1);
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.vendor, "off");
    setenv("HOLOGRAM_VENDOR", "on", 1);
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.vendor, "on");
    unsetenv("HOLOGRAM_VENDOR");
    setenv("HOLOGRAM_NATIVE", "perhaps", 1);
    CHECK_STATUS(hg_config_from_env(&c), HG_ERROR_INVALID_ARGUMENT);
}

static void test_environment(void) {
    hg_config c;
    clear();
    setenv("HOLOGRAM_BACKEND", "null", 1);
    setenv("HOLOGRAM_DEVICE_ID", "4294967295", 1);
    setenv("HOLOGRAM_NUM_THREADS", "256", 1);
    setenv("HOLOGRAM_TIMEOUT_MS", "0", 1);
    setenv("HOLOGRAM_COMPILE_TIMEOUT_MS", "5000", 1);
    setenv("HOLOGRAM_MAX_BUFFER_SIZE", "18446744073709551615", 1);
    setenv("HOLOGRAM_MAX_MEMORY", "512M", 1);
    setenv("HOLOGRAM_CPU_LEVEL", "baseline", 1);
    setenv("HOLOGRAM_PRETEND", "poor", 1);
    setenv("HOLOGRAM_JIT", "off", 1);
    setenv("HOLOGRAM_VENDOR", "on", 1);
    setenv("HOLOGRAM_DETERMINISTIC", "yes", 1);
    CHECK_TEXT(hg_config_env("HOLOGRAM_BACKEND"), "null");
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.backend, "null");
    CHECK_TEXT(c.cpu_level, "baseline");
    CHECK_TEXT(c.jit, "off");
    CHECK_TEXT(c.vendor, "on");
    CHECK(c.deterministic);
    CHECK_TEXT(c.pretend, "poor");
    CHECK(c.device_id == UINT32_MAX && c.num_threads == 256 && c.timeout_ms == 0 &&
          c.compile_timeout_ms == 5000 && c.max_buffer_size == UINT64_MAX &&
          c.max_memory == 512u << 20);
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true},   {"1", true},  {"yes", true}, {"on", true},
                 {"false", false}, {"0", false}, {"no", false}, {"off", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        setenv("HOLOGRAM_ENABLE_PROFILING", words[i].text, 1);
        CHECK_OK(hg_config_from_env(&c));
        CHECK(c.profiling == words[i].value);
    }
    unsetenv("HOLOGRAM_ENABLE_PROFILING");
    setenv("HOLOGRAM_PROFILING", "on", 1); /* the other name */
    CHECK_OK(hg_config_from_env(&c));
    CHECK(c.profiling);
    setenv("HOLOGRAM_ENABLE_PROFILING", "off", 1); /* wins */
    CHECK_OK(hg_config_from_env(&c));
    CHECK(!c.profiling);
    setenv("HOLOGRAM_BACKEND", "", 1); /* empty is unset */
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.backend, "auto");
}

/* Semantics 8.5: the switches, the executor's fields, and profiles. */
static void test_switches(void) {
    hg_config c;
    clear();
    setenv("HOLOGRAM_ENABLE_SIMD", "false", 1);
    setenv("HOLOGRAM_JIT", "on", 1); /* what is switched off stays off */
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.cpu_level, "baseline");
    CHECK_TEXT(c.jit, "off");
    CHECK_TEXT(c.vendor, "off");
    clear();
    setenv("HOLOGRAM_ENABLE_CACHE", "False", 1);
    setenv("HOLOGRAM_PARALLEL", "0", 1);
    setenv("HOLOGRAM_OPTIMIZATIONS", "no", 1);
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.cache_dir, "off");
    CHECK_TEXT(c.jit, "off");
    CHECK_TEXT(c.cpu_level, "");
    CHECK(!c.pooling && c.num_threads == 1);
    clear();
    setenv("HOLOGRAM_CACHE_SIZE_MB", "512", 1);
    setenv("HOLOGRAM_LAUNCH_GRID", "4,2,1", 1);
    setenv("HOLOGRAM_LAUNCH_BLOCK", "64,1,1", 1);
    setenv("HOLOGRAM_BUFFER_POOL_SIZE", "65536", 1);
    setenv("HOLOGRAM_LOG_LEVEL", "trace", 1);
    setenv("HOLOGRAM_LOG_FILE", "/tmp/never-made", 1);
    CHECK_OK(hg_config_from_env(&c));
    CHECK(c.cache_size_mb == 512 && c.cache_bytes == 256u << 20 && c.pool_bytes == 256u << 20 &&
          c.pool_buffers == 65536);
    CHECK(c.grid[0] == 4 && c.grid[1] == 2 && c.grid[2] == 1 && c.block[0] == 64);
    CHECK_TEXT(c.log_level, "trace");
    CHECK_TEXT(c.log_file, "/tmp/never-made");
}

static void test_profiles(void) {
    hg_config c;
    clear();
    setenv("HOLOGRAM_PROFILE", "dev", 1);
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.backend, "cpu");
    CHECK_TEXT(c.log_level, "debug");
    CHECK(c.max_buffer_size == 100u << 20 && c.pool_buffers == 256 &&
          c.pool_bytes == UINT64_C(1024) << 20 && c.num_threads == 1 && c.timeout_ms == 10000);
    setenv("HOLOGRAM_PROFILE", "prod", 1);
    setenv("HOLOGRAM_NUM_THREADS", "3", 1); /* wins over the profile */
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.backend, "cuda");
    CHECK_TEXT(c.log_level, "info");
    CHECK(c.max_buffer_size == UINT64_C(8) << 30 && c.pool_buffers == 4096 &&
          c.pool_bytes == UINT64_C(16384) << 20 && c.num_threads == 3 && c.timeout_ms == 0 &&
          c.device_id == 0);
    clear();
    setenv("HOLOGRAM_PROFILE", "test", 1);
    CHECK_OK(hg_config_from_env(&c));
    CHECK_TEXT(c.backend, "cpu");
    CHECK_TEXT(c.log_level, "trace");
    CHECK(c.max_buffer_size == 10u << 20 && c.pool_buffers == 128 &&
          c.pool_bytes == UINT64_C(512) << 20 && c.num_threads == 1 && c.timeout_ms == 5000);
}

/* ---- files ---- */

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (!f) return;
    fputs(text, f);
    fclose(f);
}

/* A folder of its own, which is the current one and the user's home until left. */
static char folder[64], before[4096], own_home[4096];
static void enter_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/hologram-config-XXXXXX");
    snprintf(own_home, sizeof own_home, "%s", getenv("HOME") ? getenv("HOME") : "");
    CHECK(mkdtemp(folder) && getcwd(before, sizeof before) && chdir(folder) == 0);
    setenv("HOME", folder, 1);
    unsetenv("XDG_CONFIG_HOME");
    clear();
}
static void leave_folder(void) {
    static const char *const files[] = {"hologram.toml", ".env", "other.toml",
                                        ".config/hologram/config.toml", "log"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(files[i]);
    rmdir(".config/hologram");
    rmdir(".config");
    CHECK(chdir(before) == 0 && rmdir(folder) == 0);
    setenv("HOME", own_home, 1);
    clear();
}

/* default < profile < file < .env < environment < fields of the caller. */
static void test_priorities(void) {
    hg_config c;
    enter_folder();
    CHECK_OK(hg_config_load(NULL, &c)); /* no file: the defaults */
    hg_config preset = hg_config_default();
    CHECK(memcmp(&c, &preset, sizeof c) == 0);
    mkdir(".config", 0700);
    mkdir(".config/hologram", 0700);
    write_file(".config/hologram/config.toml",
               "[execution]\ntimeout_ms = 11\n[memory]\nbuffer_pool_size = 7\n");
    CHECK_OK(hg_config_load(NULL, &c));
    CHECK(c.timeout_ms == 11 && c.pool_buffers == 7);
    write_file("hologram.toml",
               "[execution]\ntimeout_ms = 12\nlaunch_config.grid = [3, 1, 1]\n"
               "[logging]\nlog_file = \"a log\"\n[cache]\ndir = \"/tmp/somewhere\"\n");
    CHECK_OK(hg_config_load(NULL, &c)); /* in place of the user's */
    CHECK(c.timeout_ms == 12 && c.pool_buffers == 1024 && c.grid[0] == 3);
    CHECK_TEXT(c.log_file, "a log");
    CHECK_TEXT(c.cache_dir, "/tmp/somewhere");
    setenv("HOLOGRAM_PROFILE", "test", 1);
    CHECK_OK(hg_config_load(NULL, &c));
    CHECK(c.timeout_ms == 12 && c.pool_buffers == 128);
    CHECK_TEXT(c.backend, "cpu");
    write_file(".env", "# ours and others'\nPATH=/nowhere\nexport HOLOGRAM_TIMEOUT_MS = 13 # ms\n"
                       "HOLOGRAM_LOG_FILE='an # other'\nHOLOGRAM_JIT=\n");
    CHECK_OK(hg_config_load(NULL, &c));
    CHECK(c.timeout_ms == 13);
    CHECK_TEXT(c.log_file, "an # other");
    setenv("HOLOGRAM_TIMEOUT_MS", "14", 1);
    CHECK_OK(hg_config_load(NULL, &c));
    CHECK(c.timeout_ms == 14);
    CHECK_OK(hg_config_from_env(&c)); /* reads no file */
    CHECK(c.timeout_ms == 14 && c.grid[0] == 0);
    write_file("other.toml", "backend.type = 'null'\nexecution.timeout_ms = 15\n");
    clear();
    remove(".env");
    CHECK_OK(hg_config_load("other.toml", &c));
    CHECK_TEXT(c.backend, "null");
    CHECK(c.timeout_ms == 15 && c.grid[0] == 0);
    c = hg_config_default();
    c.device_id = 9; /* what a file does not say stays */
    CHECK_OK(hg_config_read_files("other.toml", &c));
    CHECK(c.device_id == 9 && c.timeout_ms == 15);
    leave_folder();
}

static void test_bad_files(void) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[backend\n",
         "Failed to parse TOML: hologram.toml:1:9: expected ']' behind the name of a table"},
        {"[backend]\ntype = \"fpga\"\n",
         "Invalid backend type: fpga (hologram.toml:2:8; expected one of: auto"},
        {"[backend]\ntype = \"cuda\"\n",
         "GPU backends require device_id (hologram.toml:2:8: backend.type = cuda)"},
        {"[backend]\ntype = 1\n",
         "Configuration error: hologram.toml:2:8: backend.type = 1, expected a text in quotes"},
        {"[backend]\ndevice_id = -1\n",
         "Configuration error: hologram.toml:2:13: backend.device_id = -1, expected a number up to "
         "4294967295"},
        {"[backend]\noptimizations = 1\n", "backend.optimizations = 1, expected true or false"},
        {"[memory]\nmax_buffer_size = \"1 GB\"\n",
         "memory.max_buffer_size = 1 GB, expected bytes, as 1048576 or 512M"},
        {"[memory]\nbuffer_pool_size = 0\n",
         "memory.buffer_pool_size = 0, expected a number from 1 to 65536"},
        {"[memory]\nbuffer_pool_size = 65537\n",
         "memory.buffer_pool_size = 65537, expected a number from 1 to 65536"},
        {"[memory]\npool_capacity = 4095\n",
         "memory.pool_capacity = 4095, expected MiB, a power of two"},
        {"[memory]\nenable_pooling = \"yes\"\n",
         "memory.enable_pooling = yes, expected true or false"},
        {"[execution]\nnum_threads = 0\n",
         "execution.num_threads = 0, expected a number from 1 to "},
        {"[execution]\nnum_threads = 256\n", "twice the CPUs"},
        {"[execution]\nlaunch_config.grid = [1, 2]\n",
         "execution.launch_config.grid = 1,2, expected three numbers from 1, as 4,1,1"},
        {"[execution]\nlaunch_config.block = [1, 2, 0]\n", "expected three numbers from 1"},
        {"[execution]\nlaunch_config.block = [1, 2, 3, 4]\n", "expected three numbers from 1"},
        {"[execution]\ntimeout_ms = \"5\"\n",
         "execution.timeout_ms = 5, expected a number up to 18446744073709"},
        {"[logging]\nlevel = \"loud\"\n",
         "logging.level = loud, expected error, warn, info, debug or trace"},
        {"[logging]\nlevle = \"info\"\n", "Configuration error: hologram.toml:2:1: there is no "
                                          "setting 'logging.levle'; did you mean 'logging.level'?"},
        {"x = 1\n", "Configuration error: hologram.toml:1:1: there is no setting 'x'"}};
    static const struct {
        const char *text, *message;
    } lines[] = {
        {"\nHOLOGRAM_TIMEOUT=5\n",
         "Environment variable error: .env:2: there is no variable 'HOLOGRAM_TIMEOUT'"},
        {"HOLOGRAM_TIMEOUT_MS\n",
         "Environment variable error: .env:1: expected NAME=VALUE, got 'HOLOGRAM_TIMEOUT_MS'"},
        {"HOLOGRAM_TIMEOUT_MS='5\n", "expected NAME=VALUE, got"},
        {"HOLOGRAM_TIMEOUT_MS=5 6\n",
         "Environment variable error: .env:1: HOLOGRAM_TIMEOUT_MS='5 6', expected a number up to"},
        {"HOLOGRAM_PROFILE=fast\n", "Environment variable error: .env:1: HOLOGRAM_PROFILE='fast', "
                                    "expected dev, prod or test"}};
    hg_config c = hg_config_default(), kept = c;
    enter_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("hologram.toml", cases[i].text);
        CHECK_STATUS(hg_config_read_files(NULL, &c), HG_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(hg_last_error_text(), cases[i].message) != NULL);
        if (!strstr(hg_last_error_text(), cases[i].message))
            fprintf(stderr, "%s: %s\n", cases[i].text, hg_last_error_text());
        CHECK(memcmp(&c, &kept, sizeof c) == 0);
    }
    remove("hologram.toml");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_file(".env", lines[i].text);
        CHECK_STATUS(hg_config_read_files(NULL, &c), HG_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(hg_last_error_text(), lines[i].message) != NULL);
        if (!strstr(hg_last_error_text(), lines[i].message))
            fprintf(stderr, "%s: %s\n", lines[i].text, hg_last_error_text());
    }
    remove(".env");
    CHECK_FAILS(hg_config_load("nothing.toml", &c), HG_ERROR_INVALID_ARGUMENT, "",
                "Failed to load config file: nothing.toml: there is no such file");
    CHECK_FAILS(hg_config_load("/tmp", &c), HG_ERROR_INVALID_ARGUMENT, "",
                "Failed to load config file: /tmp: not a regular file");
    mkfifo("hologram.toml", 0600); /* does not wait for a writer */
    CHECK_FAILS(hg_config_load(NULL, &c), HG_ERROR_INVALID_ARGUMENT, "",
                "Failed to load config file: hologram.toml: not a regular file");
    CHECK_STATUS(hg_config_read_files(NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_config_list(NULL, NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    leave_folder();
}

static void test_malformed(void) {
    static const struct {
        const char *name, *value;
    } cases[] = {
        {"HOLOGRAM_DEVICE_ID", "4294967296"},
        {"HOLOGRAM_JIT", "yes"},
        {"HOLOGRAM_VENDOR", "maybe"},
        {"HOLOGRAM_DETERMINISTIC", "2"},
        {"HOLOGRAM_DEVICE_ID", "-1"},
        {"HOLOGRAM_DEVICE_ID", "one"},
        {"HOLOGRAM_NUM_THREADS", "257"},
        {"HOLOGRAM_NUM_THREADS", " 1"},
        {"HOLOGRAM_NUM_THREADS", "1 "},
        {"HOLOGRAM_TIMEOUT_MS", "1.5"},
        {"HOLOGRAM_TIMEOUT_MS", "18446744073709551616"},
        {"HOLOGRAM_MAX_BUFFER_SIZE", "0x10"},
        {"HOLOGRAM_MAX_MEMORY", "512MB"},
        {"HOLOGRAM_MAX_MEMORY", "16777216T"},
        {"HOLOGRAM_MAX_BUFFER_SIZE", "99999999999999999999999999"},
        {"HOLOGRAM_ENABLE_PROFILING", "maybe"},
        {"HOLOGRAM_PROFILING", "perhaps"},
        {"HOLOGRAM_CACHE_BYTES", "1k"},
        {"HOLOGRAM_CACHE_BYTES", "-1"},
        {"HOLOGRAM_PRETEND", "poor,poor,poor,poor,poor,poor,poor,poor,poor,poor,poor,poor,poor"},
        {"HOLOGRAM_BACKEND", "a-name-longer-than-any-backend"},
        {"HOLOGRAM_PROFILE", "fast"},
        {"HOLOGRAM_PARALLEL", "perhaps"},
        {"HOLOGRAM_BUFFER_POOL_SIZE", "0"},
        {"HOLOGRAM_POOL_CAPACITY", "3"},
        {"HOLOGRAM_LAUNCH_GRID", "4"},
        {"HOLOGRAM_LAUNCH_BLOCK", "4,0,1"},
        {"HOLOGRAM_LOG_LEVEL", "loud"},
        {"HOLOGRAM_CPU_LEVEL", "the-very-best-there-is"}};
    hg_config c;
    hg_backend *b = NULL;
    char start[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear();
        setenv(cases[i].name, cases[i].value, 1);
        CHECK_STATUS(hg_config_from_env(&c), HG_ERROR_INVALID_ARGUMENT);
        snprintf(start, sizeof start, "Environment variable error: %s='%s', expected ",
                 cases[i].name, cases[i].value);
        CHECK_MESSAGE(strncmp(hg_last_error()->message, start, strlen(start)) == 0, "%s",
                      hg_last_error()->message);
        CHECK_STATUS(hg_backend_create_auto(&b), HG_ERROR_INVALID_ARGUMENT);
    }
    clear();
}

static void test_choice(void) {
    hg_backend *b = NULL;
    hg_config c = hg_config_default();
    hg_device_info info;
    CHECK_OK(hg_backend_create_auto(&b)); /* never a device that is software */
    CHECK_OK(hg_backend_device(b, &info));
    CHECK_TEXT(info.backend, hg_backend_name(b));
    CHECK(info.available && !info.software && info.max_block_lanes > 0);
    hg_backend_destroy(b);
    CHECK_OK(hg_backend_create("cpu", 0, &b));
    CHECK_OK(hg_backend_device(b, &info));
    CHECK(info.size == sizeof info && info.exact && info.name[0] &&
          strstr(info.capabilities, "i64"));
    CHECK_STATUS(hg_backend_device(NULL, &info), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_device(b, NULL), HG_ERROR_INVALID_ARGUMENT);
    hg_backend_destroy(b);
    CHECK_OK(hg_backend_create("CPU", 0, &b)); /* in any case */
    hg_backend_destroy(b);
    setenv("HOLOGRAM_BACKEND", "Null", 1);
    CHECK_OK(hg_backend_create_auto(&b));
    CHECK_TEXT(hg_backend_name(b), "null");
    CHECK(hg_backend_native(b) == NULL);
    hg_backend_destroy(b);
    setenv("HOLOGRAM_BACKEND", "cray", 1);
    char known[256] = "Invalid backend type: cray (expected one of: auto";
    for (uint32_t i = 0; i < hg_driver_count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, " %s", hg_drivers[i]->name);
    }
    strcat(known, " metal wasm hip rocm oneapi levelzero sycl wgpu)");
    CHECK_FAILS(hg_backend_create_auto(&b), HG_ERROR_BACKEND_UNAVAILABLE, "", known);
    clear();
    CHECK_STATUS(hg_backend_create("", 0, &b), HG_OK); /* none named: auto */
    hg_backend_destroy(b);
    CHECK_STATUS(hg_backend_create(NULL, 0, &b), HG_ERROR_INVALID_ARGUMENT);
    CHECK_FAILS(hg_backend_create("cpu", 1, &b), HG_ERROR_BACKEND_UNAVAILABLE, "",
                "cpu has one device, number 0; asked for 1");
    CHECK_STATUS(hg_backend_create("null", 7, &b), HG_ERROR_BACKEND_UNAVAILABLE);
    c.size--;
    CHECK_STATUS(hg_backend_create_with_config(&c, &b), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_create_with_config(NULL, &b), HG_ERROR_INVALID_ARGUMENT);
    c = hg_config_default();
    memcpy(c.cpu_level, "v9", 3);
    CHECK_STATUS(hg_backend_create_with_config(&c, &b), HG_ERROR_INVALID_ARGUMENT);
    c = hg_config_default();
    memcpy(c.pretend, "rich", 5);
    CHECK_STATUS(hg_backend_create_with_config(&c, &b), HG_ERROR_INVALID_ARGUMENT);
}

/* Words of the specification without a backend here, each with the specification's text where it
 * has one. */
static void test_absent(void) {
    static const struct {
        const char *name, *text;
    } words[] = {
#if !defined(__APPLE__)
        {"metal", "Metal backend only available on Apple platforms"},
#endif
        {"WASM", "WASM backend requires 'wasm' feature to be enabled"}
    };
    hg_device_info info[64];
    size_t count = 0;
    hg_backend *b = NULL;
    CHECK_OK(hg_devices(info, 64, &count));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool listed = false;
        CHECK_FAILS(hg_backend_create(words[i].name, 0, &b), HG_ERROR_BACKEND_UNAVAILABLE, "",
                    words[i].text);
        for (size_t k = 0; k < count; k++)
            listed = listed || (!info[k].available && strcmp(info[k].reason, words[i].text) == 0);
        CHECK(listed);
    }
}

/* What the environment names and is not there is an error with the reason, not another device
 * without a word. */
static void test_named_or_none(void) {
    static const struct {
        const char *backend, *device;
    } cases[] = {{"wgpu", "7"},
                 {"webgpu", ""},
                 {"tpu", "4000000000"},
                 {"cpu", "1"},
                 {"vulkan", "4000000000"},
                 {"opencl", "4000000000"},
                 {"cuda", "4000000000"},
                 {"null", "2"}};
    hg_backend *b, *same;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b = NULL;
        setenv("HOLOGRAM_BACKEND", cases[i].backend, 1);
        setenv("HOLOGRAM_DEVICE_ID", cases[i].device, 1);
        CHECK_STATUS(hg_backend_create_auto(&b), HG_ERROR_BACKEND_UNAVAILABLE);
        CHECK(!b && hg_last_error()->message[0]);
    }
    clear();
    setenv("HOLOGRAM_BACKEND", "cuda", 1); /* there or not: as by name */
    hg_status status = hg_backend_create("cuda", 0, &same);
    CHECK_STATUS(hg_backend_create_auto(&b), status);
    if (status == HG_OK) hg_backend_destroy(b), hg_backend_destroy(same);
    clear();
}

/* Where the environment names no backend there is always a device. */
static void test_auto_never_fails(void) {
    static const char *const words[] = {"", "auto", "AUTO"}, *const devices[] = {"", "0", "3",
                                                                                 "4000000000"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < sizeof devices / sizeof *devices; k++) {
            hg_backend *b = NULL;
            setenv("HOLOGRAM_BACKEND", words[i], 1);
            setenv("HOLOGRAM_DEVICE_ID", devices[k], 1);
            CHECK_OK(hg_backend_create_auto(&b));
            CHECK(b && strcmp(hg_backend_name(b), "null") != 0);
            hg_backend_destroy(b);
        }
    clear();
}

/* Where compiled kernels are kept. */
static void check_path(const char *dir, uint64_t bytes, const char *expected) {
    hg_config c;
    char *path = NULL;
    if (dir) setenv("HOLOGRAM_CACHE_DIR", dir, 1);
    CHECK_OK(hg_config_from_env(&c));
    c.cache_bytes = bytes;
    CHECK_OK(hg_config_cache_path(&c, &path));
    CHECK_TEXT(path, expected);
    hg_free(path);
    unsetenv("HOLOGRAM_CACHE_DIR");
}

static void test_cache_path(void) {
    char home[256] = "", xdg[256] = "", *path = NULL;
    hg_config c = hg_config_default();
    clear();
    if (getenv("HOME")) snprintf(own_home, sizeof own_home, "%s", getenv("HOME"));
    if (getenv("XDG_CACHE_HOME")) snprintf(xdg, sizeof xdg, "%s", getenv("XDG_CACHE_HOME"));
    setenv("HOME", "/home/ada", 1);
    setenv("XDG_CACHE_HOME", "/var/ada", 1);
    check_path(NULL, 1, "/var/ada/hologram");
    check_path("auto", 1, "/var/ada/hologram");
    check_path("", 1, "/var/ada/hologram"); /* empty is unset */
    check_path("off", 1, "");
    check_path("here", 1, "here");
    check_path("/tmp/x", 0, ""); /* no room: no cache */
    setenv("XDG_CACHE_HOME", "relative", 1);
    check_path(NULL, 1, "/home/ada/.cache/hologram");
    unsetenv("XDG_CACHE_HOME");
    check_path(NULL, 1, "/home/ada/.cache/hologram");
    unsetenv("HOME");
    check_path(NULL, 1, "");
    CHECK_U64(c.cache_bytes, 256 << 20);
    c.cache_dir = NULL;
    CHECK_OK(hg_config_cache_path(&c, &path));
    CHECK_TEXT(path, "");
    hg_free(path);
    setenv("HOLOGRAM_CACHE_BYTES", "12345", 1);
    CHECK_OK(hg_config_from_env(&c));
    CHECK_U64(c.cache_bytes, 12345);
    if (*home) setenv("HOME", home, 1);
    if (*xdg) setenv("XDG_CACHE_HOME", xdg, 1);
    clear();
}

static void test_pretend(void) {
    CHECK(hg_pretends("poor", "poor") && hg_pretends("a,poor", "poor") &&
          hg_pretends(" poor , b", "poor") && hg_pretends(",,b,,a", "a"));
    CHECK(!hg_pretends("", "poor") && !hg_pretends(NULL, "poor") &&
          !hg_pretends("poorer", "poor") && !hg_pretends("poor", "poorer"));
    CHECK_OK(hg_pretend_check(""));
    CHECK_OK(hg_pretend_check("poor,descriptors"));
    CHECK_STATUS(hg_pretend_check("poor,rich"), HG_ERROR_INVALID_ARGUMENT);
    CHECK_MESSAGE(strstr(hg_last_error()->message, "'rich' is unknown, expected some of: poor"),
                  "%s", hg_last_error()->message);
}

static void test_devices(void) {
    hg_device_info info[64];
    size_t count = 0, all = 0, cpus = 0;
    CHECK_OK(hg_devices(NULL, 0, &all));
    CHECK_OK(hg_devices(info, 64, &count));
    CHECK(count == all && count >= 2 && count <= 64);
    for (size_t i = 0; i < count && i < 64; i++) {
        CHECK_U64(info[i].size, sizeof info[i]);
        CHECK(info[i].backend[0] && (info[i].available ? info[i].name[0] : info[i].reason[0]));
        if (strcmp(info[i].backend, "cpu") != 0) continue;
        cpus++;
        CHECK(info[i].available && info[i].exact && info[i].compute_units > 0);
    }
    CHECK_U64(cpus, 1);
    memset(info, 0, sizeof info);
    CHECK_OK(hg_devices(info, 1, &count)); /* says how many there are, writes what fits */
    CHECK_U64(count, all);
    CHECK(info[0].backend[0] && !info[1].backend[0]);
}

int main(void) {
    test_defaults();
    test_environment();
    test_old_name();
    test_switches();
    test_profiles();
    test_priorities();
    test_bad_files();
    test_malformed();
    test_choice();
    test_absent();
    test_named_or_none();
    test_auto_never_fails();
    test_cache_path();
    test_pretend();
    test_devices();
    return test_done();
}
