/* The command `hologram`: what its files share. Must not know: how programs run. */
#ifndef HG_CLI_CLI_H
#define HG_CLI_CLI_H

#include "base/base.h"
#include "base/budget.h"
#include "base/json.h"
#include "io/io.h"
#include "isa/program.h"
#include <hologram/backend.h>
#include <hologram/circuit.h>
#include <hologram/graph.h>
#include <hologram/reflect.h>

/* Exit status (language.md 6.1). */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_UNAVAILABLE = 3 };

/* NAME=VALUE of a repeatable option. */
typedef struct cli_pair {
    const char *option;
    char *name;
    const char *value;
} cli_pair;

/* Where a command keeps a flag or the argument of an option. What options there are and what they
 * take says commands.def; those that may be repeated go to cli.pairs and need no place. */
typedef struct cli_option {
    const char *name; /* "--lanes" */
    const char **value;
    bool *flag;
} cli_option;

typedef struct cli {
    const char *command;
    uint32_t version;  /* of the document that --json prints, where it has a schema; else 0 */
    bool keep_outputs; /* --json has outputs after a failure too */
    bool json, errors_to_stderr; /* stream: the JSON object goes to standard error */
    bool quiet;                  /* standard error has errors only */
    bool hash;                   /* outputs are printed as the hash of their elements */
    bool stamp;                  /* --stamp: what made results, beside them */
    const char *shared_by;       /* backends whose devices shared the lanes; NULL: one ran all */
    bool fast;                   /* ranks that share a graph add sums of parts */
    const char *max_errors;
    const char *kernel;           /* --kernel NAME: of a file with several; NULL: the only one */
    HG_VEC(const char *) defines; /* --define NAME=VALUE, in order */
    HG_VEC(const char *) include_folders; /* -I */
    const char *program_name;             /* --program NAME; NULL: the only one */
    hg_diagnostics *diagnostics;
    hg_text earlier;     /* JSON: diagnostics of files before this one, comma separated */
    const char *file;    /* as messages name it */
    hg_bytes source;     /* of a text program; empty for binaries */
    char input_has[300]; /* what standard input is read for; empty: nothing yet */
    hg_program *program;
    hg_graph *graph; /* of a .graph, whose parameters `program` has, without code; NULL: it is a
                        program */
    bool as_graph;   /* --as-graph: a program is taken as the array graph that it is */
    const char *weights, *passes;       /* --weights, --passes; NULL: not given */
    hg_circuit_options circuit_options; /* of a .circuit program */
    hg_translated_program circuit; /* its record: program is NULL when the program is no circuit */
    hg_text outputs; /* JSON: items of "outputs" (objects, comma separated); text: lines for
                        standard output */
    HG_VEC(const char *) arguments;
    HG_VEC(cli_pair) pairs;
    uint64_t block_lanes;  /* of the launch, for the place of a fault */
    uint64_t max_memory;   /* --max-memory, HOLOGRAM_MAX_MEMORY; 0: the default */
    hg_budget own_memory;  /* inputs, before there is a backend */
    hg_budget *memory;     /* what inputs and outputs are charged to; NULL: nothing */
    struct cli_rank *rank; /* of a run on several (ranks.h); NULL: it is alone */
    int status;
    bool said; /* why the status is not 0 */
} cli;

/* signals.c: before anything else. Outputs that are not in place are removed when a signal ends the
 * command. */
void cli_begin(void);
/* try_driver.c: opens the libraries of a driver's vendor. */
int cli_try_driver(int argc, char **argv);

/* options.c: fills option targets and positional arguments. False after reporting wrong usage. */
bool cli_parse(cli *c, int argc, char **argv, const cli_option *options, size_t count);
/* Decimal digits, with single '_' between them, up to `most`; else false, without a word. */
bool cli_read_number(const char *text, size_t length, uint64_t most, uint64_t *value);
bool cli_number(cli *c, const char *option, const char *text, uint64_t most,
                uint64_t *value); /* text
                                     NULL:
                                     leaves
                                     *value
                                   */
/* The same for bytes: 512M too. */
bool cli_size(cli *c, const char *option, const char *text, uint64_t most, uint64_t *value);
bool cli_triple(cli *c, const char *option, const char *text, uint32_t value[3]);
/* A device of driver/devices.def by name. False after reporting the names there are. */
struct hg_capset;
bool cli_find_caps(cli *c, const char *name, struct hg_capset *set);

/* memory.c: begin before inputs are read; share when the backend is open: from then on what is
 * charged is charged to it where its memory is the host's. zeroed: charged, untouched pages, for
 * hg_free_aligned; NULL after reporting. */
bool cli_memory_begin(cli *c, const char *max_memory);
hg_status cli_memory_share(cli *c, hg_backend *backend) HG_NODISCARD;
uint8_t *cli_zeroed(cli *c, uint64_t bytes, size_t alignment);

/* report.c */
void cli_usage(cli *c, const char *format, ...) HG_PRINTF(2, 3); /* exit status 2 */
void cli_error(cli *c, const char *code, const char *format, ...) HG_PRINTF(3, 4); /* a diagnostic
                                                                                      without a
                                                                                      place */
void cli_last_error(cli *c); /* the library's last error as a diagnostic */
hg_status cli_print_now(const char *text, size_t length); /* to standard output; X02 when it cannot
                                                             be written */
int cli_finish(cli *c);   /* prints everything and frees; returns the exit status */
void cli_release(cli *c); /* frees everything and prints nothing */
void cli_json_item(cli *c, hg_json *json); /* begins the next object of the outputs; the caller ends
                                              it */
void cli_out(cli *c, const char *format, ...) HG_PRINTF(2, 3); /* text for standard output at the
                                                                  end */

void cli_hash_text(const uint8_t hash[32], char text[65]); /* in hexadecimal digits */

void cli_join(cli *c, cli *one); /* reports what happened to one file: at once as text, with c's in
                                    JSON; frees one, c gets the worse status */

/* load.c */
const char *cli_file(const cli *c); /* the first argument; NULL: none, so that --kernel names the
                                       program */
bool cli_load(cli *c, const char *path); /* program from a file or "-", by name or first bytes;
                                            NULL: the named kernel of --kernel */
bool cli_load_circuit(cli *c, const char *text); /* program from the text of a circuit */
/* The program in bytes that were read, which it takes over; c->file is set. path chooses the front
 * end; NULL: the first bytes do. */
bool cli_take_source(cli *c, const char *path, hg_bytes bytes);
bool cli_verify(cli *c);
/* Standard input is read once. False after reporting that `reader` is the second one to want it;
 * another path than - and raw:- is none. */
bool cli_take_input(cli *c, const char *path, const char *reader, const char *what);

/* graph.c: whether a file is an array graph, by its name, or is to be taken as one; an array graph,
 * with the programs that it names; loading either, with its options checked. False after reporting.
 */
bool cli_is_graph(const cli *c, const char *path);
/* Whether a file's name is that of a StableHLO module: .stablehlo or .mlir. */
static inline bool cli_is_stablehlo(const char *path) {
    return hg_path_ends(path, ".stablehlo") || hg_path_ends(path, ".mlir");
}
bool cli_load_graph(cli *c, const char *path);
bool cli_load_any(cli *c, const char *path);
bool cli_take_graph_source(cli *c, hg_bytes bytes); /* takes the bytes over; c->file is set */
void cli_verify_graph(cli *c);
/* graph_explain.c: svg: --svg FILE, NULL: text */
void cli_explain_graph(cli *c, const char *print_after, const char *svg);

/* explain_program.c: what lanes do at each instruction of the program, or what they pay for */
void cli_explain_program(cli *c, bool why_slow);

/* format.c: the text in its layout; false without memory. Only of what can be one: the text of a
 * program or of an array graph. */
bool cli_format(const char *text, size_t length, hg_text *out);
bool cli_can_format(const char *text, size_t length);

/* resolve.c: how a text is assembled; it reads what it includes. Borrows from c. */
hg_assemble_options cli_assembling(cli *c);

/* program.c: what commands on one file share */
/* Its argument, which may lack where --kernel names a kernel. */
bool cli_one_file(cli *c);
bool cli_one_program(cli *c);
void cli_write(cli *c, const char *path, const void *bytes, size_t length); /* path NULL or "-":
                                                                               standard output, at
                                                                               the end */

/* commands */
#define CLI_COMMAND(name, arguments, what) int command_##name(int argc, char **argv);
#include "commands.def"

#endif
