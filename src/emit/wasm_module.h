/* A module of WebAssembly while it is written: types, functions, constant data; its bytes, and the
 * text of bytes that this library wrote.
 * Must not know: kernels. */
#ifndef HG_EMIT_WASM_MODULE_H
#define HG_EMIT_WASM_MODULE_H

#include "base/base.h"

typedef enum wasm_op {
#define WASM_OP(id, text, prefix, code, immediates) W_##id,
#include "emit/wasm.def"
    WASM_OP_COUNT,
    W_NONE = WASM_OP_COUNT /* no instruction does it */
} wasm_op;

/* What follows an instruction (wasm.def). */
typedef enum wasm_immediates {
    WASM_NONE,
    WASM_BLOCK,
    WASM_LABEL,
    WASM_FUNCTION,
    WASM_INDIRECT,
    WASM_LOCAL,
    WASM_GLOBAL,
    WASM_MEMORY,
    WASM_MEMORY_LANE,
    WASM_LANE,
    WASM_I32_VALUE,
    WASM_I64_VALUE,
    WASM_F32_VALUE,
    WASM_F64_VALUE,
    WASM_V128_VALUE,
    WASM_SHUFFLE,
    WASM_COPY,
    WASM_ZERO,
    WASM_ATOMIC_4,
    WASM_ATOMIC_8
} wasm_immediates;

typedef enum wasm_type {
    WASM_VOID = 0x40,
    WASM_I32 = 0x7f,
    WASM_I64 = 0x7e,
    WASM_F32 = 0x7d,
    WASM_F64 = 0x7c,
    WASM_V128 = 0x7b
} wasm_type;

/* Code of a function while it is written. Locals are taken and released by type, so that a
 * function has no more of them than live at a time. */
typedef struct wasm_code {
    hg_text bytes;
    hg_text locals;                /* a byte each, the type; parameters first */
    uint32_t params;               /* of them */
    HG_VEC(uint32_t) taken, spare; /* in the order in which they were taken; those released */
    uint32_t depth;                /* blocks that are open */
} wasm_code;

typedef struct wasm_function {
    uint32_t type;
    char name[HG_MAX_IDENT_BYTES * 2 + 16]; /* of a program, behind that of its module */
    bool exported;
    hg_text body; /* of the code section, without its size */
} wasm_function;

/* A number that others read: an address of the module's memory, and its name. */
typedef struct wasm_constant {
    const char *name; /* lives as long as the module */
    uint32_t value;
} wasm_constant;

/* Imports: env.memory, env.__indirect_function_table, the globals env.__stack_pointer (0) and
 * env.__memory_base (1), as tools for WebAssembly call them, then functions. A module that stands
 * alone has its own in their places, exports its memory, and imports nothing. */
typedef struct wasm_module {
    hg_text types;                 /* signatures, one behind the other */
    uint32_t type_count, imported; /* functions that are imported come first */
    HG_VEC(wasm_function) functions;
    hg_text data;    /* at __memory_base */
    uint64_t locals; /* of the function that has most */
    uint64_t bytes;  /* of the code of the longest */
    struct {
        bool yes;
        uint32_t stack, base, end; /* where the stack ends, data begins, the memory's own end */
        HG_VEC(uint32_t) table;    /* functions of the table, from its place 1 on */
        HG_VEC(wasm_constant) constants;
    } alone;
    bool failed;
} wasm_module;

/* What hosts compile at most of a function (WebAssembly JavaScript Interface,
 * "Implementation-defined Limits"). */
enum { WASM_MOST_LOCALS = 50000, WASM_MOST_BYTES = 7654321 };

/* Globals. Constants that a module exports come behind the two, in the order of their naming. */
enum { WASM_STACK_POINTER, WASM_MEMORY_BASE, WASM_CONSTANTS };

/* Signatures are texts: types of parameters, a colon, types of results; i I f F v are i32, i64,
 * f32, f64, v128. */
uint32_t wasm_type_of(wasm_module *m, const char *signature);
/* The number of a function, whose body comes later. An import has to come before all others. */
uint32_t wasm_declare(wasm_module *m, const char *name, const char *signature, bool exported);
uint32_t wasm_import(wasm_module *m, const char *name, const char *signature);
void wasm_begin(wasm_code *c, const char *signature);
void wasm_define(wasm_module *m, uint32_t number, wasm_code *c); /* ends and empties it */
uint32_t wasm_data(wasm_module *m, const void *bytes, uint64_t size, uint32_t align); /* where */
/* Of a module that stands alone: a function's place in the table; a constant that it exports. */
uint32_t wasm_place(wasm_module *m, uint32_t function);
void wasm_constant_named(wasm_module *m, const char *name, uint32_t value);
/* All of it, added to out. about: a text for whoever looks inside. */
void wasm_write(wasm_module *m, const char *about, hg_text *out);
void wasm_free(wasm_module *m);
/* Text of a module that wasm_write wrote, as wat2wasm reads it. */
void wasm_text(const char *bytes, uint64_t size, const char *about, hg_text *out);

uint32_t wasm_take(wasm_code *c, wasm_type type);
/* Releases all that was taken since `count` were. */
void wasm_release(wasm_code *c, uint64_t count);

void w(wasm_code *c, wasm_op op);                         /* one without immediates; ELSE, END */
void w_number(wasm_code *c, wasm_op op, uint64_t number); /* a local, global, function, label */
void w_get(wasm_code *c, uint32_t local);
void w_set(wasm_code *c, uint32_t local);
void w_tee(wasm_code *c, uint32_t local);
void w_i32(wasm_code *c, uint32_t value);
void w_i64(wasm_code *c, uint64_t value);
void w_f32(wasm_code *c, uint32_t bits);
void w_f64(wasm_code *c, uint64_t bits);
void w_v128(wasm_code *c, const uint8_t bytes[16]);
void w_shuffle(wasm_code *c, const uint8_t bytes[16]);
void w_memory(wasm_code *c, wasm_op op, uint64_t offset);
void w_lane(wasm_code *c, wasm_op op, uint32_t lane);
void w_memory_lane(wasm_code *c, wasm_op op, uint64_t offset, uint32_t lane);
void w_indirect(wasm_code *c, uint32_t type);
/* BLOCK, LOOP, IF without parameters; a label for w_branch. */
uint32_t w_open(wasm_code *c, wasm_op op, wasm_type result);
void w_branch(wasm_code *c, wasm_op op, uint32_t label); /* BR, BR_IF */

#endif
