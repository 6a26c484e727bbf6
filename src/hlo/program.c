/* Lane programs as texts of the language: lines, variables, blocks, loads and stores, and the calls
 * of a graph that they become. */
#include "hlo/lower.h"
#include <stdio.h>
#include <string.h>

enum { MOST_WRITTEN = 32 << 20 };

void mlir_no_memory(mlir_lower *w) {
    if (w->status == HG_OK) w->status = hg_fail_memory();
}

void mlir_refuse(mlir_lower *w, const char *format, ...) {
    static const mlir_word START = {.text = "", .line = 1, .column = 1};
    char message[300];
    va_list args;
    if (w->status != HG_OK) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const mlir_word *at = w->op ? &w->op->name : &START;
    w->status = mlir_mistake(w->d, "G01", at, "%.*s%s%s", at->length > 60 ? 60 : (int)at->length,
                             at->text, w->op ? ": " : "", message);
}

void mlir_refuse_call(mlir_lower *w, hg_status status, const char *what) {
    if (status == HG_ERROR_OUT_OF_MEMORY)
        mlir_no_memory(w);
    else if (status != HG_OK)
        mlir_refuse(w, "%s%.250s", what, hg_last_error_text());
}

void *mlir_make(mlir_lower *w, size_t bytes) {
    void *memory = hg_arena_alloc(w->arena, bytes);
    if (!memory) mlir_no_memory(w);
    return memory;
}

static const char *print(mlir_lower *w, const char *format, va_list args) {
    char buffer[1200];
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    if (length < 0 || (size_t)length >= sizeof buffer) {
        mlir_refuse(w, "an expression of more than %zu bytes", sizeof buffer);
        return "0";
    }
    const char *text = hg_arena_text(w->arena, buffer, (size_t)length);
    if (!text) mlir_no_memory(w);
    return text ? text : "0";
}

const char *mlir_text(mlir_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = print(w, format, args);
    va_end(args);
    return text;
}

static void add_line(mlir_lower *w, const char *text) {
    if (w->status != HG_OK) return;
    hg_text_addf(&w->k->body, "%*s%s\n", (int)w->k->indent * 2 + 4, "", text);
    if (w->k->body.failed) mlir_no_memory(w);
    if (w->k->body.length > 4 * HG_MAX_LINE_BYTES)
        mlir_refuse(w, "the program that it becomes is longer than %d bytes",
                    4 * HG_MAX_LINE_BYTES);
}

void mlir_line(mlir_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(w, print(w, format, args));
    va_end(args);
}

const char *mlir_let(mlir_lower *w, const char *type, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *value = print(w, format, args), *name = mlir_text(w, "v%u", (unsigned)w->names++);
    va_end(args);
    mlir_line(w, "let %s %s = %s", name, type, value);
    return name;
}

uint64_t mlir_open(mlir_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(w, mlir_text(w, "%s {", print(w, format, args)));
    va_end(args);
    w->k->indent++;
    return w->k->memo.count;
}

void mlir_close(mlir_lower *w, uint64_t known, const char *text) {
    w->k->memo.count = known;
    w->k->indent--;
    add_line(w, text);
    if (strchr(text, '{')) w->k->indent++;
}

uint64_t mlir_for(mlir_lower *w, const char **name, uint64_t extent) {
    *name = mlir_text(w, "k%u", (unsigned)w->names++);
    return mlir_open(w, "for %s in i64(0) .. %llu", *name, (unsigned long long)extent);
}

/* ---- memory ---- */

const char *mlir_type_name(const mlir_type *type) { return hg_type_name((hg_type)type->element); }

static bool is_lane(const mlir_kernel *k, const mlir_type *type, const char *const *at) {
    if (k->loops || type->rank != k->lanes.rank || !type->rank) return false;
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dims[i] != k->lanes.dims[i] || (type->dims[i] != 1 && at[i] != k->at[i]))
            return false;
    return true;
}

const char *mlir_place(mlir_lower *w, const mlir_type *type, const char *const *at) {
    const char *place = NULL;
    if (is_lane(w->k, type, at)) return "global";
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->dims[i] == 1) continue;
        place = place ? mlir_text(w, "(%s * %llu + %s)", place, (unsigned long long)type->dims[i],
                                  at[i])
                      : at[i];
    }
    return place ? place : "0";
}

void mlir_declare(mlir_lower *w, const mlir_storage *s, const char *access) {
    hg_text *head = &w->k->head;
    uint64_t count = 0;
    mlir_elements(&s->type, &count);
    hg_text_addf(head, access ? ".param a%u buffer %s " : ".scratch a%u %s ", (unsigned)s->number,
                 mlir_type_name(&s->type));
    if (!access) {
        hg_text_addf(head, "[%llu]\n", (unsigned long long)count << s->type.complex);
        return;
    }
    hg_text_addf(head, "%s [", access);
    for (uint32_t i = 0; i < s->type.rank; i++)
        hg_text_addf(head, "%s%llu", i ? ", " : "", (unsigned long long)s->type.dims[i]);
    hg_text_addf(head, s->type.complex ? "%s2]\n" : "%s]\n",
                 s->type.complex && s->type.rank ? ", " : "");
}

/* Makes it an array of the program that is being written, one of that list. NULL: no memory. */
static mlir_storage *take(mlir_lower *w, mlir_storages *list, mlir_storage *s, const char *access) {
    mlir_storage **to = s ? hg_vec_push(list) : NULL;
    if (!to) {
        mlir_no_memory(w);
        return NULL;
    }
    *to = s;
    s->program = w->programs;
    mlir_declare(w, s, access);
    return s;
}

/* The name of a storage; a value of the graph becomes a parameter of the program. */
static const char *array_name(mlir_lower *w, mlir_storage *s) {
    if (!s->local && s->program != w->programs) (void)take(w, &w->k->inputs, s, "in");
    return mlir_text(w, "a%u", (unsigned)s->number);
}

mlir_scalar mlir_load(mlir_lower *w, mlir_storage *s, const char *place) {
    const char *type = mlir_type_name(&s->type), *name = array_name(w, s);
    if (!s->type.complex) return (mlir_scalar){mlir_let(w, type, "%s[%s]", name, place), NULL};
    const char *at = mlir_let(w, "i64", "i64(%s)", place);
    mlir_scalar value = {.re = mlir_let(w, type, "%s[%s * 2]", name, at)};
    value.im = mlir_let(w, type, "%s[%s * 2 + 1]", name, at);
    return value;
}

/* The second part of a complex element. */
static const char *imaginary(mlir_lower *w, mlir_scalar value) {
    if (!value.im) mlir_refuse(w, "expected complex elements");
    return value.im ? value.im : "0";
}

void mlir_store(mlir_lower *w, mlir_storage *s, const char *place, mlir_scalar value) {
    const char *name = array_name(w, s);
    if (!s->type.complex) {
        mlir_line(w, "%s[%s] = %s", name, place, value.re);
        return;
    }
    const char *at = mlir_let(w, "i64", "i64(%s)", place);
    mlir_line(w, "%s[%s * 2] = %s", name, at, value.re);
    mlir_line(w, "%s[%s * 2 + 1] = %s", name, at, imaginary(w, value));
}

mlir_scalar mlir_variable(mlir_lower *w, const mlir_type *type, mlir_scalar value) {
    mlir_scalar v = {.re = mlir_let(w, mlir_type_name(type), "%s", value.re)};
    if (type->complex) v.im = mlir_let(w, mlir_type_name(type), "%s", imaginary(w, value));
    return v;
}

void mlir_assign(mlir_lower *w, mlir_scalar variable, mlir_scalar value) {
    mlir_line(w, "%s = %s", variable.re, value.re);
    if (variable.im) mlir_line(w, "%s = %s", variable.im, imaginary(w, value));
}

mlir_scalar mlir_zero(const mlir_type *type) {
    const char *zero = type->element == HG_TYPE_F32 || type->element == HG_TYPE_F64 ||
                               type->element == HG_TYPE_F16 || type->element == HG_TYPE_BF16
                           ? "0.0"
                           : "0";
    return (mlir_scalar){zero, zero};
}

/* The row's expression with its operands. */
const char *mlir_expand(mlir_lower *w, const char *text, const mlir_type *in, const mlir_type *out,
                        const mlir_scalar *args) {
    char buffer[600];
    size_t at = 0, width = hg_type_size_bytes((hg_type)in->element) * 8;
    for (; *text && at < sizeof buffer - 64; text++) {
        char number[8];
        const char *piece = number;
        if (*text != '$') {
            buffer[at++] = *text;
            continue;
        }
        text++;
        snprintf(number, sizeof number, "%s%zu",
                 *text == 'S'   ? "i"
                 : *text == 'U' ? "u"
                                : "",
                 width);
        if (*text >= 'a') piece = args[*text - 'a'].re;
        if (*text == 'T') piece = mlir_type_name(out);
        size_t length = strlen(piece);
        if (length > 60) length = 60;
        memcpy(buffer + at, piece, length);
        at += length;
    }
    buffer[at] = 0;
    return mlir_text(w, "%s", buffer);
}

/* ---- programs ---- */

void mlir_dims(const mlir_type *type, hg_dim *dims) {
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = hg_dim_of(type->dims[i]);
    dims[type->rank] = hg_dim_of(2);
}

mlir_storage *mlir_add_storage(mlir_lower *w, const mlir_type *type) {
    mlir_storage *s = mlir_make(w, sizeof *s);
    if (s) *s = (mlir_storage){.number = w->storages++, .type = *type};
    return s;
}

mlir_storage *mlir_scratch(mlir_lower *w, const mlir_type *type) {
    uint64_t count = 0;
    mlir_storage *s = mlir_add_storage(w, type);
    if (!s || !mlir_elements(type, &count)) return NULL;
    s->local = true;
    return take(w, &w->k->scratches, s, NULL);
}

/* An output of the program that is being written. */
mlir_storage *mlir_output(mlir_lower *w, const mlir_type *type) {
    return take(w, &w->k->outputs, mlir_add_storage(w, type), "out");
}

void mlir_begin(mlir_lower *w, mlir_kernel *k, const mlir_type *lanes) {
    *k = (mlir_kernel){.loops = lanes == NULL};
    w->k = k;
    w->programs++;
    if (!lanes) return;
    k->lanes = *lanes;
    for (uint32_t i = 0; i < lanes->rank; i++) k->at[i] = mlir_text(w, "i%u", (unsigned)i);
}

static void add_functions(hg_text *text) {
    static const struct function {
        const char *name, *text;
    } FUNCTIONS[] = {
        {"mlir_erf_inv(",
         "fn mlir_erf_inv(x f64) -> f64 {\n"
         "    if abs(x) == 1.0 {\n        return x * inf\n    }\n"
         "    let w f64 = -log((1.0 - x) * (1.0 + x))\n"
         "    let low f64 = w - 2.5\n    let high f64 = sqrt(w) - 3.0\n"
         "    let p f64 = fma(fma(fma(fma(fma(fma(fma(fma(2.81022636e-08, low, 3.43273939e-07), "
         "low, -3.5233877e-06), low, -4.39150654e-06), low, 0.00021858087), low, -0.00125372503), "
         "low, -0.00417768164), low, 0.246640727), low, 1.50140941)\n"
         "    let q f64 = fma(fma(fma(fma(fma(fma(fma(fma(-0.000200214257, high, 0.000100950558), "
         "high, 0.00134934322), high, -0.00367342844), high, 0.00573950773), high, "
         "-0.0076224613), high, 0.00943887047), high, 1.00167406), high, 2.83297682)\n"
         "    let y f64 = x * (w < 5.0 ? p : q)\n"
         "    y = y - (erf(y) - x) / (1.1283791670955126 * exp(-y * y))\n"
         "    y = y - (erf(y) - x) / (1.1283791670955126 * exp(-y * y))\n"
         "    return y\n}\n"},
        {"mlir_power(",
         "fn mlir_power[T](x T, y T) -> T {\n"
         "    if y < 0 {\n"
         "        if x == 1 || x == ~T(0) && (y & 1) == 0 {\n            return T(1)\n        }\n"
         "        return x == ~T(0) ? x : T(0)\n    }\n"
         "    let p T = 1\n    let b T = x\n    let n T = y\n"
         "    while n != 0 {\n        p = (n & 1) != 0 ? p * b : p\n        b = b * b\n"
         "        n = n >> 1\n    }\n"
         "    return p\n}\n"},
        {"mlir_lgamma(",
         "fn mlir_lgamma(x f64) -> f64 {\n"
         "    if x == floor(x) && x <= 0.0 || abs(x) == inf {\n        return inf\n    }\n"
         "    let z f64 = (x < 0.5 ? 1.0 - x : x) - 1.0\n"
         "    let s f64 = 0.99999999999980993\n"
         "    s = s + 676.5203681218851 / (z + 1.0)\n    s = s - 1259.1392167224028 / (z + 2.0)\n"
         "    s = s + 771.32342877765313 / (z + 3.0)\n    s = s - 176.61502916214059 / (z + 4.0)\n"
         "    s = s + 12.507343278686905 / (z + 5.0)\n    s = s - 0.13857109526572012 / (z + 6.0)\n"
         "    s = s + 9.9843695780195716e-6 / (z + 7.0)\n"
         "    s = s + 1.5056327351493116e-7 / (z + 8.0)\n"
         "    let t f64 = z + 7.5\n"
         "    let g f64 = 0.91893853320467274 + (z + 0.5) * log(t) - t + log(s)\n"
         "    let part f64 = x - floor(x)\n"
         "    return x < 0.5 ? log(3.141592653589793 / abs(sin(3.141592653589793 * part))) - g : "
         "g\n"
         "}\n"},
        {"mlir_digamma(",
         "fn mlir_digamma(x f64) -> f64 {\n"
         "    if x == floor(x) && x <= 0.0 {\n        return nan\n    }\n"
         "    let z f64 = x < 0.5 ? 1.0 - x : x\n    let s f64 = 0.0\n"
         "    while z < 10.0 {\n        s = s - 1.0 / z\n        z = z + 1.0\n    }\n"
         "    let r f64 = 1.0 / (z * z)\n"
         "    s = s + log(z) - 0.5 / z - r * (0.08333333333333333 - r * (0.008333333333333333 - r "
         "* "
         "(0.003968253968253968 - r * (0.004166666666666667 - r * 0.007575757575757576))))\n"
         "    return x < 0.5 ? s - 3.141592653589793 / tan(3.141592653589793 * (x - floor(x))) : "
         "s\n"
         "}\n"}};
    for (size_t i = 0; i < HG_COUNT_OF(FUNCTIONS); i++)
        if (text->data && strstr(text->data, FUNCTIONS[i].name))
            hg_text_add(text, FUNCTIONS[i].text, strlen(FUNCTIONS[i].text));
}

static void write_program(mlir_lower *w, hg_text *text) {
    mlir_kernel *k = w->k;
    hg_text_addf(text, ".atlas 1\n.program mlir_%u\n", (unsigned)w->programs);
    if (k->head.data) hg_text_add(text, k->head.data, k->head.length);
    hg_text_addf(text, k->lanes.rank ? ".lanes [" : ".lanes 1\n");
    for (uint32_t i = 0; i < k->lanes.rank; i++)
        hg_text_addf(text, "%sc%u < %llu%s", i ? ", " : "", (unsigned)i,
                     (unsigned long long)k->lanes.dims[i], i + 1 == k->lanes.rank ? "]\n" : "");
    for (uint32_t i = 0; i < k->lanes.rank; i++)
        hg_text_addf(text, "    let i%u i64 = i64(c%u)\n", (unsigned)i, (unsigned)i);
    if (k->body.data) hg_text_add(text, k->body.data, k->body.length);
    add_functions(text);
    if (text->failed) mlir_no_memory(w);
}

static void call_program(mlir_lower *w, hg_program *program) {
    mlir_kernel *k = w->k;
    hg_graph_arg *args = mlir_make(w, (size_t)(k->inputs.count + 1) * sizeof *args);
    hg_graph_made *made = mlir_make(w, (size_t)(k->outputs.count + 1) * sizeof *made);
    if (!args || !made) return;
    for (uint64_t i = 0; i < k->inputs.count; i++)
        args[i] = (hg_graph_arg){.name = mlir_text(w, "a%u", (unsigned)k->inputs.data[i]->number),
                                 .kind = HG_GRAPH_ARRAY,
                                 .value = k->inputs.data[i]->value};
    for (uint64_t i = 0; i < k->outputs.count; i++)
        made[i].operand = mlir_text(w, "a%u", (unsigned)k->outputs.data[i]->number);
    if (w->status != HG_OK) return;
    hg_status status = hg_graph_call_program(w->g, program, args, (uint32_t)k->inputs.count, made,
                                             (uint32_t)k->outputs.count);
    mlir_refuse_call(w, status, "");
    for (uint64_t i = 0; i < k->outputs.count; i++) k->outputs.data[i]->value = made[i].value;
}

void mlir_finish(mlir_lower *w) {
    mlir_kernel *k = w->k;
    hg_text text = {0};
    hg_program *program = NULL;
    if (w->status == HG_OK) write_program(w, &text);
    if ((w->written += text.length) > MOST_WRITTEN)
        mlir_refuse(w, "the programs that the module becomes are longer than %d bytes",
                    MOST_WRITTEN);
    if (w->status == HG_OK && k->outputs.count) {
        hg_status status = hg_program_assemble(text.data, text.length, NULL, &program);
        mlir_refuse_call(w, status, "");
        if (w->status == HG_OK) call_program(w, program);
        hg_program_release(program);
    }
    hg_text_free(&text);
    hg_text_free(&k->head);
    hg_text_free(&k->body);
    hg_vec_free(&k->memo);
    hg_vec_free(&k->inputs);
    hg_vec_free(&k->outputs);
    hg_vec_free(&k->scratches);
    w->k = NULL;
}
