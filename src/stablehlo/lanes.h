/* Lanes of a program beside operations on arrays: functions of a module, as emit/emit_stablehlo.h
 * prints them, and the call of them.
 * Must not know: graphs, devices. */
#ifndef HG_STABLEHLO_LANES_H
#define HG_STABLEHLO_LANES_H

#include "isa/program.h"
#include "stablehlo/array.h"

/* A call of a program. All lists go by its parameters. */
typedef struct shlo_lanes {
    const hg_program *program;
    uint64_t *numbers; /* of scalars, their bits */
    bool *known;       /* of scalars: set where the call says it; others follow from extents */
    ten *arrays; /* of arrays: before the call, name 0: zeros; of those that are written afterwards
                    what they are then */
} shlo_lanes;

/* Functions are added to `functions`, with names that begin with kNUMBER_, the call to the module.
 * module->unsupported says what a module cannot say of it. */
hg_status shlo_print_lanes(ten_module *module, const shlo_lanes *lanes, uint32_t number,
                           hg_text *functions) HG_NODISCARD;

/* The functions of a module's text as those of another one, with such names; all private. */
void shlo_add_functions(hg_text *out, const hg_text *text, uint32_t number);
/* results: shapes before, tensors afterwards. Arguments are as ten_made has them. */
void shlo_call_main(ten_module *module, uint32_t number, const ten *arguments, uint32_t count,
                    ten *results, uint32_t result_count);

#endif
