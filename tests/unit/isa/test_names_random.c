/* Random programs with names in place of numbers: every register that holds values of one type (or
 * of several, told apart) becomes a named register or an element of an array, parameters lose their
 * registers, predicates get names. The results stay the same bits.
 *
 *     test_names_random [--count N] [--seed N]
 *
 * The plain text is that of tests/differential; the numbers that names get are compared with
 * nothing but what the program then does.
 * test: labels=slow */
#include "differential/generate.h"
#include "isa/verify_internal.h"
#include "support/library.h"
#include "test.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_TOKENS = 512 };
enum { KEPT = 255, DIFFERENT = 254 };

/* Types that a program has in each register; names are given where they are exact, or one alone. */
typedef struct usage {
    uint32_t exact[256]; /* bit of hg_type */
    bool loose[256];     /* read where several types are allowed */
    bool run[256];
    bool given[256]; /* by a parameter */
} usage;

typedef struct site {
    uint8_t reg, type;
    bool predicate;
} site;

static uint64_t random_state;
static uint32_t pick(uint32_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

static void look(const hg_program *p, usage *u) {
    memset(u, 0, sizeof *u);
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *q = &p->params[i];
        u->given[q->reg] = true;
        u->exact[q->reg] |= UINT32_C(1) << (q->kind == HG_PARAM_SCALAR ? q->type : HG_TYPE_U64);
    }
    for (uint32_t i = 0; i < p->inst_count; i++) {
        static hg_accesses a;
        bool run = (hg_op_get((hg_op)p->insts[i].op)->flags & HG_F_RUN) != 0;
        hg_inst_accesses(p, i, &a);
        for (uint32_t k = 0; k < a.reads + a.writes; k++) {
            const hg_access *x = k < a.reads ? &a.read[k] : &a.write[k - a.reads];
            if (x->is_pred) continue;
            if (run && k < a.reads) u->run[x->reg] = true;
            if (x->want < HG_TYPE_COUNT)
                u->exact[x->reg] |= UINT32_C(1) << x->want;
            else
                u->loose[x->reg] = true;
        }
    }
}

static bool is_single(uint32_t set) { return set && !(set & (set - 1)); }
static bool is_named(const usage *u, uint8_t reg) {
    if (reg >= 252 || u->run[reg] || !u->exact[reg]) return false;
    return is_single(u->exact[reg]) || !u->loose[reg];
}
static uint8_t only_type(uint32_t set) {
    uint8_t type = 0;
    while (!(set & 1)) set >>= 1, type++;
    return type;
}

/* Registers of an instruction in the order of its text. */
static uint32_t sites_of(const hg_program *p, uint32_t inst, site *sites) {
    static hg_accesses a;
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    uint32_t count = 0;
    hg_inst_accesses(p, inst, &a);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        uint8_t regs[HG_MAX_TUPLE_ITEMS];
        uint32_t n = 0;
        bool predicate = row->operands[i].kind == HG_K_PRED;
        if (row->operands[i].kind == HG_K_REG || (predicate && o[i].reg != 255) ||
            (row->operands[i].kind == HG_K_COUNT && o[i].is_reg))
            regs[n++] = o[i].reg;
        if (row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY) {
            bool reg = o[i].place == HG_PLACE_FLAT || o[i].place == HG_PLACE_BUF_REG ||
                       o[i].place == HG_PLACE_POOL_REG || o[i].place == HG_PLACE_BARE;
            if (reg) regs[n++] = o[i].reg;
            if (o[i].has_index) regs[n++] = o[i].index;
        }
        for (uint32_t k = 0; k < n; k++) {
            uint8_t type = DIFFERENT;
            for (uint32_t w = 0; w < a.reads + a.writes; w++) {
                const hg_access *x = w < a.reads ? &a.read[w] : &a.write[w - a.reads];
                if (x->operand == i && x->reg == regs[k] && x->is_pred == predicate &&
                    x->want < HG_TYPE_COUNT)
                    type = x->want;
            }
            sites[count++] = (site){regs[k], type, predicate};
        }
    }
    return count;
}

static const char *param_name(const hg_program *p, uint8_t reg, uint8_t type) {
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].reg == reg &&
            (p->params[i].kind == HG_PARAM_SCALAR ? p->params[i].type : HG_TYPE_U64) == type)
            return p->params[i].name;
    return NULL;
}

static void add_name(hg_text *t, const hg_program *p, const usage *u, const site *s) {
    static const char *const special[] = {"lane", "block", "lanes", "global"};
    if (s->predicate) {
        hg_text_addf(t, "pr_%u", (unsigned)s->reg);
        return;
    }
    uint8_t type = is_single(u->exact[s->reg]) ? only_type(u->exact[s->reg]) : s->type;
    if (s->reg >= 252 && !u->given[s->reg] && pick(2))
        hg_text_addf(t, "%s", special[s->reg - 252]);
    else if (!is_named(u, s->reg) || type >= HG_TYPE_COUNT)
        hg_text_addf(t, "r%u", (unsigned)s->reg);
    else if (param_name(p, s->reg, type))
        hg_text_addf(t, "%s", param_name(p, s->reg, type));
    else if (s->reg % 3 == 0)
        hg_text_addf(t, "a_%s[%u, %u]", hg_type_name((hg_type)type), (unsigned)s->reg / 16,
                     (unsigned)s->reg % 16);
    else
        hg_text_addf(t, "v%u_%s", (unsigned)s->reg, hg_type_name((hg_type)type));
}

/* r7 or p3 as a word of its own. */
static bool is_register_at(const char *line, size_t at, size_t *length) {
    if ((line[at] != 'r' && line[at] != 'p') || !isdigit((unsigned char)line[at + 1])) return false;
    if (at && (isalnum((unsigned char)line[at - 1]) || line[at - 1] == '_' || line[at - 1] == '@'))
        return false;
    for (*length = 1; isdigit((unsigned char)line[at + *length]);) ++*length;
    return !isalnum((unsigned char)line[at + *length]) && line[at + *length] != '_';
}

static void rename_line(hg_text *t, const hg_program *p, const usage *u, uint32_t inst,
                        const char *line, size_t length) {
    site sites[MOST_TOKENS];
    uint32_t count = sites_of(p, inst, sites), next = 0;
    for (size_t i = 0; i < length;) {
        size_t word;
        if (next < count && is_register_at(line, i, &word)) {
            add_name(t, p, u, &sites[next++]);
            i += word;
        } else {
            hg_text_add(t, &line[i++], 1);
        }
    }
    CHECK_MESSAGE(next == count, "%u of %u registers found in %.*s", (unsigned)next,
                  (unsigned)count, (int)length, line);
}

static void declare(hg_text *t, const hg_program *p, const usage *u) {
    hg_text_addf(t, ".reg pr_0");
    for (unsigned i = 1; i < 16; i++) hg_text_addf(t, ", pr_%u", i);
    hg_text_addf(t, " pred\n");
    for (int type = 0; type < HG_TYPE_COUNT; type++) {
        hg_text_addf(t, ".reg a_%s[16, 16] %s\n", hg_type_name((hg_type)type),
                     hg_type_name((hg_type)type));
        for (unsigned r = 0; r < 252; r++)
            if (is_named(u, (uint8_t)r) && (u->exact[r] >> type & 1) &&
                !param_name(p, (uint8_t)r, (uint8_t)type))
                hg_text_addf(t, ".reg v%u_%s %s\n", r, hg_type_name((hg_type)type),
                             hg_type_name((hg_type)type));
    }
}

/* A .param or .scratch line without its register, where that has a name. */
static void rename_param(hg_text *t, const usage *u, const char *line, size_t length) {
    size_t at = 0, word;
    while (at < length && line[at] != ' ') at++;
    hg_text_add(t, line, at + 1);
    bool reg = at + 1 < length && is_register_at(line, at + 1, &word);
    if (reg && is_named(u, (uint8_t)atoi(line + at + 2))) at += word + 1;
    hg_text_add(t, line + at + 1, length - at - 1);
}

static char *rename_program(const hg_program *p) {
    char *plain = NULL;
    static usage u;
    hg_text t = {0};
    uint32_t inst = 0;
    bool declared = false;
    if (hg_program_print(p, &plain, NULL) != HG_OK) return NULL;
    look(p, &u);
    for (const char *line = plain; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        bool code = line[0] == ' ';
        if (!declared && line[0] != '.') declare(&t, p, &u), declared = true;
        if (code)
            rename_line(&t, p, &u, inst++, line, length);
        else if (strncmp(line, ".param", 6) == 0 || strncmp(line, ".scratch", 8) == 0)
            rename_param(&t, &u, line, length);
        else
            hg_text_add(&t, line, length);
        line += length;
    }
    hg_string_free(plain);
    return t.data;
}

/* The text of the program without its source has the names too: it is the same container. */
static void check_names_kept(const hg_program *p, uint64_t seed) {
    char *text = NULL;
    uint8_t *bytes[2] = {NULL, NULL};
    size_t length[2] = {0, 1};
    hg_program *again = NULL;
    bool good = hg_program_print(p, &text, NULL) == HG_OK &&
                hg_program_encode(p, 0, &bytes[0], &length[0]) == HG_OK &&
                hg_program_assemble(text, strlen(text), NULL, &again) == HG_OK &&
                hg_program_encode(again, 0, &bytes[1], &length[1]) == HG_OK;
    CHECK_MESSAGE(good && length[0] == length[1] && memcmp(bytes[0], bytes[1], length[0]) == 0,
                  "test_names_random --seed %" PRIu64 ": printed and assembled, it has other bytes",
                  seed);
    for (int i = 0; i < 2; i++) hg_string_free((char *)bytes[i]);
    hg_string_free(text);
    hg_program_release(again);
}

static void check_seed(library *l, uint64_t seed, uint64_t *full) {
    run_case c, plain = {0}, named = {0};
    hg_program *p = NULL, *q = NULL;
    run_result pr, nr;
    char reason[512];
    random_state = seed;
    if (!generate_case(seed, GENERATE_SHORT | (seed % 10 == 9 ? (uint32_t)GENERATE_FAULTS : 0), &c))
        return;
    if (hg_program_assemble(c.text, c.length, NULL, &p) == HG_OK) {
        char *text = rename_program(p);
        if (getenv("HG_PRINT")) printf("%s", text ? text : "");
        hg_status status = hg_program_assemble(text ? text : "", text ? strlen(text) : 0, NULL, &q);
        bool crowded = status != HG_OK &&
                       strncmp(hg_last_error()->message, "no register is left", 19) == 0;
        *full += crowded;
        CHECK_MESSAGE(crowded || (status == HG_OK && hg_program_verify(q, NULL) == HG_OK),
                      "test_names_random --seed %" PRIu64 ": %s\n%s", seed, hg_last_error_text(),
                      getenv("HG_SHOW") ? text : "");
        if (status == HG_OK) check_names_kept(q, seed);
        if (status == HG_OK && case_copy(&plain, &c) && case_copy(&named, &c)) {
            library_run(l, p, &plain, &pr);
            library_run(l, q, &named, &nr);
            CHECK_MESSAGE(case_same(&plain, &pr, &named, &nr, reason),
                          "test_names_random --seed %" PRIu64 ": %s", seed, reason);
        }
        hg_string_free(text);
    }
    case_free(&plain);
    case_free(&named);
    case_free(&c);
    hg_program_release(p);
    hg_program_release(q);
}

int main(int argc, char **argv) {
    char reason[256];
    uint64_t count = 400, seed = 1, full = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--count") == 0) count = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 0), count = 1;
    }
    library *l = library_open("cpu", "", "", reason);
    CHECK_MESSAGE(l, "%s", reason);
    for (uint64_t i = 0; l && i < count; i++) check_seed(l, seed + i, &full);
    CHECK_MESSAGE(full * 10 <= count, "%" PRIu64 " programs found no register", full);
    library_close(l);
    return test_done();
}
