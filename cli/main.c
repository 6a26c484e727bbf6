/* hologram: runs, checks and translates Atlas programs. */
#include "cli.h"
#include "code/compiler.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int, char **);
    const char *what;
} COMMANDS[] = {
    {"run", command_run, "PROGRAM [--in N=FILE] [--out N=FILE] [--set N=VALUE] …   run a program over arrays"},
    {"stream", command_stream, "PROGRAM [--pool BYTES] [--set N=VALUE] … < in > out     run a program over a stream"},
    {"diff", command_diff, "PROGRAM --backend A --against B [--in N=FILE] [--seed N] …  find the first difference"},
    {"asm", command_asm, "FILE [-g] [-o OUT]                                      assemble to a container"},
    {"disasm", command_disasm, "FILE [-o OUT]                                           write canonical text"},
    {"verify", command_verify, "FILE…                                                   check programs"},
    {"emit", command_emit, "FILE --target TARGET [-o OUT] | --list                  show what a program is lowered to"},
    {"ops", command_ops, "[--backend B] [--device N]                              list the instructions: native or lowered"},
    {"devices", command_devices, "                                                        list backends and devices"},
    {"atlas", command_atlas, "class|table|graph|orbit|torus|invert|character …        the 96 classes of bytes and their algebra"},
    {"circuit", command_circuit, "parse|canonicalise|words|bytes|compile FILE | -e EXPR        what the circuit language makes of a text"},
    {"version", command_version, "                                                        print the version"},
};

static void help(FILE *out) {
    fprintf(out, "usage: hologram COMMAND …\n\n");
    for (size_t i = 0; i < HG_COUNT_OF(COMMANDS); i++) fprintf(out, "  %-8s %s\n", COMMANDS[i].name, COMMANDS[i].what);
    fprintf(out, "\nEvery command takes --json. docs/guide/command.md has the options.\n");
}

/* A driver's compiler that was left alone must not meet the end of the libraries that it uses. */
static int leave(int status) {
    if (!hg_compiler_left()) return status;
    fflush(NULL);
    _exit(status);
}

int main(int argc, char **argv) {
    cli_begin();
    if (argc < 2) {
        help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "-h") == 0) {
        help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) return command_version(1, argv + 1);
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        help(stdout);
        return CLI_OK;
    }
    for (size_t i = 0; i < HG_COUNT_OF(COMMANDS); i++)
        if (strcmp(argv[1], COMMANDS[i].name) == 0) return leave(COMMANDS[i].run(argc - 1, argv + 1));
    fprintf(stderr, "hologram: error: unknown command '%s'\n", argv[1]);
    help(stderr);
    return CLI_USAGE;
}
