/* Systems of equations with a triangle, and the triangle of a matrix, as loops of one lane. */
#include "hlo/axes.h"
#include "hlo/operations.h"
#include <string.h>

typedef struct matrix {
    const char *at[MLIR_MAX_RANK]; /* of the batch; the last two are a row and a column */
    uint32_t rank;
} matrix;

static const char *const *place(matrix *m, const char *row, const char *column) {
    m->at[m->rank - 2] = row;
    m->at[m->rank - 1] = column;
    return m->at;
}

/* a - b c, with c or its conjugate. */
static mlir_scalar less_product(mlir_lower *w, const mlir_type *type, mlir_scalar a, mlir_scalar b,
                                mlir_scalar c) {
    const char *name = mlir_type_name(type);
    if (!type->complex)
        return (mlir_scalar){mlir_let(w, name, "%s - %s * %s", a.re, b.re, c.re), NULL};
    mlir_scalar p = mlir_complex_product(w, name, b, c);
    return (mlir_scalar){mlir_let(w, name, "%s - %s", a.re, p.re),
                         mlir_let(w, name, "%s - %s", a.im, p.im)};
}

static mlir_scalar over(mlir_lower *w, const mlir_type *type, mlir_scalar a, mlir_scalar b) {
    const mlir_scalar both[2] = {a, b};
    if (type->complex) return mlir_map_complex(w, "stablehlo.divide", type, both);
    return (mlir_scalar){mlir_let(w, mlir_type_name(type), "%s / %s", a.re, b.re), NULL};
}

static mlir_scalar conjugate(mlir_lower *w, const mlir_type *type, mlir_scalar a, bool wanted) {
    if (!type->complex || !wanted) return a;
    return (mlir_scalar){a.re, mlir_let(w, mlir_type_name(type), "-%s", a.im)};
}

static bool is_square(const mlir_type *t) {
    return t->rank >= 2 && t->dims[t->rank - 1] == t->dims[t->rank - 2];
}

static bool is_float(const mlir_type *type) { return strchr("fb", *mlir_type_name(type)) != NULL; }

static bool same_batch(const mlir_type *a, const mlir_type *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, (a->rank - 2u) * sizeof *a->dims);
}

/* What stands in front of the element in its row or column is known; the rest of the matrix with
 * turned axes where `turned`. */
typedef struct solve {
    bool left, rises, turned, unit, conjugates;
    uint64_t n, lines;
} solve;

static bool solve_of(mlir_lower *w, const mlir_op *op, const mlir_type *a, const mlir_type *b,
                     solve *s) {
    static const char *const HOW[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
    const mlir_attribute *how = mlir_attribute_of(op, "transpose_a", 0);
    int kind = how ? -1 : 0;
    for (int i = 0; i < 3 && how; i++)
        if (mlir_is(&how->word, HOW[i])) kind = i;
    s->left = mlir_item(op, "left_side", 0, 0, 0) != 0;
    s->unit = mlir_item(op, "unit_diagonal", 0, 0, 0) != 0;
    s->conjugates = kind == 2;
    s->turned = (kind > 0) == s->left; /* X A = B is A^T X^T = B^T */
    s->rises = (mlir_item(op, "lower", 0, 0, 0) != 0) != s->turned;
    if (!mlir_expect(w,
                     kind >= 0 && is_square(a) && same_batch(a, b) && is_float(a) &&
                         a->element == b->element && a->complex == b->complex &&
                         op->result_count == 1 && mlir_same_type(b, &op->types[0]),
                     "square matrices of floats, as many right sides, and how they are read"))
        return false;
    s->n = a->dims[a->rank - 1];
    s->lines = b->dims[b->rank - (s->left ? 1u : 2u)];
    return mlir_expect(w, b->dims[b->rank - (s->left ? 2u : 1u)] == s->n,
                       "a right side of the matrix's size");
}

static void triangular_solve(mlir_lower *w, const mlir_op *op) {
    mlir_tensor *a = mlir_operand(w, op, 0), *b = mlir_operand(w, op, 1);
    solve s;
    mlir_nest nest;
    if (w->status != HG_OK || !solve_of(w, op, &a->type, &b->type, &s)) return;
    const mlir_type *type = &op->types[0];
    mlir_type batch = *type;
    mlir_storage *out = mlir_scratch(w, type);
    matrix m = {.rank = type->rank};
    const char *line, *k, *p, *last = mlir_text(w, "%lld", (long long)s.n - 1);
    mlir_copy(w, out, b);
    if (w->status != HG_OK) return;
    batch.dims[batch.rank - 1] = batch.dims[batch.rank - 2] = 1;
    mlir_open_nest(w, &batch, &nest);
    memcpy(m.at, nest.at, sizeof m.at);
    uint64_t lines = mlir_for(w, &line, s.lines), rows = mlir_for(w, &k, s.n);
    const char *row = s.rises ? k : mlir_let(w, "i64", "%s - %s", last, k);
    const char *at = mlir_let(
        w, "i64", "%s", mlir_place(w, type, s.left ? place(&m, row, line) : place(&m, line, row)));
    mlir_scalar sum = mlir_variable(w, type, mlir_load(w, out, at));
    p = mlir_text(w, "k%u", (unsigned)w->names++);
    uint64_t known = mlir_open(w, "for %s in i64(0) .. %s", p, k);
    const char *column = s.rises ? p : mlir_let(w, "i64", "%s - %s", last, p);
    mlir_scalar e = mlir_element(w, a, s.turned ? place(&m, column, row) : place(&m, row, column));
    const char *from = mlir_let(
        w, "i64", "%s",
        mlir_place(w, type, s.left ? place(&m, column, line) : place(&m, line, column)));
    mlir_assign(
        w, sum,
        less_product(w, type, sum, mlir_load(w, out, from), conjugate(w, type, e, s.conjugates)));
    mlir_close(w, known, "}");
    if (!s.unit) {
        e = conjugate(w, type, mlir_element(w, a, place(&m, row, row)), s.conjugates);
        mlir_assign(w, sum, over(w, type, sum, e));
    }
    mlir_store(w, out, at, sum);
    mlir_close(w, rows, "}");
    mlir_close(w, lines, "}");
    mlir_close_nest(w, &nest);
    mlir_bind(w, op->results, mlir_stored(w, type, out));
}

void mlir_apply_triangular_solve(mlir_lower *w, const mlir_op *op) {
    mlir_in_loops(w, op, triangular_solve);
}

/* L of L L^H, or U of U^H U: rows of L from the first on, each from its first element on. Above the
 * diagonal there is 0. */
static void cholesky(mlir_lower *w, const mlir_op *op) {
    mlir_tensor *a = mlir_operand(w, op, 0);
    bool lower = mlir_item(op, "lower", 0, 0, 0) != 0;
    mlir_nest nest;
    if (w->status != HG_OK ||
        !mlir_expect(w,
                     is_square(&a->type) && is_float(&a->type) && op->result_count == 1 &&
                         mlir_same_type(&a->type, &op->types[0]),
                     "square matrices of floats"))
        return;
    const mlir_type *type = &op->types[0];
    mlir_type batch = *type;
    mlir_storage *out = mlir_scratch(w, type);
    matrix m = {.rank = type->rank};
    const char *row, *column, *p, *name = mlir_type_name(type);
    uint64_t n = type->dims[type->rank - 1];
    if (!out) return;
    batch.dims[batch.rank - 1] = batch.dims[batch.rank - 2] = 1;
    mlir_open_nest(w, &batch, &nest);
    memcpy(m.at, nest.at, sizeof m.at);
    uint64_t rows = mlir_for(w, &row, n), columns = mlir_for(w, &column, n);
#define PLACE(i, j) mlir_place(w, type, lower ? place(&m, i, j) : place(&m, j, i))
    const char *at = mlir_let(w, "i64", "%s", PLACE(row, column));
    uint64_t known = mlir_open(w, "if %s > %s", column, row);
    mlir_store(w, out, at, mlir_zero(type));
    mlir_close(w, known, "} else {");
    mlir_scalar sum = mlir_variable(
        w, type, mlir_element(w, a, lower ? place(&m, row, column) : place(&m, column, row)));
    p = mlir_text(w, "k%u", (unsigned)w->names++);
    uint64_t inner = mlir_open(w, "for %s in i64(0) .. %s", p, column);
    const char *x = mlir_let(w, "i64", "%s", PLACE(row, p)),
               *y = mlir_let(w, "i64", "%s", PLACE(column, p));
    mlir_assign(w, sum,
                less_product(w, type, sum, mlir_load(w, out, x),
                             conjugate(w, type, mlir_load(w, out, y), true)));
    mlir_close(w, inner, "}");
    uint64_t diagonal = mlir_open(w, "if %s == %s", column, row);
    mlir_store(w, out, at, (mlir_scalar){mlir_let(w, name, "sqrt(%s)", sum.re), "0.0"});
    mlir_close(w, diagonal, "} else {");
    const char *end = mlir_let(w, "i64", "%s", PLACE(column, column));
    mlir_store(w, out, at, over(w, type, sum, mlir_load(w, out, end)));
    mlir_close(w, diagonal, "}");
    mlir_close(w, known, "}");
#undef PLACE
    mlir_close(w, columns, "}");
    mlir_close(w, rows, "}");
    mlir_close_nest(w, &nest);
    mlir_bind(w, op->results, mlir_stored(w, type, out));
}

void mlir_apply_cholesky(mlir_lower *w, const mlir_op *op) { mlir_in_loops(w, op, cholesky); }
