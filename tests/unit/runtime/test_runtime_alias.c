/* test: labels=slow timeout=600
 * Memory that several slots of a kernel name: random loads and stores through buffers that are
 * distinct, the same, imported twice or overlap in part, on every device that is there, against
 * arrays on the host. One executable is bound to all of them in turn, so that code for distinct
 * slots must not be used again where they overlap. */
#include "runtime/binding.h"
#include "runtime/memory.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"

enum {
    SHIFT = 4096,
    BYTES = 3 * SHIFT,
    WORDS = BYTES / 4,
    SLOTS = 3,
    STEPS = 60,
    LOADED = 12,
    PLACES = 6,
    LANE_WORDS = PLACES,
    MANY_LANES = 100
};

static uint64_t seed;
static uint32_t chance(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

/* ---- programs ---- */

typedef struct step {
    enum { LOAD, STORE, ADD } kind;
    uint32_t slot, word, reg, from;
} step;

typedef struct example {
    step steps[STEPS];
    uint32_t slots; /* of steps; the one after SLOTS is class memory */
    uint32_t lanes; /* each has words of its own, LANE_WORDS apart */
    bool loops;     /* all of it three times */
    bool open;      /* the first slot's handle is computed */
} example;

/* Words that are one and the same where a buffer begins SHIFT bytes later than another. */
static uint32_t any_word(void) { return chance(2) * SHIFT / 4 + chance(PLACES); }

static void make_example(example *x, uint64_t number) {
    seed = number * 77 + 5;
    for (int i = 0; i < 8; i++) (void)chance(2);
    *x = (example){.slots = SLOTS + (number % 3 == 2),
                   .loops = number & 1,
                   .lanes = number & 2 ? MANY_LANES : 1,
                   .open = number % 5 == 4};
    for (uint32_t i = 0; i < STEPS; i++)
        x->steps[i] = (step){.kind = chance(3),
                             .slot = chance(x->slots),
                             .word = any_word(),
                             .reg = chance(LOADED),
                             .from = chance(LOADED)};
}

static void add_step(hg_text *t, const step *s, bool open) {
    static const char *const NAMES[] = {"buf(r1)", "buf(r2)", "buf(r3)", "class7"};
    const char *name = open && s->slot == 0 ? "buf(r5)" : NAMES[s->slot];
    unsigned reg = 10 + s->reg, at = 4 * s->word;
    if (s->kind == LOAD) hg_text_addf(t, " ldg.u32 r%u, [%s + r0 + %u]\n", reg, name, at);
    if (s->kind == STORE) hg_text_addf(t, " stg.u32 [%s + r0 + %u], r%u\n", name, at, reg);
    if (s->kind == ADD) hg_text_addf(t, " add.u32 r%u, r%u, r%u\n", reg, reg, 10 + s->from);
}

static hg_program *program_of(const example *x) {
    hg_text t = {0};
    hg_text_addf(&t,
                 PROGRAM(".param r1 x buffer u32 inout\n.param r2 y buffer u32 inout\n.param r3 z "
                         "buffer u32 inout\n%s"),
                 x->open ? ".param r4 h u64\n" : "");
    for (unsigned i = 0; i < LOADED; i++)
        hg_text_addf(&t, " mov_imm.u32 r%u, %u\n", 10 + i, 1000 * i + 7);
    hg_text_addf(&t, " mov_imm.u64 r50, %u\n mul.u64 r0, r255, r50\n", 4 * LANE_WORDS);
    /* a handle that nobody knows beforehand */
    if (x->open)
        hg_text_addf(&t,
                     " mov_imm.u64 r51, 10000\n div.u64 r51, r255, r51\n add.u64 r5, r4, r51\n");
    if (x->loops)
        hg_text_addf(&t, " mov_imm.u32 r30, 0\n mov_imm.u32 r31, 1\n mov_imm.u32 r32, 3\nagain:\n");
    for (uint32_t i = 0; i < STEPS; i++) add_step(&t, &x->steps[i], x->open);
    if (x->loops)
        hg_text_addf(&t, " add.u32 r30, r30, r31\n setltu.u32 p0, r30, r32\n bra.p0 @again\n");
    hg_text_addf(&t, " exit\n");
    hg_program *p = assemble(t.data);
    hg_text_free(&t);
    return p;
}

static void run_lane(const example *x, uint32_t *const memory[], uint32_t lane) {
    uint32_t r[LOADED];
    for (uint32_t i = 0; i < LOADED; i++) r[i] = 1000 * i + 7;
    for (int round = 0; round < (x->loops ? 3 : 1); round++)
        for (uint32_t i = 0; i < STEPS; i++) {
            const step *s = &x->steps[i];
            uint32_t *word = &memory[s->slot][lane * LANE_WORDS + s->word];
            if (s->kind == LOAD) r[s->reg] = *word;
            if (s->kind == STORE) *word = r[s->reg];
            if (s->kind == ADD) r[s->reg] += r[s->from];
        }
}

/* ---- memory ---- */

enum { APART_X, APART_Y, APART_Z, CLASS_BUFFER, WHOLE, AGAIN, LATER, BUFFERS };
static const struct {
    const char *name;
    uint8_t slots[SLOTS];
    uint64_t distinct; /* of kernels that write through each slot, by bit */
} WAYS[] = {
    {"distinct", {APART_X, APART_Y, APART_Z}, 7},
    {"two identical", {APART_X, APART_X, APART_Z}, 4},
    {"distinct again", {APART_X, APART_Y, APART_Z}, 7},
    {"all identical", {APART_Y, APART_Y, APART_Y}, 0},
    {"a class", {APART_X, CLASS_BUFFER, APART_Z}, 7},
    {"a class twice", {CLASS_BUFFER, APART_Y, CLASS_BUFFER}, 2},
    {"imported twice", {WHOLE, AGAIN, APART_Z}, 4},
    {"an import and another buffer", {WHOLE, APART_Y, APART_Z}, 7},
    {"overlapping imports", {APART_X, WHOLE, LATER}, 1},
    {"overlapping imports, the other way", {LATER, WHOLE, AGAIN}, 0},
};

/* Bytes of the device, or what they must be: memories of their own, class 7, and what WHOLE, AGAIN
 * and LATER have in common. */
typedef struct contents {
    uint32_t apart[CLASS_BUFFER + 1][WORDS], imported[WORDS + SHIFT / 4];
} contents;

static uint32_t *words_of(contents *c, uint8_t buffer) {
    return buffer <= CLASS_BUFFER ? c->apart[buffer]
                                  : c->imported + (buffer == LATER ? SHIFT / 4 : 0);
}

static _Alignas(4096) contents host; /* lent to devices that import */

typedef struct memories {
    hg_buffer buffers[BUFFERS];
    uint8_t count; /* without imports where the device has none */
} memories;

static void make_memories(hg_backend *b, memories *m) {
    *m = (memories){.count = CLASS_BUFFER + 1};
    for (int i = 0; i <= APART_Z; i++) m->buffers[i] = make_buffer(b, NULL, BYTES);
    m->buffers[CLASS_BUFFER].handle = UINT64_MAX - (HG_MAX_CLASSES - 1) + 7;
    if (hg_buffer_import(b, host.imported, BYTES, &m->buffers[WHOLE]) != HG_OK) return;
    CHECK_OK(hg_buffer_import(b, host.imported, BYTES, &m->buffers[AGAIN]));
    m->count = LATER;
    if (hg_buffer_import(b, host.imported + SHIFT / 4, BYTES, &m->buffers[LATER]) !=
        HG_OK) { /* CUDA
                    pins
                    no
                    page
                    twice
                  */
        CHECK_TEXT(b->driver->name, "cuda");
        return;
    }
    m->count = BUFFERS;
    hg_range whole = hg_buffer_range(b, NULL, m->buffers[WHOLE].handle),
             later = hg_buffer_range(b, NULL, m->buffers[LATER].handle);
    hg_touch x = hg_touch_of(b, &whole, true), y = hg_touch_of(b, &later, true); /* the order of
                                                                                    runs sees that
                                                                                    they overlap */
    CHECK(x.arena == y.arena && y.start - x.start == SHIFT);
}

static void free_memories(hg_backend *b, const memories *m) {
    for (int i = 0; i < m->count; i++)
        if (i != CLASS_BUFFER) CHECK_OK(hg_backend_free_buffer(b, m->buffers[i]));
}

static void fill(hg_backend *b, const memories *m) {
    uint32_t *words = (uint32_t *)&host;
    for (size_t i = 0; i < sizeof host / sizeof *words; i++) words[i] = chance(UINT32_MAX);
    for (uint8_t i = 0; i < m->count; i++)
        CHECK_OK(hg_buffer_write(b, m->buffers[i], 0, words_of(&host, i), BYTES));
}

static void compare(const char *what, hg_backend *b, const memories *m, contents *expected,
                    size_t way) {
    static uint32_t got[WORDS];
    for (uint8_t i = 0; i < m->count; i++) {
        CHECK_OK(hg_buffer_read(b, m->buffers[i], 0, got, BYTES));
        uint32_t at = 0;
        while (at < WORDS && got[at] == words_of(expected, i)[at]) at++;
        CHECK_MESSAGE(at == WORDS, "%s, %s: word %u of buffer %d is %u, expected %u", what,
                      WAYS[way].name, (unsigned)at, (int)i, (unsigned)got[at % WORDS],
                      (unsigned)words_of(expected, i)[at % WORDS]);
    }
}

/* ---- launches ---- */

/* Slots share a binding where they share an arena, and nowhere else; what the device gets is each
 * arena once. */
static void check_bindings(const char *what, const hg_submission *d, size_t way) {
    const kir_device_layout *layout = &d->code->layout;
    CHECK_U64(layout->bindings.count, d->code->slot_count);
    CHECK_U64(d->command.slot_count, layout->binding_count);
    for (uint32_t i = 0; i < d->code->slot_count && layout->bindings.count; i++) {
        CHECK(d->command.slots[kir_device_binding(layout, i)].arena == d->slots[i].arena);
        for (uint32_t k = 0; k < i; k++) {
            bool same = kir_device_binding(layout, i) == kir_device_binding(layout, k);
            CHECK_MESSAGE(same == (d->slots[i].arena == d->slots[k].arena),
                          "%s, %s: slots %u and %u", what, WAYS[way].name, (unsigned)k,
                          (unsigned)i);
        }
    }
}

/* Whether the code that ran was made for what the slots are. */
static void check_code(const char *what, const hg_binding *binding, const example *x, size_t way) {
    const hg_kernel *kernel = &binding->executable->kernels[0];
    const hg_code_set *set = kernel->code;
    const hg_code *code = binding->kernels[0].dispatch.code;
    bool with_class = set->memory.uses_class &&
                      (WAYS[way].slots[0] == CLASS_BUFFER || WAYS[way].slots[1] == CLASS_BUFFER);
    if (code && set->caps->compiler.target.bind_arenas)
        check_bindings(what, &binding->kernels[0].dispatch, way);
    if (!code || set->caps->compiler.target.bind_arenas ||
        (set->caps->compiler.target.addressed && !code->key.bound))
        return;
    uint64_t expected = 0;
    if ((!x->open && set->memory.written_slots != 7) || with_class) return;
    for (uint32_t i = 0; i < kernel->slot_count && !x->open; i++) /* slots are in the order of their
                                                                     first use */
        expected |= (WAYS[way].distinct >> (kernel->inputs[kernel->slots[i].input].reg - 1u) & 1)
                    << i;
    CHECK_MESSAGE(code->key.distinct == expected, "%s, %s: code for %" PRIu64 ", expected %" PRIu64,
                  what, WAYS[way].name, code->key.distinct, expected);
}

static void run_way(const char *what, hg_backend *b, const memories *m, hg_executable *e,
                    const example *x, size_t way) {
    static const char *const NAMES[] = {"x", "y", "z"};
    static contents expected;
    uint32_t *memory[SLOTS + 1];
    hg_params *params = hg_params_create();
    hg_binding *binding = NULL;
    fill(b, m);
    expected = host;
    for (int i = 0; i < SLOTS; i++) {
        CHECK_OK(hg_params_set_buffer(params, NAMES[i], m->buffers[WAYS[way].slots[i]]));
        memory[i] = words_of(&expected, WAYS[way].slots[i]);
    }
    memory[SLOTS] = words_of(&expected, CLASS_BUFFER);
    if (x->open)
        CHECK_OK(
            hg_params_set_scalar(params, "h", HG_TYPE_U64, &m->buffers[WAYS[way].slots[0]].handle));
    hg_launch launch = hg_launch_linear(x->lanes);
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    if (binding) {
        CHECK_OK(hg_binding_launch(binding));
        check_code(what, binding, x, way);
        for (uint32_t lane = 0; lane < x->lanes; lane++) run_lane(x, memory, lane);
        compare(what, b, m, &expected, way);
    }
    hg_binding_destroy(binding);
    hg_params_destroy(params);
}

static bool every; /* --all */

/* Five have everything once; drivers compile each of them for every way that slots overlap. */
static void run_examples(const char *device, hg_backend *b) {
    bool few = SANITIZED || (!every && strcmp(b->driver->name, "cpu") != 0);
    const uint64_t examples = few ? 5 : 9;
    memories m;
    make_memories(b, &m);
    for (uint64_t number = 0; number < examples; number++) {
        example x;
        char what[192];
        hg_executable *e = NULL;
        make_example(&x, number);
        snprintf(what, sizeof what, "%s, program %" PRIu64, device, number);
        hg_program *p = program_of(&x);
        CHECK_OK(hg_executable_create(b, p, &e));
        for (size_t way = 0; way < HG_COUNT_OF(WAYS) && e; way++) {
            bool there = true;
            for (int i = 0; i < SLOTS; i++) there = there && WAYS[way].slots[i] < m.count;
            if (there) run_way(what, b, &m, e, &x, way);
        }
        hg_executable_destroy(e);
        hg_program_release(p);
    }
    free_memories(b, &m);
}

/* ---- what a launch of so many slots says, of which i and j share bytes ---- */

static uint64_t distinct_of(uint32_t slots, uint32_t i, uint32_t j, uint64_t written) {
    enum { MOST = 70 };
    static uint8_t aliases[MOST * MOST];
    static hg_range ranges[MOST];
    const hg_code_set set = {.memory.read_slots = UINT64_MAX, .memory.written_slots = written};
    const hg_driver_launch launch = {.slots = ranges, .slot_count = slots, .aliases = aliases};
    memset(aliases, HG_ALIAS_DISTINCT, sizeof aliases);
    if (j) aliases[hg_alias_pair(i, j)] = HG_ALIAS_OVERLAPPING;
    return hg_alias_distinct(&set, &launch);
}

static void test_rules(void) {
    CHECK_U64(distinct_of(3, 0, 0, UINT64_MAX), 7);
    CHECK_U64(distinct_of(3, 0, 2, UINT64_MAX), 2);
    CHECK_U64(distinct_of(3, 0, 2, 2), 7); /* both are only read */
    CHECK_U64(distinct_of(3, 0, 2, 1), 2);
    CHECK_U64(distinct_of(8, 1, 2, UINT64_MAX), 0xF9);
    CHECK_U64(distinct_of(9, 0, 0, UINT64_MAX), 0x1FF);
    CHECK_U64(distinct_of(9, 1, 2, UINT64_MAX), 0); /* many slots: all or none */
    CHECK_U64(distinct_of(70, 0, 0, UINT64_MAX), UINT64_MAX);
    CHECK_U64(distinct_of(70, 3, 69, 0), 0); /* of slots beyond the 64th nothing is known */
    const hg_code_set open = {.memory.has_open = true};
    const hg_driver_launch launch = {.slot_count = 1};
    CHECK_U64(hg_alias_distinct(&open, &launch), 0);
}

static void run_device(const hg_device_info *device, const char *pretend) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    char name[128];
    memcpy(config.backend, device->backend, sizeof config.backend);
    config.device_id = device->device;
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    snprintf(name, sizeof name, "%s %u %s", device->backend, (unsigned)device->device, pretend);
    if (b) run_examples(name, b);
    hg_backend_destroy(b);
}

/* test_runtime_alias [--all] [BACKEND [PRETEND]] */
int main(int argc, char **argv) {
    static const struct {
        const char *backend, *pretend;
    } RUNS[] = {{"cpu", ""},
                {"cpu", "narrow"},
                {"opencl", ""},
                {"opencl", "bind-arenas"},
                {"cuda", ""},
                {"vulkan", ""},
                {"vulkan", "descriptors"},
                {"vulkan", "bind-arenas"}};
    hg_device_info devices[16];
    size_t count = 0;
    every = argc > 1 && strcmp(argv[1], "--all") == 0;
    if (every) argc--, argv++;
    test_rules();
    CHECK_OK(hg_devices(devices, HG_COUNT_OF(devices), &count));
    for (size_t i = 0; i < count && i < HG_COUNT_OF(devices); i++)
        for (size_t r = 0; r < HG_COUNT_OF(RUNS) && devices[i].available; r++) {
            if (strcmp(RUNS[r].backend, devices[i].backend) != 0) continue;
            if (argc > 1 && strcmp(argv[1], RUNS[r].backend) != 0) continue;
            if (argc > 2 && strcmp(argv[2], RUNS[r].pretend) != 0) continue;
            run_device(&devices[i], RUNS[r].pretend);
        }
    return test_done();
}
