/* Arrays and scalars of a run: from files, --set and --shape to bytes and shapes
 * (language.md 5.1, 5.2). */
#ifndef HG_CLI_ARRAYS_H
#define HG_CLI_ARRAYS_H

#include "cli.h"

/* What the command line says of one parameter, and what it resolves to. */
typedef struct cli_value {
    const hg_param *param;
    bool bound; /* scalar has a value, array has data */
    bool explicit_scalar;
    uint8_t scalar[512];
    uint8_t *data; /* array bytes; owned through file or memory */
    hg_array file;
    bool shaped;    /* extents are known */
    bool from_file; /* data has a shape of its own */
    uint32_t rank;
    uint64_t extent[HG_MAX_EXTENTS];
    uint64_t elements, bytes;
    const char *out; /* --out FILE */
    hg_bytes result; /* its contents after the run, where no buffer has them */
    bool cut;        /* output of a graph that ranks share: this rank's part along axis */
    bool shared;     /* FILE:shard=AXIS of --in, else of --out */
    uint32_t axis;
    bool counts; /* --set N=@step */
    bool passes; /* stream: comes and goes by chunks, so that no checkpoint has it */
    hg_buffer buffer;
    bool copied; /* stream: the buffer is not the host's memory itself */
    hg_pool pool;
} cli_value;

typedef struct cli_values {
    cli_value *data;
    uint32_t count;
    const char *archive;       /* --out FILE.npz */
    const hg_program *program; /* of whose parameters they are; NULL: of none, and there are no
                                  expressions */
} cli_values;

/* False after reporting. */
bool cli_values_read(cli *c, cli_values *values);
/* Its parts, for those who put something in between: the options of the command line; shapes of
 * what has data, and the scalars they tell; the other scalars; the shape of an array without data.
 */
bool cli_values_options(cli *c, cli_values *values);
/* Arrays of a .npz that have no data so far; names that nothing has are passed over. */
bool cli_values_weights(cli *c, cli_values *values, const char *path);
/* The array of that name from a file, unless it has data. */
bool cli_values_file(cli *c, cli_values *values, const char *name, const char *path);
bool cli_values_resolve(cli *c, cli_values *values); /* all behind the options */
/* The same for parameters that are not the program's. Their names are in c->pairs. */
bool cli_values_params(cli *c, const hg_param *params, uint32_t count, cli_values *values);
bool cli_values_shapes(cli *c, cli_values *values);
bool cli_values_scalars(cli *c, cli_values *values);
bool cli_shape(cli *c, cli_values *values, cli_value *v);
void cli_values_free(cli_values *values);
/* `length` from `begin` on along an axis is what there is of it: of its data, where it has any. */
hg_status cli_value_cut(cli *c, cli_value *value, uint32_t axis, uint64_t begin,
                        uint64_t length) HG_NODISCARD;
void cli_value_drop(cli_value *value); /* its data, which a buffer has now */
bool cli_is_archived(const cli_values *values, const cli_value *value); /* an output that goes to
                                                                           the archive */
/* P01: `begin` is "'z' is no", the rest follows with the names that the program has. False. */
bool cli_unknown_parameter(cli *c, const cli_values *values, const char *begin);
cli_value *cli_values_find(cli_values *values, const char *name);
/* Value of an extent. UNKNOWN: a scalar parameter of it has none. */
hg_extent_status cli_extent(const cli_values *values, const hg_extent *e, uint64_t *value);
/* Reports an extent that has no value, of what ("array 'x'", ".lanes"). Always false. */
bool cli_extent_error(cli *c, const cli_values *values, const char *what, const char *name,
                      const hg_extent *e, hg_extent_status status);
/* Binds a scalar from an extent. */
bool cli_bind_extent(cli *c, cli_value *scalar, uint64_t extent);
bool cli_is_nan(hg_type type, const uint8_t *bytes); /* of an element; false for other types than
                                                        floats */
bool cli_set_scalar(cli *c, cli_value *value, const char *text);
/* The number of a step, where it is the value of a scalar. */
hg_status cli_set_step(const cli_values *values, uint64_t step, hg_params *params) HG_NODISCARD;
enum { CLI_PRINTED_ELEMENTS = 16 }; /* of text; JSON has all */
/* Prints an array as `y f32[3] = 12.0 24.0 36.0`, or adds its JSON object. file NULL: values. */
void cli_print_array(cli *c, hg_text *out, const cli_value *value, const uint8_t *bytes,
                     const char *file);
/* The hash of its elements in their place: `y f32[3] blake3 …`. */
void cli_print_hash(cli *c, hg_text *out, const cli_value *value, const char *hash,
                    const char *file);

#endif
