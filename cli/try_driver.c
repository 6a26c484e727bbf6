/* `hologram try-driver VERSION DRIVER FIRST`, which no page lists: opens the libraries of a
 * driver's vendor in a process of its own, lists the devices, opens and closes each from the FIRST
 * on, and says on descriptor 3 how far it came (src/driver/trial.c reads it). Whatever a library
 * does to the process, it does it to this one. By hand: hologram try-driver 1 opencl 0 3>&1 */
#include "cli.h"

#if defined(__linux__)

#include "base/library.h"
#include "base/process.h"
#include "driver/trial.h"
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int answer_to = -1;

HG_PRINTF(1, 2) static void say(const char *format, ...) {
    char line[4400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (int done = 0; length < (int)sizeof line && done < length;) {
        ssize_t wrote = write(answer_to, line + done, (size_t)(length - done));
        if (wrote <= 0) _exit(1);
        done += (int)wrote;
    }
}

/* An answer holds as long as this file is the same. */
static void say_file(const char *path) {
    struct stat file;
    if (path[0] == '/' && stat(path, &file) == 0)
        say("file %llu %lld %ld %llu %s\n", (unsigned long long)file.st_size,
            (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec, (unsigned long long)file.st_ino,
            path);
}

static int say_library(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size, (void)user;
    say_file(info->dlpi_name);
    return 0;
}

static void try_driver(const hg_driver *driver, uint32_t first) {
    static hg_device_info devices[HG_TRIAL_DEVICES];
    const hg_driver_options options = {.cpu_level = "", .pretend = "", .cache_dir = ""};
    char reason[256] = "", own[4096];
    uint32_t count = driver->enumerate(devices, HG_TRIAL_DEVICES, reason);
    if (count > HG_TRIAL_DEVICES) count = HG_TRIAL_DEVICES;
    say("devices %u\n", (unsigned)count);
    for (uint32_t i = first; i < count; i++) {
        hg_device *device;
        if (!devices[i].available) continue;
        say("opening %u\n", (unsigned)i);
        if (driver->device_open(i, &options, &device) == HG_OK)
            driver->device_close(device); /* an error is an answer as well */
        say("opened %u\n", (unsigned)i);
    }
    dl_iterate_phdr(say_library, NULL);
    if (hg_library_own_path(own, sizeof own)) say_file(own);
    say("done\n");
}

int cli_try_driver(int argc, char **argv) {
    const struct rlimit no_core = {0, 0};
    if (argc != 4 || atoi(argv[1]) != HG_TRIAL_VERSION) {
        fprintf(stderr, "usage: hologram try-driver %d DRIVER FIRST 3>&1\n", (int)HG_TRIAL_VERSION);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read the answer */
    setrlimit(RLIMIT_CORE, &no_core); /* a crash here is an answer */
    signal(SIGPIPE, SIG_IGN);
    answer_to = fcntl(HG_PROCESS_ANSWER, F_DUPFD_CLOEXEC, 64); /* where no library writes by mistake
                                                                */
    if (answer_to < 0)
        answer_to = HG_PROCESS_ANSWER;
    else
        close(HG_PROCESS_ANSWER);
    say("hologram-try-driver %d\n", (int)HG_TRIAL_VERSION);
    for (uint32_t i = 0; i < hg_driver_count; i++)
        if (strcmp(hg_drivers[i]->name, argv[2]) == 0)
            try_driver(hg_drivers[i], (uint32_t)strtoul(argv[3], NULL, 10));
    _exit(0); /* what libraries do at exit is not asked */
}

#else /* base/process.c starts nothing there */

int cli_try_driver(int argc, char **argv) {
    (void)argc, (void)argv;
    return CLI_USAGE;
}

#endif
