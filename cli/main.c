/* hologram: runs, checks and translates Atlas programs. commands.def has its commands. */
#include "cli.h"
#include "help.h"
#include "code/compiler.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A driver's compiler that was left alone must not meet the end of the libraries that it uses. */
static int leave(int status) {
    if (!hg_compiler_left()) return status;
    fflush(NULL);
    _exit(status);
}

static const struct {
    const char *name;
    int (*run)(int, char **);
} COMMANDS[] = {
#define CLI_COMMAND(name, arguments, what) {#name, command_##name},
#include "commands.def"
};

static bool asks_for_help(int argc, char **argv) {
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

int main(int argc, char **argv) {
    HG_ENTRY; /* a library that was loaded first may have changed the mode */
    if (argc > 1 && strcmp(argv[1], "try-driver") == 0) return cli_try_driver(argc - 1, argv + 1);
    cli_begin();
    if (argc < 2) {
        cli_print_overview(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return command_help(1, (char *[]){"help"});
    if (strcmp(argv[1], "--version") == 0) return command_version(1, argv + 1);
    size_t i = 0;
    while (i < HG_COUNT_OF(COMMANDS) && strcmp(argv[1], COMMANDS[i].name) != 0) i++;
    if (i == HG_COUNT_OF(COMMANDS)) {
        cli_unknown_command(argv[1]);
        return CLI_USAGE;
    }
    int json = 0;
    for (int k = 2; k < argc; k++) json |= strcmp(argv[k], "--json") == 0;
    if (asks_for_help(argc, argv))
        return command_help(2 + json, (char *[]){"help", argv[1], "--json"});
    return leave(COMMANDS[i].run(argc - 1, argv + 1));
}
