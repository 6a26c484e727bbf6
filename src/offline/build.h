/* Programs as C text, or a module of WebAssembly, that needs nothing of the library: `hologram
 * build`.
 * Must not know: files, compilers, options of commands. */
#ifndef HG_OFFLINE_BUILD_H
#define HG_OFFLINE_BUILD_H

#include "base/base.h"
#include "isa/program.h"
#include <hologram/graph.h>

/* A scalar parameter, or an extent of a graph, whose value is known when the text is made: the
 * function does not take it. */
typedef struct hg_build_value {
    uint32_t program; /* its number in the request; of a graph 0 */
    const char *name;
    uint64_t bits; /* of its type, at most 64 */
} hg_build_value;

typedef struct hg_build_request {
    const hg_program *const *programs; /* verified */
    uint32_t count;
    const hg_graph *graph; /* of hg_build_graph, in place of programs */
    const char *name;
    const hg_build_value *values; /* of scalars */
    uint32_t value_count;
} hg_build_request;

/* Programs as NAME.c and NAME.h, added to c and h. A program called NAME becomes the function NAME,
 * another one NAME_PROGRAM. HG_ERROR_INVALID_ARGUMENT: a name that C cannot have, or twice;
 * HG_ERROR_ISA: the program needs what plain C has not, with the instruction. */
hg_status hg_build(const hg_build_request *r, hg_text *c, hg_text *h) HG_NODISCARD;
/* The same of an array graph, as the function NAME. HG_ERROR_INVALID_ARGUMENT: an extent has no
 * value, or shapes do not fit. */
hg_status hg_build_graph(const hg_build_request *r, hg_text *c, hg_text *h) HG_NODISCARD;
/* Both as a module of WebAssembly that stands alone, with the functions of these names, added to
 * out. HG_ERROR_ISA also: a whole-array instruction, other than a map or a reduction, whose extents
 * only a call knows. */
hg_status hg_build_wasm(const hg_build_request *r, hg_text *out) HG_NODISCARD;
hg_status hg_build_graph_wasm(const hg_build_request *r, hg_text *out) HG_NODISCARD;

#endif
