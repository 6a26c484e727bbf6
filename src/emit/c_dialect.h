/* A language of the C family: what differs between such languages, one row a language. A row is a
 * file dialect_NAME.c that defines emit_NAME_dialect and a line in emitters.def; the texts are
 * printed by emit_c_expr.c, emit_c_body.c and, for the device form, emit_device_c.c.
 * Must not know: kernels, devices, drivers. */
#ifndef HG_EMIT_C_DIALECT_H
#define HG_EMIT_C_DIALECT_H

#include "emit/emit.h"

/* Types of numbers, kir_kind. */
enum {
    C_U8 = KIR_KIND_U8,
    C_U16 = KIR_KIND_U16,
    C_U32 = KIR_KIND_U32,
    C_U64 = KIR_KIND_U64,
    C_F32 = KIR_KIND_F32,
    C_F64 = KIR_KIND_F64,
    C_KINDS = KIR_KIND_COUNT
};
/* Sets of them. */
enum {
    C_IN_U8 = 1 << C_U8,
    C_IN_U16 = 1 << C_U16,
    C_IN_U32 = 1 << C_U32,
    C_IN_U64 = 1 << C_U64,
    C_IN_F32 = 1 << C_F32,
    C_IN_F64 = 1 << C_F64
};
enum {
    C_INTEGERS = C_IN_U8 | C_IN_U16 | C_IN_U32 | C_IN_U64,
    C_FLOATS = C_IN_F32 | C_IN_F64,
    C_NUMBERS = C_INTEGERS | C_FLOATS,
};

/* How an operation is written where the result is of one of these kinds. $0 $1 $2 stand for its
 * operands. What the language has no word for stays out of the list: CLZ, MULHI_U, FMULERR, BITCAST
 * and conversions then call a helper function in C, square root, fma and rounding fail (the
 * device's capabilities keep them away), all others are operators. */
typedef struct c_builtin {
    uint8_t op;    /* kir_op */
    uint8_t kinds; /* set of kir_kind */
    const char *text;
} c_builtin;

/* A fence: the statement ("": nothing is needed; NULL: the language has none), and the function
 * that it calls or NULL. Fences may share a function. */
typedef struct c_fence {
    const char *statement, *definition;
} c_fence;

/* What the device form needs beside expressions. Qualifiers end in a blank, or are "" where the
 * language has none. */
typedef struct c_device_words {
    struct {               /* of the text */
        const char *title; /* of the comment at the top: the language and its version */
        const char *head;  /* lines after that comment */
        /* More of them where f64, 64-bit atomics, compare and exchange, DOT4_U are used; NULL:
         * none. */
        const char *head_f64, *head_atomic64, *head_cas, *head_dot4_u;
    } top;
    const char *kernel;         /* in front of the kernel's name: "__kernel void " */
    const char *memory, *group; /* qualifiers of pointers to buffers and to group memory */
    const char *distinct; /* of a parameter whose memory no other one reaches: "restrict "; NULL:
                             the language has no such word */
    struct {              /* in order: a pointer a slot, group memory, the record, ids */
        bool by_address; /* slots are addresses in the record, multiples of 16, and no parameters; a
                            kernel may compute addresses */
        uint32_t parameter_bytes; /* that a kernel takes: a larger record is read out of memory */
        const char *attribute;    /* after the name of the n-th parameter (slots and the record): a
                                     format with n; NULL: nothing */
        const char *group_parameter; /* the declaration of group_memory, words of types[C_U64];
                                        NULL: it is no parameter … */
        const char *group_variable;  /* … but this line at the top of the kernel */
        const char *record; /* the declaration of a record by value: a format with the kernel's name
                             */
        const char *id_parameters; /* declarations of what ids are made of; NULL: every function can
                                      ask for them */
        const char *ids_unused;    /* a statement that names them all, for compilers that warn of
                                      parameters without use */
        const char *ids[KIR_DEVICE_ID_COUNT];
    } params;
    struct {                                        /* of operations on memory that others see */
        const char *atomics[2][KIR_ATOMIC_CAS + 1]; /* function of a pointer and operands, which
                                                       returns the old number; u32, u64 */
        const char *atomic_types[2][2]; /* what the pointer points to, [u32, u64][signed]; NULL: the
                                           number's type */
        const char *atomic_qualifier;   /* of that type: "volatile " */
        const char *atomic_order;       /* after the operands: ", memory_order_relaxed" */
    } atomic;
    c_fence fences[HG_SCOPE_COUNT];
    const char *barrier; /* statement: all invocations of the group, and its stores to both memories
                            are visible after it */
    bool wide_offsets;   /* emit_device_c_wide.c */
} c_device_words;

typedef struct c_dialect {
    /* Types by kir_kind, and the signed type of the same size. */
    const char *types[C_KINDS], *signed_types[C_KINDS];
    /* Literals: formats of u64 below and above 2^16; the largest signed number of 64 bits; not
     * finite numbers, NULL: by their bits and the language's BITCAST. */
    const char *u64_small, *u64_large, *top_i64, *infinity, *nan;
    const c_builtin *builtins; /* ended by an empty row */
    const char *multiply_high; /* definition of hg_mulhi_u64, in the words of the helpers of
                                  emit_c_expr.c; NULL: by halves */
    bool logical_not;          /* a ^ true is !a */
    const char *function;      /* in front of a function's type: "static inline " */
    const char *kept; /* the same of one that is not written in place of its calls: many, and loops;
                         NULL: function */
    const char *table;     /* in front of the type of a table */
    const char *write_out; /* a line in front of a loop whose rounds the compiler had better write
                              out; NULL: none */
    const char *local; /* qualifier of a pointer to a variable of the invocation; "" or with a blank
                        */
    bool no_designators; /* there are no values {.x = a} of structs: members are assigned */
    const c_device_words *device; /* NULL: the language has no device form */
} c_dialect;

#endif
