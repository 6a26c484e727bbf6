/* Library programs: what can be said in Atlas is said in Atlas. The texts are in this folder and
 * part of the library; here they become kernel IR with constants and types filled in.
 * Must not know: instructions on whole arrays, launches, devices. */
#ifndef HG_LIBRARY_LIBRARY_H
#define HG_LIBRARY_LIBRARY_H

#include "io/packed.h"
#include "kir/kir.h"

typedef enum library_id {
#define LIBRARY(id, text, ...) LIBRARY_##id,
#include "library/library.def"
#undef LIBRARY
    LIBRARY_COUNT
} library_id;

enum { LIBRARY_MOST_CONSTANTS = 16 };

/* A program of the table, and how it is read. */
typedef struct library_program {
    const char *name;
    hg_packed *text;
    const char *program;
    const char *constants[LIBRARY_MOST_CONSTANTS + 1]; /* NULL behind the last */
} library_program;
const library_program *library_get(library_id id);
uint32_t library_constant_count(library_id id);

typedef struct library_request {
    library_id id;
    hg_type type;             /* T; A is f32 for halves, f64 for it, f32 for integers, else T */
    const int64_t *constants; /* as many as the row has names; of a type an hg_type */
    /* What the text includes by these names; NULL: nothing, and it does not ask. The epilogue of a
     * function: what that makes of `value`. Of whole maps: `prologue` (constant PROLOGUE is 1)
     * makes element number `element` of the input, in `made`; `fused` (MAPS is 1) changes that of
     * the output in it; `parameters` are their arrays, behind the text's own, and registers. */
    const char *epilogue, *parameters, *prologue, *fused;
} library_request;

/* How axis.atlas folds lines of n elements, [outer, n, inner]. */
enum { LIBRARY_CHUNK = 4096, LIBRARY_LINE_LANES = 16, LIBRARY_COLUMN_LANES = 64 };
typedef struct library_lines {
    bool by_block;  /* program `rows`, a chunk a block; else `columns`: */
    bool wide;      /* lanes of a block are of one line */
    bool kept;      /* and go through its rows together */
    int32_t levels; /* 2^levels accumulators */
    int32_t made;   /* 2^made of them at once */
    uint32_t width; /* lanes of a block */
    uint64_t lanes; /* of each chunk of `inner` lines */
} library_lines;
/* What lanes of a block leave to each other of elements of that calculation. */
hg_type library_left_type(hg_type type);
/* size: bytes of that. most: lanes of a block that the device wants; LIBRARY_COLUMN_LANES: none is
 * kept. */
library_lines library_lines_of(uint64_t n, uint64_t inner, uint64_t size, uint32_t most);
/* Bytes of shared memory of a block of `columns`. */
uint64_t library_lines_shared(const library_lines *lines, uint64_t size);
/* Lines that a block takes, of so many: one for each of its lanes, unless `most` is 1 or blocks are
 * few then; else 1. */
uint64_t library_lines_of_block(uint64_t lines, uint64_t most);

/* Of all texts. */
void library_digest(uint8_t digest[32]);
/* The type that sums of a type are calculated in. */
hg_type library_sum_type(hg_type type);
/* The program, verified; the caller releases it. A text that is wrong is HG_ERROR_INTERNAL. */
hg_status library_assemble(const library_request *r, struct hg_program **program) HG_NODISCARD;
/* Its kernel IR, after stage PROGRAM: input i is parameter i, accesses to buffers are unchecked.
 * shifted: bit i: buffer parameter i begins where one more input, in order behind the parameters
 * and numbered parameters + i, says, in bytes from its memory's start. */
hg_status library_module(const library_request *r, uint32_t shifted,
                         kir_module **module) HG_NODISCARD;

#endif
