/* JSON kernels: what the files of this translator share. A document goes through three steps, none
 * of them recursive: document.c   what stands around a body: version, name, parameters; memory.c:
 * shared and private arrays, extents, the launch tree.c       body to a tape of typed nodes in the
 * order of evaluation (statement.c, expression.c, typing.c) lower.c      tape to a program, through
 * the statement tree (isa/tree). An empty body is lowered by the kernel's name instead (named.c).
 * Meanings: semantics, section 7.
 * Must not know: how programs run. */
#ifndef HG_TRANSLATORS_JSON_KERNEL_H
#define HG_TRANSLATORS_JSON_KERNEL_H

#include "base/json_read.h"
#include "isa/program.h"
#include <hologram/builder.h>
#include <hologram/json_kernel.h>

/* ---- types ---- */

/* An hg_type, or one of these. */
enum {
    JK_BOOL = 0x40, /* in variables and arrays u8, 0 or 1 */
    JK_POINTER,     /* opaque, u64 */
    JK_ERROR,       /* something is wrong below: said already */
    JK_WHOLE,       /* an integer literal that has no type yet */
    JK_REAL         /* a real literal that has no type yet */
};
typedef uint8_t jk_type;

static inline bool jk_is_number(jk_type t) {
    return t < HG_TYPE_COUNT || t == JK_WHOLE || t == JK_REAL;
}
static inline bool jk_is_integer(jk_type t) {
    return (t < HG_TYPE_COUNT && hg_type_is_integer((hg_type)t)) || t == JK_WHOLE;
}
static inline bool jk_is_float(jk_type t) {
    return (t < HG_TYPE_COUNT && hg_type_is_float((hg_type)t)) || t == JK_REAL;
}
static inline bool jk_is_literal(jk_type t) { return t == JK_WHOLE || t == JK_REAL; }
/* The type its values have in registers and arrays. */
static inline hg_type jk_held(jk_type t) {
    return t == JK_BOOL ? HG_TYPE_U8 : t == JK_POINTER ? HG_TYPE_U64 : (hg_type)t;
}

/* ---- names ---- */

typedef enum jk_name_kind { JK_SCALAR, JK_ARRAY, JK_LOCAL } jk_name_kind;
enum { JK_LOADED = 1, JK_STORED = 2 };
typedef enum jk_memory { JK_BUFFER, JK_SHARED, JK_PRIVATE } jk_memory; /* where an array is */
typedef struct jk_name {
    const char *text;
    uint32_t length, token; /* declared by */
    uint8_t kind;           /* jk_name_kind */
    jk_type type;           /* of an array: its elements */
    uint8_t reg;            /* of a parameter of a kernel without a body */
    bool assigned;          /* on every path to here */
    uint8_t access;         /* of an array: JK_LOADED, JK_STORED */
    uint8_t memory;         /* jk_memory, of an array */
    uint8_t rank;           /* HG_NO_DIMS: any shape; else `dims` */
    hg_dim *dims;
    uint64_t offset, elements; /* of a shared or private array: its first byte, how many elements it
                                  has */
} jk_name;
enum { JK_MAX_NAMES = 1024, JK_NAME_SLOTS = 4096 };
enum { JK_LAST_REGISTER = 249 /* of a parameter */ };

/* ---- nodes ---- */

typedef enum jk_node_kind {
    /* expressions: a, b, c are their operands */
    JK_LITERAL,   /* bits */
    JK_READ,      /* a: name */
    JK_LANE,      /* get_global_id() and its like; op: the register */
    JK_IDENTITY,  /* lane_idx_x() and its like; op: hg_idname */
    JK_CONVERT,   /* a */
    JK_BINARY,    /* op (hg_op): a, b; the amount of a shift is a u32 */
    JK_FLOOR_DIV, /* a, b */
    JK_TERNARY,   /* op: a, b, c */
    JK_UNARY,     /* op: a; bits: of a scan, only of the lanes before this one */
    JK_COMPARE,   /* op (hg_condition): a, b */
    JK_NOT,       /* logical: a */
    JK_AND,
    JK_OR,     /* a, b; c: the mark */
    JK_CHOOSE, /* if_expr a: b, c; its marks are the nodes before b's first and behind b */
    JK_LOAD,   /* a: name of the array, b: index */
    JK_ATOMIC, /* op: a: name of the array, b: index, c: value */
    /* marks between operands */
    JK_RIGHT,     /* the right side of a (JK_AND, JK_OR) begins */
    JK_THEN,      /* the first side of a (JK_CHOOSE) begins */
    JK_OTHERWISE, /* the second side of a begins; b: first side's value */
    /* statements */
    JK_SET,       /* name a = b */
    JK_STORE,     /* name a [b] = c */
    JK_DROP,      /* a */
    JK_IF,        /* a: condition; b: JK_ELSE or JK_END_IF */
    JK_ELSE,      /* a: JK_IF */
    JK_END_IF,    /* a: JK_IF */
    JK_FOR,       /* name a = b: start; c: stop; bits: step's node; ends at `end` */
    JK_END_FOR,   /* a: JK_FOR */
    JK_WHILE,     /* the condition begins */
    JK_TEST,      /* a: condition; b: JK_WHILE */
    JK_END_WHILE, /* a: JK_WHILE */
    JK_RETURN,
    JK_BARRIER,    /* op: HG_OP_BAR_SYNC, HG_OP_BAR_GRID */
    JK_SKIP,       /* nodes up to a are not evaluated */
    JK_MAP,        /* op (hg_opname): out a, in b; bits: count's node */
    JK_MAP_BINARY, /* out a, in b, c */
    JK_REDUCE,     /* out a, in b */
    JK_SCAN,       /* as JK_REDUCE */
    JK_GATHER,     /* out a, in b, indices c; the upper half of bits: size's node */
    JK_SCATTER
} jk_node_kind;

enum {
    JK_MAY_FAULT = 1, /* evaluating it may stop the lane, or is seen by others: only where Python
                         would */
    JK_NEGATIVE = 2,  /* of a literal: the sign in front */
    JK_EXCLUSIVE = 4, /* of a scan */
    JK_REVERSE = 8,
    JK_ADDS = 16, /* of a scatter */
    JK_WIDE = 32  /* indices are i64 */
};
typedef struct jk_node {
    uint8_t kind, op;
    jk_type type;
    uint8_t flags;
    uint32_t token; /* where it stands */
    uint32_t a, b, c;
    uint32_t first; /* of its subtree */
    uint32_t end;   /* of a loop: its last node */
    uint64_t bits;
} jk_node;
#define JK_NONE UINT32_MAX

/* ---- one kernel under translation ---- */

typedef struct jk_task {
    uint8_t kind;
    uint32_t token, extra;
} jk_task;

/* An open if or loop. */
typedef struct jk_block {
    uint32_t node;       /* JK_IF, JK_FOR, JK_WHILE */
    uint64_t names;      /* length of the log where the branch began */
    uint64_t then_names; /* where the names of the first branch were put aside */
    bool reachable, then_ends;
} jk_block;

typedef struct jk_kernel {
    const hg_json_document *document;
    hg_diagnostics *diagnostics;
    hg_json_lines lines;
    struct { /* a long list where the last mistake was: the next one is further on */
        uint32_t list, item, number;
    } walk;
    uint32_t root; /* the document's token */
    bool out_of_memory;
    uint64_t errors;
    struct { /* the error that stands first */
        uint32_t line, column;
        char code[4];
        char message[512];
    } first;
    hg_arena arena; /* names */

    const char *name; /* an identifier */
    bool by_name;     /* the body is empty */
    struct {          /* what the document says of launches */
        hg_dim *lanes, *grid;
        uint32_t lane_rank, grid_rank, block[3]; /* block[0] 0: not said */
        uint32_t token;                          /* of lanes or grid */
        uint64_t shared_bytes, private_bytes;
    } launch;
    struct {
        jk_name *all; /* parameters first */
        uint32_t count, params;
        uint16_t *slots; /* hash table of name + 1 */
    } name_table;

    HG_VEC(jk_node) nodes;
    HG_VEC(jk_task) tasks;
    HG_VEC(uint32_t) values; /* nodes waiting for their parent */
    HG_VEC(jk_block) blocks;
    HG_VEC(uint32_t) log; /* names assigned since the open branches began */
    bool reachable;       /* the statement that comes next */
} jk_kernel;

/* ---- report.c ---- */

/* An error at a token of the document; the message gets the token's path in front. One mistake, one
 * call. */
enum { JK_MOST_ERRORS = 1000 }; /* then nothing more is read: nobody would look at it */
void jk_error(jk_kernel *k, const char *code, uint32_t token, const char *hint, const char *format,
              ...) HG_PRINTF(5, 6);
hg_place jk_place(jk_kernel *k, uint32_t token);
hg_status jk_status(jk_kernel *k); /* of all that was reported */
/* What stands at a token, for messages: 'add', 12, an object. */
typedef struct jk_shown {
    char text[64];
} jk_shown;
jk_shown jk_show(const jk_kernel *k, uint32_t token);
/* The member of an object, 0 after an error: it is missing. `what` is what would be accepted, "a
 * string". */
uint32_t jk_field(jk_kernel *k, uint32_t object, const char *key, const char *what);
/* The same for a string. */
uint32_t jk_string_field(jk_kernel *k, uint32_t object, const char *key);
/* Index of a string in a list of words, -1: none of them. */
int jk_word(const jk_kernel *k, uint32_t token, const char *const *words, size_t count);
/* "did you mean 'add'?" or "one of: …" in the buffer. */
const char *jk_words_hint(const jk_kernel *k, uint32_t token, const char *const *words,
                          size_t count, char *buffer, size_t size);

/* An error at the first field of an object that a list, words with blanks between them, does not
 * have. False after it. */
bool jk_only_fields(jk_kernel *k, uint32_t object, const char *fields);

/* ---- document.c ---- */
void jk_read_document(jk_kernel *k);

/* ---- declare.c ---- */
/* The type of a scalar, of elements; JK_ERROR after an error. */
jk_type jk_read_scalar(jk_kernel *k, uint32_t node);
jk_type jk_read_element(jk_kernel *k, uint32_t object);
/* Declares a parameter or an array: its name must be one and new. JK_NONE after an error. */
uint32_t jk_declare(jk_kernel *k, uint32_t token, const char *what, jk_name_kind kind,
                    jk_type type);

/* ---- memory.c ---- */
/* The fields of a kernel beside its parameters: shared and private arrays, extents of parameters,
 * block and lanes. */
void jk_read_memory(jk_kernel *k, uint32_t kernel);

/* ---- names.c ---- */
/* "f32", "bool", "an integer literal", … */
const char *jk_type_name(jk_type t);
/* Scalar names of a document; usize is u64. */
bool jk_scalar_from_name(const char *name, size_t length, jk_type *type);
/* JK_NONE: there is no such name. */
uint32_t jk_find_name(const jk_kernel *k, const char *text, size_t length);
uint32_t jk_add_name(jk_kernel *k, uint32_t token, jk_name_kind kind, jk_type type);

/* ---- node.c ---- */
uint32_t jk_add_node(jk_kernel *k, jk_node_kind kind, uint8_t op, jk_type type, uint32_t token,
                     uint32_t a, uint32_t b, uint32_t c);
void jk_push(jk_kernel *k, uint8_t task, uint32_t token, uint32_t extra);
uint32_t jk_pop(jk_kernel *k); /* the value pushed last */
void jk_push_value(jk_kernel *k, uint32_t node);

/* ---- tree.c, statement.c, expression.c: the body to nodes ---- */
void jk_read_body(jk_kernel *k, uint32_t body);
enum {
    JK_TASK_BLOCK,
    JK_TASK_SET,
    JK_TASK_STORE,
    JK_TASK_DROP,
    JK_TASK_IF,
    JK_TASK_ELSE,
    JK_TASK_END_IF,
    JK_TASK_FOR,
    JK_TASK_END_FOR,
    JK_TASK_TEST,
    JK_TASK_END_WHILE,
    JK_TASK_RETURN,
    JK_TASK_COLLECTIVE,
    JK_TASK_COUNT, /* statements */
    JK_TASK_EXPRESSION,
    JK_TASK_BINARY,
    JK_TASK_LOGIC,
    JK_TASK_RIGHT,
    JK_TASK_UNARY,
    JK_TASK_LOAD,
    JK_TASK_CALL,
    JK_TASK_ATOMIC,
    JK_TASK_THEN,
    JK_TASK_OTHERWISE,
    JK_TASK_CHOOSE
};
void jk_do_statement(jk_kernel *k, jk_task t);
void jk_do_expression(jk_kernel *k, jk_task t);
/* The array parameter that a var node or a string names; JK_NONE after an error. */
uint32_t jk_array(jk_kernel *k, uint32_t token);
/* An index as u64, its nodes marked. JK_NONE after an error. */
uint32_t jk_index(jk_kernel *k, uint32_t node);
/* A name is given a value of a type here: declares it where it is new. JK_NONE after an error. */
uint32_t jk_assign_name(jk_kernel *k, uint32_t token, jk_type type);

/* ---- typing.c ---- */
/* A value as another type: a literal takes it, anything else gets a JK_CONVERT. Returns the node to
 * use. */
uint32_t jk_as(jk_kernel *k, uint32_t node, jk_type type);
/* A literal without a type takes its own: i32, i64 where that does not hold it, f32. */
uint32_t jk_settle(jk_kernel *k, uint32_t node);
/* The type both operands take; JK_ERROR without a word where there is none. */
jk_type jk_common(jk_type a, jk_type b);
/* The same of two nodes: of two literals, a type that holds both. */
jk_type jk_common_of_nodes(jk_kernel *k, uint32_t a, uint32_t b);
/* Both as that type. They must be numbers (for equality, both bool too). */
bool jk_unify(jk_kernel *k, uint32_t *a, uint32_t *b, uint32_t token, const char *what, bool bools);
/* A condition: bool, or an integer that is compared with 0. */
uint32_t jk_condition(jk_kernel *k, uint32_t node);
bool jk_literal_fits(jk_kernel *k, uint32_t node, jk_type type);

/* ---- lower.c: nodes to a program ---- */
hg_status jk_lower(jk_kernel *k, hg_program **program);
/* named.c */
hg_status jk_lower_by_name(jk_kernel *k, hg_program **program);
/* The document of a kernel without a body that does one operation ("add", "exp"), and its name.
 * HG_ERROR_ISA: there is none. */
enum { JK_WORD_BYTES = 24 };
hg_status jk_write_operation(const char *operation, hg_type type, char name[JK_WORD_BYTES],
                             hg_text *document);
/* ---- program.c ---- */
/* HG_PARAM_IN, …: by what the body does with the array. */
int jk_direction(const jk_name *n);
/* What the document says of launches, and shared and private memory. */
void jk_declare_launch(jk_kernel *k, hg_builder *b);
/* Instructions that are added from now on come from that token. */
void jk_at(jk_kernel *k, hg_builder *b, uint32_t token);

#endif
