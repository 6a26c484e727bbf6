/* A program as sections: stretches of lane instructions, and the whole-array instructions between
 * them, where each is reached once.
 * Must not know: values of a graph. */
#ifndef HG_GRAPH_SECTIONS_H
#define HG_GRAPH_SECTIONS_H

#include "graph/graph.h"
#include "isa/cfg.h"

/* Instructions from first up to end. */
typedef struct graph_section {
    uint32_t first, end;
    bool step;    /* one whole-array instruction */
    bool effects; /* lanes change memory or state */
} graph_section;

typedef struct graph_sections {
    const hg_program *program;
    hg_cfg *cfg;
    uint8_t *nested;   /* of each instruction: it is in a loop, behind a branch, or never reached */
    uint32_t *section; /* of each instruction: where it is */
    uint8_t arrays[256]; /* of each register: the parameter that it begins as, an array;
                            GRAPH_NO_ARRAY */
    uint32_t until[256]; /* of each register: so far, to that instruction, it is what it begins as
                          */
    bool used[256];      /* registers that the program names */
    HG_VEC(graph_section) list;
} graph_sections;
enum { GRAPH_NO_ARRAY = 255 };

/* Of a verified program, whose cfg is set; the rest is zero. The caller frees it, also after
 * failure. HG_ERROR_INVALID_ARGUMENT: what a graph cannot say of this program, with the line. */
hg_status graph_find_sections(const hg_program *program, graph_sections *s) HG_NODISCARD;
void graph_free_sections(graph_sections *s);

/* The memory that an operand of an instruction names as a parameter; GRAPH_NO_ARRAY: none. */
uint8_t graph_array_of(const graph_sections *s, uint32_t inst, uint32_t operand);
/* Whether a parameter is a size to a graph: a symbol. */
static inline bool graph_is_size(const hg_param *p) {
    return p->kind == HG_PARAM_SCALAR && (p->type == HG_TYPE_U32 || p->type == HG_TYPE_U64);
}
/* A number that whoever binds the graph gives as an array of one element. One with a default is
 * that. */
static inline bool graph_is_element(const hg_param *p) {
    return p->kind == HG_PARAM_SCALAR && !graph_is_size(p) && !p->has_default;
}
/* Whether it has whole-array instructions. */
static inline bool graph_has_steps(const graph_sections *s) {
    return s->list.count > 1 || (s->list.count && s->list.data[0].step);
}
/* "enc, line 12: gemm: " in front of a message. */
hg_status graph_refuse_at(const graph_sections *s, uint32_t inst, const char *format, ...)
    HG_PRINTF(3, 4) HG_NODISCARD;

/* ---- the program of a section (section_program.c) ---- */

/* What a lane section has of an array. */
typedef struct graph_section_array {
    uint8_t param; /* of the whole program: an array, or a number that is an array of one element to
                      a graph */
    uint32_t step; /* of a register that a whole-array instruction writes: that one; GRAPH_NOT_SET:
                      it is a parameter */
    uint8_t reg;   /* in the section's program, of what is loaded from it */
    uint8_t number; /* of its parameter in the section's program */
} graph_section_array;
typedef struct graph_section_program {
    hg_program *program; /* the caller's */
    graph_section_array arrays[HG_MAX_PARAMS];
    uint32_t array_count;
    uint8_t scalars[HG_MAX_PARAMS]; /* of each parameter: its number in the whole program, where it
                                       is a scalar */
} graph_section_program;
/* written: of each parameter the last section in front of this one that writes it, counted from 1.
 * filled: of each parameter, it has contents in front of this one. What lanes know from earlier
 * sections they work out again. */
hg_status graph_write_section(const graph_sections *s, uint32_t section, const uint32_t *written,
                              const bool *filled, graph_section_program *to) HG_NODISCARD;

#endif
