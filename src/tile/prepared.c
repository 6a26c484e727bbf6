/* Launches made ready. Inputs, lanes and memory of a launch that comes again are known, so a kernel
 * whose branches depend on nothing else is a list of calls of handlers: addresses are fixed, what
 * does not depend on memory is calculated once, and bounds are looked at once. The list is taken
 * down along the kernel's code as exec.c and memory.c would run it; at the first instruction that
 * is more than that there is none.
 * Must not know: faults. */
#include "base/stream.h"
#include "base/thread_pool.h"
#include "tile/element.h"
#include "tile/fp.h"
#include "tile/tile_internal.h"
#include <hologram/vector.h>
#include <string.h>

enum {
    MOST_CALLS = 64,
    MOST_LANES = 32768, /* of several calls, or of one that is in a frame: beyond, tiles stay in the
                           caches where arrays do not */
    CHUNK = 16384, /* lanes of a longer launch that a thread takes at once: within a second-level
                      cache */
    MOST_BYTES = 2048 * 1024, /* of a frame while a launch is taken down, */
    KEPT_BYTES = 64 * 1024,   /* and of one that it keeps for itself */
    TELLS = 1 << 20           /* of the interpreter's work: so often its kernel is told */
};

typedef struct tile_call {
    tile_fn *run;
    void *d;
    const void *a, *b, *c;
    uint64_t n;
} tile_call;

/* Where there are several calls the kernel's native code does the same work faster: from the launch
 * on in which it is there. */
struct tile_prepared {
    const tile_native *const *native; /* of the kernel, atomic; of a map always NULL */
    hgv_launch launch;                /* for it */
    bool poor;
    uint32_t count;
    int64_t until_told, work; /* of the interpreter, since the kernel was told of it; of a launch */
    const tile_kernel *kernel;
    tile_frame *frame; /* NULL: all addresses are those of the memory */
    bool shared; /* threads share the lanes of the one call; its operands have so many bytes a lane,
                    in order d, a, b, c: */
    uint8_t step[4];
    uint64_t cells[3]; /* of a longer launch: operands that are one for all lanes */
    void *kept; /* what native code has in memory: of blocks from barrier to barrier, arrays */
    uint64_t kept_bytes;
    tile_call calls[]; /* and behind them what `launch` points to: slots, inputs */
};

/* ---- what is not an operation, as a handler ---- */

static void copy_bytes(void *d, const void *a, const void *b, const void *c, uint64_t n) {
    (void)b, (void)c;
    memmove(d, a, (size_t)n);
}

/* d[i] = a + i * b; an element into a cell. */
#define FILLS(type)                                                                              \
    static void fill_##type(void *d_, const void *a, const void *b, const void *c, uint64_t n) { \
        type *d = d_, first = *(const type *)a, step = (type) * (const uint64_t *)b;             \
        (void)c;                                                                                 \
        for (uint64_t i = 0; i < n; i++) d[i] = (type)(first + (type)((type)i * step));          \
    }                                                                                            \
    static void one_##type(void *d, const void *a, const void *b, const void *c, uint64_t n) {   \
        type element;                                                                            \
        (void)b, (void)c, (void)n;                                                               \
        memcpy(&element, a, sizeof element);                                                     \
        uint64_t cell = element;                                                                 \
        memcpy(d, &cell, sizeof cell);                                                           \
    }
FILLS(uint8_t)
FILLS(uint16_t)
FILLS(uint32_t)
FILLS(uint64_t)

static tile_fn *filler(uint8_t size) {
    return size == 1   ? fill_uint8_t
           : size == 2 ? fill_uint16_t
           : size == 4 ? fill_uint32_t
                       : fill_uint64_t;
}
static tile_fn *one_loader(uint8_t size) {
    return size == 1   ? one_uint8_t
           : size == 2 ? one_uint16_t
           : size == 4 ? one_uint32_t
                       : one_uint64_t;
}
static int kind_of_bytes(uint8_t bytes) {
    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static const uint64_t NO_STEP = 0;

/* ---- taking down ---- */

/* What a call reads or writes. */
typedef struct span {
    const uint8_t *at;
    uint64_t bytes;
    uint8_t element; /* 0: one for all lanes */
} span;

/* A register that calls write, or whose place changes, is calculated by no one else; one that they
 * read as known is written by none of them. */
typedef enum register_use { USE_READS_KNOWN = 1, USE_WRITES = 2 } register_use;

typedef struct recorder {
    const tile_kernel *kernel;
    tile_frame *f;
    bool *known;   /* by register: it holds the same in every launch, and holds it already */
    uint8_t *uses; /* by register: register_use of the calls so far */
    uint32_t count;
    tile_call calls[MOST_CALLS];
    /* Of the last call: what it reads, where it wrote all lanes of a register that is not memory.
     */
    span reads[3];
    uint8_t read_count;
    uint8_t stored; /* bytes of an element that it writes straight to memory */
    bool whole;
} recorder;

static bool is_cell(const recorder *r, uint32_t reg) {
    uint8_t kind = r->kernel->frame.registers[reg].kind;
    return kind == TILE_REGISTER_CELL || kind == TILE_REGISTER_CONST ||
           kind == TILE_REGISTER_INPUT || kind == TILE_REGISTER_ID;
}

static span span_of(const recorder *r, uint32_t reg) {
    const tile_register *s = &r->kernel->frame.registers[reg];
    if (is_cell(r, reg)) return (span){r->f->reg[reg], TILE_CELL, 0};
    return (span){r->f->reg[reg], (uint64_t)s->size * r->f->n, s->size};
}

/* More lanes than the frame has: nothing may be done in its vectors. */
static bool is_wide(const recorder *r) { return r->f->n > r->f->width; }

/* What it holds may be calculated now, once and for all: no call writes it, and those so far do not
 * need what it held before. */
static bool may_know(const recorder *r, uint32_t reg) { return !r->uses[reg]; }

/* A call reads or writes it. */
static void reads(recorder *r, uint32_t reg) {
    if (r->known[reg]) r->uses[reg] |= USE_READS_KNOWN;
}
static bool writes(recorder *r, uint32_t reg) {
    r->known[reg] = false;
    r->uses[reg] |= USE_WRITES;
    return !(r->uses[reg] & USE_READS_KNOWN);
}

static bool add(recorder *r, tile_fn *run, void *d, const void *a, const void *b, const void *c,
                uint64_t n) {
    if (r->count == MOST_CALLS) return false;
    r->calls[r->count++] = (tile_call){run, d, a, b, c, n};
    r->whole = false;
    r->read_count = r->stored = 0;
    return true;
}

/* The call is done now, once and for all, when nothing that it reads changes and nothing else
 * writes where it writes. */
static bool operate(recorder *r, const tile_insn *insn, tile_fn *run, const uint32_t *operands,
                    uint8_t count, const void *step, uint64_t n) {
    uint8_t **reg = r->f->reg;
    const void *p[3] = {NULL};
    bool known = may_know(r, insn->d);
    for (uint8_t i = 0; i < count; i++) {
        known = known && r->known[operands[i]];
        p[i] = reg[operands[i]];
    }
    if (step) p[1] = step;
    if (known && is_wide(r) && !is_cell(r, insn->d)) return false;
    if (known) {
        run(reg[insn->d], p[0], p[1], p[2], n);
        r->known[insn->d] = true;
        return true;
    }
    if (!add(r, run, reg[insn->d], p[0], p[1], p[2], n)) return false;
    for (uint8_t i = 0; i < count; i++) {
        r->reads[i] = span_of(r, operands[i]);
        reads(r, operands[i]);
    }
    if (!writes(r, insn->d)) return false;
    r->read_count = count;
    r->whole = !is_cell(r, insn->d);
    return true;
}

static bool reads_register(const tile_insn *insn, uint32_t reg) {
    const tile_access *a = insn->u.access;
    switch ((tile_kind)insn->kind) {
    case TILE_LOAD: return a->has_index && a->index.reg == reg;
    case TILE_STORE: return (a->has_index && a->index.reg == reg) || a->value.reg == reg;
    case TILE_CHECK: return a->has_index && a->index.reg == reg;
    default: return insn->a == reg || insn->b == reg || insn->c == reg;
    }
}

/* The last call may write straight to memory: nobody reads what it wrote elsewhere, and what it
 * reads is apart from there, or the same. */
static bool goes_to_memory(const recorder *r, const tile_insn *store, const uint8_t *from,
                           const uint8_t *to, uint8_t element) {
    uint64_t bytes = (uint64_t)r->f->n * element;
    if (!r->whole || r->calls[r->count - 1].d != from || (uintptr_t)to % element) return false;
    for (uint8_t i = 0; i < r->read_count; i++) {
        const span *s = &r->reads[i];
        bool apart = (uintptr_t)s->at + s->bytes <= (uintptr_t)to ||
                     (uintptr_t)to + bytes <= (uintptr_t)s->at;
        if (!apart && (s->at != to || s->element != element)) return false;
    }
    if (from == r->f->scratch) return true;
    for (const tile_insn *later = store + 1; later->kind != TILE_END; later++)
        if (reads_register(later, store->u.access->value.reg)) return false;
    return true;
}

/* Memory accesses are of all lanes, side by side. */
static bool load(recorder *r, const tile_access *a, const uint8_t *at, int64_t stride) {
    tile_frame *f = r->f;
    bool aligned = (uintptr_t)at % a->bytes == 0, grows = a->value_size != a->bytes;
    if (!writes(r, a->result)) return false;
    if (a->one)
        return stride == 0 && add(r, one_loader(a->bytes), f->reg[a->result], at, NULL, NULL, 1);
    if (stride != a->bytes && f->n != 1) return false;
    if (a->may.direct && aligned) {
        f->reg[a->result] = (uint8_t *)(uintptr_t)at;
        return true;
    }
    if (is_wide(r)) return false;
    if (a->may.direct) f->reg[a->result] = f->reg[a->result + 1];
    if (!grows)
        return add(r, copy_bytes, f->reg[a->result], at, NULL, NULL, (uint64_t)f->n * a->bytes);
    if (!aligned && !add(r, copy_bytes, f->scratch, at, NULL, NULL, (uint64_t)f->n * a->bytes))
        return false;
    tile_fn *convert = tile_convert_handler(r->kernel->handlers, KIR_ZEXT, kind_of_bytes(a->bytes),
                                            kind_of_bytes(a->value_size));
    return add(r, convert, f->reg[a->result], aligned ? at : f->scratch, NULL, NULL, f->n);
}

static bool store(recorder *r, const tile_insn *insn, uint8_t *at, int64_t stride) {
    const tile_access *a = insn->u.access;
    tile_frame *f = r->f;
    const uint8_t *from = f->reg[a->value.reg];
    bool scalar = a->value.form != KIR_LANES_EACH;
    reads(r, a->value.reg);
    if (scalar && (stride == 0 || f->n == 1))
        return add(r, copy_bytes, at, from, NULL, NULL, a->bytes);
    if ((stride != a->bytes && f->n != 1) || (is_wide(r) && (scalar || a->value_size != a->bytes)))
        return false;
    if (a->may.once && hg_stream_wanted(f->state->launch->lanes * a->bytes)) return false;
    if (scalar) {
        if (!add(r, filler(a->bytes), f->scratch, from, &NO_STEP, NULL, f->n)) return false;
        r->whole = true;
        from = f->scratch;
    } else if (a->value_size != a->bytes) {
        tile_fn *convert = tile_convert_handler(
            r->kernel->handlers, KIR_TRUNC, kind_of_bytes(a->value_size), kind_of_bytes(a->bytes));
        if (!add(r, convert, f->scratch, from, NULL, NULL, f->n)) return false;
        r->reads[r->read_count++] = (span){from, (uint64_t)f->n * a->value_size, a->value_size};
        r->whole = true;
        from = f->scratch;
    }
    if (!goes_to_memory(r, insn, from, at, a->bytes))
        return add(r, copy_bytes, at, from, NULL, NULL, (uint64_t)f->n * a->bytes);
    r->calls[r->count - 1].d = at;
    r->stored = a->bytes;
    r->whole = false;
    return true;
}

static bool access(recorder *r, const tile_insn *insn) {
    const tile_access *a = insn->u.access;
    int64_t stride;
    if (a->has_index && !r->known[a->index.reg]) return false;
    uint8_t *at = tile_access_known(r->f, a, &stride);
    if (!at || a->op == KIR_CHECK) return at != NULL;
    return a->op == KIR_LOAD ? load(r, a, at, stride) : store(r, insn, at, stride);
}

/* Something about lane numbers, which is the same in every launch. */
static bool number(recorder *r, const tile_insn *insn) {
    tile_frame *f = r->f;
    if (!may_know(r, insn->d) || is_wide(r)) return false;
    if (insn->kind == TILE_ID) {
        tile_id_vector(f, f->reg[insn->d], (uint32_t)insn->u.imm, insn->size);
    } else {
        if (!r->known[insn->a] || !r->known[insn->b]) return false;
        tile_border(insn, f->reg, f->n);
    }
    return r->known[insn->d] = true;
}

/* Two registers that are never known (look_ahead). */
static bool swap(recorder *r, const tile_insn *insn) {
    uint8_t **reg = r->f->reg, *other = reg[insn->d];
    reg[insn->d] = reg[insn->a];
    reg[insn->a] = other;
    return true;
}

/* A fault that no lane has. */
static bool no_fault(const recorder *r, const tile_insn *insn) {
    const uint8_t *cond = r->f->reg[insn->a];
    bool any = false;
    if (is_wide(r) && !insn->b) return false;
    for (uint32_t i = 0; i < (insn->b ? 1 : r->f->n); i++) any = any || cond[i];
    return r->known[insn->a] && !any;
}

/* True also where no lane does it. */
static bool take_down(recorder *r, const tile_insn *insn) {
    const uint32_t operands[3] = {insn->a, insn->b, insn->c};
    switch ((tile_kind)insn->kind) {
    case TILE_RUN: return operate(r, insn, insn->run, operands, insn->operands, NULL, r->f->n);
    case TILE_RUN_ONE: return operate(r, insn, insn->run, operands, insn->operands, NULL, 1);
    case TILE_SPLAT: return operate(r, insn, filler(insn->size), operands, 1, &NO_STEP, r->f->n);
    case TILE_IOTA: return operate(r, insn, filler(insn->size), operands, 1, &insn->u.imm, r->f->n);
    case TILE_COPY_ONE: return operate(r, insn, copy_bytes, operands, 1, NULL, TILE_CELL);
    case TILE_COPY_ALL:
        return operate(r, insn, copy_bytes, operands, 1, NULL, (uint64_t)r->f->n * insn->size);
    case TILE_ID:
    case TILE_LESS:
    case TILE_MORE: return number(r, insn);
    case TILE_FAULT_IF: return no_fault(r, insn);
    default: break;
    }
    uint32_t active = r->f->mask[insn->mask].count;
    if (active != r->f->n) return active == 0;
    switch ((tile_kind)insn->kind) {
    case TILE_COPY:
        return operate(r, insn, copy_bytes, operands, 1, NULL, (uint64_t)r->f->n * insn->size);
    case TILE_SWAP: return swap(r, insn);
    case TILE_COPY_SPLAT:
        return operate(r, insn, filler(insn->size), operands, 1, &NO_STEP, r->f->n);
    case TILE_LOAD:
    case TILE_STORE:
    case TILE_CHECK: return access(r, insn);
    default: return false;
    }
}

/* A branch whose condition is the same in every launch; it goes on, not back. */
static bool is_branch(const tile_insn *insn) {
    tile_kind kind = (tile_kind)insn->kind;
    return kind == TILE_IF || kind == TILE_ELSE || kind == TILE_END_IF || kind == TILE_JUMP ||
           kind == TILE_JUMP_UNLESS || kind == TILE_BREAK;
}

static bool decide(const recorder *r, const tile_insn *insn, const tile_insn **next) {
    bool looks = insn->kind == TILE_IF || insn->kind == TILE_JUMP_UNLESS;
    if (is_wide(r) || (looks && !r->known[insn->a])) return false;
    *next = tile_branch(r->f, insn);
    return *next > insn;
}

/* ---- a launch ---- */

/* What holds before the first instruction, and which registers change places. */
static void look_ahead(recorder *r) {
    const tile_kernel *k = r->kernel;
    for (uint32_t i = 0; i < k->frame.register_count; i++) {
        uint8_t kind = k->frame.registers[i].kind;
        r->known[i] = kind == TILE_REGISTER_CONST || kind == TILE_REGISTER_INPUT ||
                      kind == TILE_REGISTER_ID || kind == TILE_REGISTER_SPLAT;
    }
    for (uint32_t i = 0; i < k->code.count; i++) {
        const tile_insn *insn = &k->code.insns[i];
        if (insn->kind == TILE_SWAP) r->uses[insn->d] = r->uses[insn->a] = USE_WRITES;
    }
}

static bool in_frame(const recorder *r, const void *place) {
    const uint8_t *from = (const uint8_t *)r->f, *at = place;
    return at >= from && at < from + tile_frame_bytes(r->kernel, r->f->width);
}

/* Whether a call has an address in the frame. */
static bool uses_frame(const recorder *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        const tile_call *call = &r->calls[i];
        if (in_frame(r, call->d) || in_frame(r, call->a) || in_frame(r, call->b) ||
            in_frame(r, call->c))
            return true;
    }
    return false;
}

/* A launch of any number of lanes may be one call whose vectors are all memory. Finds their steps.
 */
static bool is_one_call(const recorder *r, uint8_t step[4]) {
    const tile_call *call = r->calls;
    const void *places[] = {call->a, call->b, call->c};
    memset(step, 0, 4);
    if (r->count != 1 || !r->stored || in_frame(r, call->d)) return false;
    step[0] = r->stored;
    for (uint8_t i = 0; i < r->read_count; i++) {
        if (r->reads[i].at != places[i] || (r->reads[i].element && in_frame(r, places[i])))
            return false;
        step[i + 1] = r->reads[i].element;
    }
    return true;
}

static const tile_native *const NO_CODE;

static tile_prepared *keep(const tile_call *calls, uint32_t count, bool poor, tile_frame *frame,
                           size_t more) {
    tile_prepared *p = hg_alloc(sizeof *p + count * sizeof *calls + more);
    if (!p) return NULL;
    *p = (tile_prepared){.native = &NO_CODE, .poor = poor, .count = count, .frame = frame};
    if (count) memcpy(p->calls, calls, count * sizeof *calls);
    return p;
}

/* Slots and inputs of p->launch, behind it. */
static void keep_arguments(tile_prepared *p, uint8_t *behind) {
    size_t slots = p->kernel->memory_count * sizeof(hgv_memory),
           inputs = p->kernel->input_count * sizeof(uint64_t);
    if (slots) memcpy(behind, p->launch.slots, slots);
    if (inputs) memcpy(behind + slots, p->launch.inputs, inputs);
    p->launch.slots = (const hgv_memory *)(const void *)behind;
    p->launch.inputs = (const uint64_t *)(const void *)(behind + slots);
}

static void *keep_for_code(hgv_launch *launch, uint64_t bytes) {
    tile_prepared *p = launch->user;
    if (bytes > p->kept_bytes) {
        hg_free_aligned(p->kept);
        p->kept = bytes <= SIZE_MAX ? hg_alloc_aligned((size_t)bytes, 64) : NULL;
        p->kept_bytes = p->kept ? bytes : 0;
    }
    if (!p->kept) launch->stopped = true;
    return p->kept;
}

/* The same for a launch of a kernel, whose native code may come later. */
static tile_prepared *keep_launch(const recorder *r, const tile_run_state *state,
                                  tile_frame *frame) {
    const tile_kernel *k = r->kernel;
    size_t slots = k->memory_count * sizeof(hgv_memory), inputs = k->input_count * sizeof(uint64_t);
    tile_prepared *p = keep(r->calls, r->count, k->options.poor, frame, slots + inputs);
    if (!p) return NULL;
    uint8_t *behind = (uint8_t *)(p->calls + r->count);
    p->kernel = k;
    if (r->count != 1)
        p->native = &k->native.now; /* one handler is native code, and looks at nothing else */
    tile_native_launch(state, NULL, &p->launch);
    p->launch.user = p;
    p->launch.memory = keep_for_code;
    keep_arguments(p, behind);
    if (!k->native.heat) return p;
    p->work = (int64_t)(p->launch.lanes + k->code.count) * k->code.count;
    p->until_told = TELLS;
    return p;
}

/* The one call of a longer launch: nothing of the frame is left in it. */
static void keep_wide(const recorder *r, const tile_run_state *state, const uint8_t step[4],
                      tile_prepared *p) {
    const void **operands[] = {&p->calls[0].a, &p->calls[0].b, &p->calls[0].c};
    memcpy(p->step, step, sizeof p->step);
    for (uint8_t i = 0; i < r->read_count; i++) {
        if (r->reads[i].element) continue;
        memcpy(&p->cells[i], *operands[i], TILE_CELL);
        *operands[i] = &p->cells[i];
    }
    p->shared = state->launch->max_threads != 1 &&
                tile_run_is_large(r->kernel, r->f->n, state->launch->work);
}

static tile_prepared *record(recorder *r, const tile_run_state *state) {
    tile_frame *f = r->f;
    f->lane0 = 0;
    f->n = (uint32_t)state->launch->lanes;
    tile_run_fill(f, state);
    tile_run_fill_tile(f, state);
    fp_enter(r->kernel->options.poor);
    const tile_insn *insn = r->kernel->code.insns;
    look_ahead(r);
    f->mask[r->kernel->code.body_mask].count = f->n;
    for (const tile_insn *next; insn->kind != TILE_END; insn = next) {
        next = insn + 1;
        if (is_branch(insn) ? !decide(r, insn, &next) : !take_down(r, insn)) break;
    }
    fp_leave(r->kernel->options.poor);
    uint8_t step[4];
    bool wide = is_wide(r), keeps = uses_frame(r),
         good = insn->kind == TILE_END && (is_one_call(r, step) || !wide);
    bool small = f->n <= r->kernel->width && tile_frame_bytes(r->kernel, f->width) <= KEPT_BYTES;
    if (r->count > 1 && tile_native_of(r->kernel)) { /* then the calls never run */
        keeps = false;
        r->count = 0;
    }
    if (wide) keeps = false;
    tile_prepared *p = good && (small || !keeps) ? keep_launch(r, state, keeps ? f : NULL) : NULL;
    if (p && wide) keep_wide(r, state, step, p);
    if (!p || !keeps) tile_frame_free(f);
    return p;
}

static bool always(hgv_launch *launch) {
    launch->fuel = TILE_FUEL;
    return true;
}

/* Native code that knows nothing but slots and always ends, on one thread. */
static tile_prepared *prepare_quiet(const tile_kernel *k, const tile_launch *launch) {
    size_t slots = k->memory_count * sizeof(hgv_memory), inputs = k->input_count * sizeof(uint64_t);
    tile_run_state state;
    tile_run_begin(&state, k, launch);
    bool alone = k->block_mode && launch->lanes <= state.block_lanes;
    if (!alone && tile_run_is_large(k, launch->lanes, launch->work))
        return NULL; /* it looks at the time between blocks */
    if (!tile_native_fits(&state, tile_native_of(k))) return NULL;
    tile_prepared *p = keep(NULL, 0, k->options.poor, NULL, slots + inputs);
    if (!p) return NULL;
    p->kernel = k;
    p->native = &k->native.now;
    tile_native_launch(&state, NULL, &p->launch);
    p->launch.user = p;
    p->launch.memory = keep_for_code;
    p->launch.go_on = always;
    keep_arguments(p, (uint8_t *)p->calls);
    return p;
}

static tile_prepared *prepare_calls(const tile_kernel *k, const tile_launch *launch) {
    tile_run_state state;
    if (launch->lanes > INT32_MAX || k->block_mode || k->has_loop) return NULL;
    bool large = launch->max_threads != 1 && tile_run_is_large(k, launch->lanes, launch->work);
    bool wide = launch->lanes > k->width && (launch->lanes > MOST_LANES || large);
    uint32_t width = launch->lanes == 1 ? 1
                     : wide             ? k->width
                                        : (uint32_t)(launch->lanes + 7) / 8 * 8;
    if (k->options.check_races || k->options.debugger || tile_frame_bytes(k, width) > MOST_BYTES)
        return NULL;
    tile_run_begin(&state, k, launch);
    recorder *r = hg_calloc(1, sizeof *r +
                                   k->frame.register_count * (sizeof *r->known + sizeof *r->uses));
    tile_prepared *p = NULL;
    if (!r) return NULL;
    r->kernel = k;
    r->known = (bool *)(r + 1);
    r->uses = (uint8_t *)(r->known + k->frame.register_count);
    r->f = tile_frame_take(k, width);
    if (r->f) {
        r->f->state = &state;
        p = record(r, &state);
    }
    hg_free(r);
    return p;
}

tile_prepared *tile_prepare(const tile_kernel *k, const tile_launch *launch) {
    tile_prepared *p = launch->lanes ? prepare_calls(k, launch) : NULL;
    return p || !launch->lanes || !k->quiet || !tile_native_of(k) ? p : prepare_quiet(k, launch);
}

/* ---- a map ---- */

tile_prepared *tile_map_prepare(const tile_options *options, uint16_t fn, hg_type type, uint64_t n,
                                uint8_t *out, const uint8_t *const *in, uint8_t nin) {
    tile_element e;
    if (options->poor || !tile_map_is_one_call(options, n, hg_type_size_bytes(type))) return NULL;
    if (tile_element_open(options, fn, type, &e) != HG_OK) return NULL;
    bool direct = e.run && nin == e.nin && (uintptr_t)out % e.size == 0;
    for (uint8_t i = 0; i < nin; i++) direct = direct && (uintptr_t)in[i] % e.size == 0;
    const tile_call call = {e.run, out, in[0], nin > 1 ? in[1] : NULL, nin > 2 ? in[2] : NULL, n};
    tile_element_close(&e);
    return direct ? keep(&call, 1, options->poor, NULL, 0) : NULL;
}

/* ---- launches of it ---- */

HG_NOINLINE static void tell(tile_prepared *p) {
    p->until_told += TELLS;
    tile_heat_add(p->kernel, TELLS);
}

static void run_lanes(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    const tile_prepared *p = user;
    const tile_call *call = p->calls;
    const uint8_t *a = call->a, *b = call->b, *c = call->c;
    (void)worker;
    fp_enter(p->poor);
    if (b) b += begin * p->step[2];
    if (c) c += begin * p->step[3];
    call->run((uint8_t *)call->d + begin * p->step[0], a + begin * p->step[1], b, c, end - begin);
    fp_leave(p->poor);
}

HG_NOINLINE static hg_status stopped(tile_prepared *p) {
    p->launch.stopped = false;
    return hg_fail_memory();
}

hg_status tile_prepared_run(tile_prepared *p) {
    if (HG_UNLIKELY(p->shared)) {
        hg_thread_pool_run(hg_thread_pool_global(), p->calls->n, CHUNK, run_lanes, p);
        return HG_OK;
    }
    const tile_native *native = hg_atomic_load(p->native, HG_ACQUIRE);
    fp_enter(p->poor);
    if (native) {
        native->run(&p->launch, 0, p->launch.lanes);
    } else {
        for (const tile_call *call = p->calls, *end = call + p->count; call < end; call++)
            call->run(call->d, call->a, call->b, call->c, call->n);
        if (HG_UNLIKELY((p->until_told -= p->work) < 0)) tell(p);
    }
    fp_leave(p->poor);
    return HG_UNLIKELY(p->launch.stopped) ? stopped(p) : HG_OK;
}

/* Handlers take addresses by what they are multiples of. */
static bool lie_alike(const tile_prepared *p, const tile_memory *slots, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if ((((uintptr_t)p->launch.slots[i].base ^ (uintptr_t)slots[i].base) & 63) ||
            p->launch.slots[i].size != slots[i].size)
            return false;
    return true;
}

/* Where what lay in an old slot lies now; anything else stays where it is. */
static const void *moved(const tile_prepared *p, const void *place, const tile_memory *slots,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t)place - (uintptr_t)p->launch.slots[i].base;
        if (place && at < slots[i].size) return slots[i].base + at;
    }
    return place;
}

bool tile_prepared_move(tile_prepared *p, const tile_memory *slots, uint32_t count) {
    if (!p->kernel || p->kernel->memory_count != count || !lie_alike(p, slots, count)) return false;
    for (tile_call *call = p->calls, *end = call + p->count; call < end; call++) {
        call->d = (void *)(uintptr_t)moved(p, call->d, slots, count);
        call->a = moved(p, call->a, slots, count);
        call->b = moved(p, call->b, slots, count);
        call->c = moved(p, call->c, slots, count);
    }
    memcpy((void *)(uintptr_t)p->launch.slots, slots, count * sizeof *slots); /* behind the calls */
    return true;
}

void tile_prepared_destroy(tile_prepared *p) {
    if (!p) return;
    tile_frame_free(p->frame);
    hg_free_aligned(p->kept);
    hg_free(p);
}
