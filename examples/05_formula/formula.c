/* A compiler of a small language in a hundred lines: formulas in reverse Polish notation, through
 * hologram/tree.h. Usage: formula "x x * 0.5 * x sin +" [NUMBER OF ELEMENTS] */
#include <hologram/hologram.h>
#include <hologram/tree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64, MOST_WORD = 32 };

typedef struct compiler {
    hg_tree *tree;
    hg_variable x, i;
    hg_expression values[MOST_VALUES]; /* what waits for its operator */
    int count;
    uint32_t column; /* of the word at work */
} compiler;

static const struct {
    const char *word;
    hg_tree_operator op;
} OPERATORS[] = {{"+", HG_TREE_ADD}, {"-", HG_TREE_SUB}, {"*", HG_TREE_MUL}, {"/", HG_TREE_DIV}};

/* Takes `n` values off the stack; 0: there are no so many. */
static hg_expression *take(compiler *c, int n) {
    if (c->count < n) return NULL;
    c->count -= n;
    return &c->values[c->count];
}

/* The value of a word. An instruction of the table is a function of what waits: sin, max, fma. */
static hg_expression value_of(compiler *c, const char *word) {
    char *end;
    double number = strtod(word, &end);
    if (!*end) return hg_tree_real(c->tree, number);
    if (strcmp(word, "x") == 0) return hg_tree_read(c->tree, c->x);
    if (strcmp(word, "i") == 0)
        return hg_tree_cast(c->tree, HG_TYPE_F32, hg_tree_read(c->tree, c->i));
    for (size_t k = 0; k < sizeof OPERATORS / sizeof *OPERATORS; k++) {
        if (strcmp(word, OPERATORS[k].word) != 0) continue;
        hg_expression *v = take(c, 2);
        return v ? hg_tree_operate(c->tree, OPERATORS[k].op, v[0], v[1]) : 0;
    }
    uint32_t wanted = strcmp(word, "fma") == 0                               ? 3
                      : strcmp(word, "min") == 0 || strcmp(word, "max") == 0 ? 2
                                                                             : 1;
    hg_expression *v = take(c, (int)wanted);
    return v ? hg_tree_apply(c->tree, word, v, wanted) : 0;
}

/* Word by word, each with its place in the formula. False: values are missing or left. */
static bool compile(compiler *c, const char *formula) {
    char word[MOST_WORD];
    int length = 0;
    for (const char *at = formula; sscanf(at, " %31s%n", word, &length) == 1; at += length) {
        c->column = (uint32_t)(at + length - formula) - (uint32_t)strlen(word) + 1;
        hg_tree_place(c->tree, 1, c->column, word);
        if (c->count == MOST_VALUES) return false;
        hg_expression made = value_of(c, word);
        if (!made) return false;
        c->values[c->count++] = made;
    }
    return c->count == 1;
}

/* y[i] = formula of x[i], in every lane. */
static hg_program *make(const char *formula, hg_diagnostics *messages) {
    hg_program *program = NULL;
    hg_dim n = hg_dim_param("n");
    compiler c = {.tree = hg_tree_create("formula", messages)};
    hg_elements x = hg_tree_param_buffer(c.tree, "x", HG_TYPE_F32, HG_PARAM_IN, &n, 1),
                y = hg_tree_param_buffer(c.tree, "y", HG_TYPE_F32, HG_PARAM_OUT, &n, 1);
    hg_tree_param_scalar(c.tree, "n", HG_TYPE_U64);
    hg_tree_lanes(c.tree, &n, 1);
    c.i = hg_tree_let(c.tree, "i", hg_tree_lane_id(c.tree, "global"));
    hg_expression place = hg_tree_read(c.tree, c.i);
    c.x = hg_tree_let(c.tree, "x_i", hg_tree_element_of(c.tree, x, &place, 1));
    if (compile(&c, formula)) {
        hg_expression i = hg_tree_read(c.tree, c.i);
        hg_tree_store_element(c.tree, hg_tree_element_of(c.tree, y, &i, 1), c.values[0]);
        if (hg_tree_build(c.tree, &program) != HG_OK) program = NULL;
    } else if (!hg_diagnostics_errors(messages)) {
        fprintf(stderr, "1:%u: %d values are there\n", (unsigned)c.column, c.count);
    }
    for (size_t k = 0; k < hg_diagnostics_errors(messages); k++) {
        const hg_diagnostic *d = hg_diagnostics_get(messages, k);
        fprintf(stderr, "%u:%u: %s\n", (unsigned)d->line, (unsigned)d->column, d->message);
    }
    hg_tree_destroy(c.tree);
    return program;
}

/* Runs it on 0, 1, 2, …. */
static hg_status run(const hg_program *program, uint64_t n) {
    float *values = calloc((size_t)n, sizeof *values);
    hg_backend *backend = NULL;
    hg_typed_buffer x, y;
    hg_params *params = hg_params_create();
    if (!values || !params) return HG_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < n; i++) values[i] = (float)i;
    hg_status status = hg_backend_create("cpu", 0, &backend);
    if (status == HG_OK) status = hg_allocate_typed(backend, HG_TYPE_F32, n, &x);
    if (status == HG_OK) status = hg_allocate_typed(backend, HG_TYPE_F32, n, &y);
    if (status == HG_OK) status = hg_copy_to(backend, x, values, n);
    if (status == HG_OK) status = hg_params_set_buffer(params, "x", x.buffer);
    if (status == HG_OK) status = hg_params_set_buffer(params, "y", y.buffer);
    if (status == HG_OK)
        status = hg_backend_execute_program_with_params(backend, program, NULL, params);
    if (status == HG_OK) status = hg_copy_from(backend, y, values, n);
    for (uint64_t i = 0; i < n && status == HG_OK; i++) printf("%g\n", (double)values[i]);
    hg_params_destroy(params);
    hg_backend_destroy(backend);
    free(values);
    return status;
}

int main(int argc, char **argv) {
    hg_diagnostics *messages = hg_diagnostics_create(0);
    hg_program *program = make(argc > 1 ? argv[1] : "x x * 0.5 * x sin +", messages);
    char *text = NULL;
    int failed = !program || hg_program_print_structured(program, &text, NULL) != HG_OK;
    if (!failed) printf("%s", text);
    if (!failed) failed = run(program, argc > 2 ? strtoull(argv[2], NULL, 10) : 4) != HG_OK;
    if (failed && program) fprintf(stderr, "%s\n", hg_last_error_text());
    hg_string_free(text);
    hg_program_release(program);
    hg_diagnostics_destroy(messages);
    return failed;
}
