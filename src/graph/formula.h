/* Programs that are formulas, as parts of longer ones (formula.c).
 * Must not know: graphs, which programs there are. */
#ifndef HG_GRAPH_FORMULA_H
#define HG_GRAPH_FORMULA_H

#include "isa/program.h"
#include <hologram/builder.h>

enum {
    GRAPH_FORMULA_PARAMS = 32,
    GRAPH_FORMULA_CODE = 512 /* instructions of a lane's own code, at most */
};

/* What an instruction of a lane's own code does that is done otherwise in a longer program. */
enum {
    GRAPH_FORMULA_COUNTS = 1, /* gives the lane's number, as an index of all elements */
    GRAPH_FORMULA_STORES,     /* stores the lane's own element */
    GRAPH_FORMULA_LOADS       /* and so on by parameters: loads the lane's own element */
};

/* Each lane stores one element, its own, of one array, and nothing else, and can fault only where
 * it reads elements that are not its own. */
typedef struct graph_formula {
    uint8_t result;    /* parameter */
    uint8_t registers; /* it has none from here on, but the lane's number */
    uint32_t loads;    /* a bit for each parameter: it reads nothing but the lane's own element */
    uint32_t end;      /* of the lane's own code; functions stand behind the exit there */
    uint8_t does[GRAPH_FORMULA_CODE];
} graph_formula;
/* Of a verified program. False: it is no formula. */
bool graph_find_formula(const hg_program *p, graph_formula *f);

/* Where it goes in a longer program. */
typedef struct graph_formula_part {
    const hg_program *program;
    const graph_formula *formula;
    uint32_t loads;                   /* those of formula->loads whose element is in a register */
    uint8_t first;                    /* its registers begin there; scalars have been set */
    uint8_t lane;                     /* register of the lane's number */
    uint8_t of[GRAPH_FORMULA_PARAMS]; /* of the result the element's register; of other arrays that
                                         of the element where it is loaded, else the handle's */
    hg_label *labels;                 /* of instructions; hg_free */
} graph_formula_part;
/* Labels for what the program jumps to and calls. */
hg_status graph_formula_open(hg_builder *b, const hg_program *p, hg_label **labels) HG_NODISCARD;
/* The lane's own code; goes on behind it. */
void graph_formula_write(hg_builder *b, const graph_formula_part *to);
/* Its functions: behind the longer program's exit. */
void graph_formula_write_functions(hg_builder *b, const graph_formula_part *to);

#endif
