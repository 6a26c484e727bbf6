/* The instructions of block 1C0, from semantics 2.5, 2.8 and the rows ResAccum and Phase of 0.3:
 * lanes see the state at the start of the launch and what they did themselves. */
#include "ref_internal.h"
#include <hologram/characters.h> /* its table is proven elsewhere */
#include <stdlib.h>
#include <string.h>

static const hg_operand *operand(const ref_machine *m, const ref_lane *lane, uint32_t i) {
    return &hg_inst_operands(m->program, lane->pc)[i];
}

/* A register of u8, u16, u32 or u64, or a number. */
static bool read_number(ref_machine *m, const ref_lane *lane, uint32_t i, uint64_t *value) {
    const hg_operand *o = operand(m, lane, i);
    *value = o->value;
    if (o->kind == HG_K_COUNT && !o->is_reg) return true;
    hg_type type = (hg_type)lane->types[o->reg];
    bool allowed = type == HG_TYPE_U8 || type == HG_TYPE_U16 || type == HG_TYPE_U32 ||
                   type == HG_TYPE_U64;
    const uint8_t *bytes = ref_read(m, lane, o->reg, allowed ? type : HG_TYPE_U64);
    *value = 0;
    if (!bytes) return false;
    memcpy(value, bytes, oracle_size(type));
    return true;
}

/* The bytes and the type of a register of any type. */
static const uint8_t *read_any(ref_machine *m, const ref_lane *lane, uint32_t i, hg_type *type) {
    uint8_t reg = operand(m, lane, i)->reg;
    *type = lane->types[reg] < HG_TYPE_COUNT ? (hg_type)lane->types[reg] : HG_TYPE_U8;
    return ref_read(m, lane, reg, *type);
}

static ref_next bad_class(ref_machine *m, const ref_lane *lane, uint32_t i, uint64_t cls) {
    return ref_fail(m, lane, lane->pc, i + 1, "F04", "invalid class index: %llu (must be < 96)",
                    (unsigned long long)cls);
}

/* A class in a register of u8; NEXT_FOLLOWING when it is one. */
static ref_next read_class(ref_machine *m, const ref_lane *lane, uint32_t i, uint32_t *cls) {
    const uint8_t *byte = ref_read(m, lane, operand(m, lane, i)->reg, HG_TYPE_U8);
    if (!byte) return NEXT_BROKEN;
    *cls = *byte;
    return *byte < 96 ? NEXT_FOLLOWING : bad_class(m, lane, i, *byte);
}

static ref_next read_index(ref_machine *m, const ref_lane *lane, uint32_t i, uint64_t *cls) {
    if (!read_number(m, lane, i, cls)) return NEXT_BROKEN;
    return *cls < 96 ? NEXT_FOLLOWING : bad_class(m, lane, i, *cls);
}

static ref_next write(ref_machine *m, ref_lane *lane, hg_type type, uint64_t value) {
    ref_write_uint(m, lane, operand(m, lane, 0)->reg, type, value);
    return NEXT_FOLLOWING;
}

/* ---- classes and neighbours ---- */

static ref_next of_class(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    uint32_t cls, neighbours[6];
    uint64_t index;
    ref_next next = read_class(m, lane, 1, &cls);
    if (next != NEXT_FOLLOWING) return next;
    switch ((hg_op)inst->op) {
    case HG_OP_MIRROR: return write(m, lane, HG_TYPE_U8, oracle_mirror(cls));
    case HG_OP_NBR_COUNT: return write(m, lane, HG_TYPE_U32, oracle_neighbours(cls, neighbours));
    case HG_OP_UNITY_TEST:
        ref_write_predicate(lane, operand(m, lane, 0)->reg, cls == 0 || cls == 48);
        return NEXT_FOLLOWING;
    default:
        if (!read_number(m, lane, 2, &index)) return NEXT_BROKEN;
        return write(m, lane, HG_TYPE_U8,
                     index < oracle_neighbours(cls, neighbours) ? neighbours[index] : 0);
    }
}

/* The lane's element of the neighbour that the offset names. */
static uint8_t *neighbour(ref_machine *m, ref_lane *lane, const hg_inst *inst,
                          uint32_t class_operand, ref_next *next) {
    uint32_t cls, neighbours[6], size = oracle_size((hg_type)inst->type);
    *next = read_class(m, lane, class_operand, &cls);
    if (*next != NEXT_FOLLOWING) return NULL;
    int degree = (int)oracle_neighbours(cls, neighbours),
        k = (int)(int8_t)operand(m, lane, 2)->value;
    while (k < 0) k += degree;
    uint8_t *at = ref_resolve_class(m, lane, class_operand, neighbours[k % degree], lane->id * size,
                                    size);
    *next = at ? NEXT_FOLLOWING : NEXT_FAULT;
    return at;
}

static ref_next neighbour_memory(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    hg_type type = (hg_type)inst->type;
    ref_next next;
    bool loads = inst->op == HG_OP_NBR_LOAD;
    const uint8_t *value = loads ? NULL : ref_read(m, lane, operand(m, lane, 1)->reg, type);
    if (!loads && !value) return NEXT_BROKEN;
    uint8_t *at = neighbour(m, lane, inst, loads ? 1 : 0, &next);
    if (!at) return next;
    if (loads)
        ref_write(m, lane, operand(m, lane, 0)->reg, type, at);
    else
        memcpy(at, value, oracle_size(type));
    return NEXT_FOLLOWING;
}

/* ---- coordinates ---- */

static ref_next coordinates(ref_machine *m, ref_lane *lane, uint64_t cls, uint64_t page,
                            uint64_t byte, uint64_t pages, uint64_t residues) {
    if (cls >= 96) return bad_class(m, lane, 1, cls);
    if (page >= pages || byte >= residues)
        return ref_fail(
            m, lane, lane->pc, 0, "F04",
            "invalid boundary coordinates: page=%llu (must be < %llu), byte=%llu (must be < %llu)",
            (unsigned long long)page, (unsigned long long)pages, (unsigned long long)byte,
            (unsigned long long)residues);
    return write(m, lane, HG_TYPE_U64, (cls * pages + page) * residues + byte);
}

static ref_next bound_map(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    uint64_t part[3] = {0, 0, 0}, pages = 48, residues = 256;
    if (inst->op == HG_OP_BOUND_MAP) { /* byte, page, then all the rest is the class */
        hg_type type;
        const uint8_t *bytes = read_any(m, lane, 1, &type);
        if (!bytes) return NEXT_BROKEN;
        uint32_t size = oracle_size(type);
        part[2] = bytes[0];
        if (size > 1) part[1] = bytes[1];
        for (uint32_t i = 2; i < size; i++)
            if (i < 10)
                part[0] |= (uint64_t)bytes[i] << (8 * (i - 2));
            else if (bytes[i])
                part[0] = UINT64_MAX;
    } else {
        for (uint32_t i = 0; i < 3; i++)
            if (!read_number(m, lane, i + 1, &part[i])) return NEXT_BROKEN;
        if (inst->op == HG_OP_BOUND_MAP_TYPED) oracle_torus((hg_type)inst->type, &pages, &residues);
    }
    return coordinates(m, lane, part[0], part[1], part[2], pages, residues);
}

static ref_next orbits(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    uint64_t first, size, inverse;
    if (!read_number(m, lane, 1, &first) || !read_number(m, lane, 2, &size)) return NEXT_BROKEN;
    if (inst->op == HG_OP_MULT_INVERSE) {
        inverse = oracle_inverse(first, size);
        if (inverse) return write(m, lane, HG_TYPE_U32, inverse);
        return ref_fail(m, lane, lane->pc, 3, "F05", "no multiplicative inverse: %llu mod %llu",
                        (unsigned long long)first, (unsigned long long)size);
    }
    if (inst->op == HG_OP_ORBIT_REPRESENTATIVE && first >= 32)
        return ref_fail(m, lane, lane->pc, 2, "F04", "invalid orbit index: %llu (must be < 32)",
                        (unsigned long long)first);
    if (!oracle_is_torus(size))
        return ref_fail(m, lane, lane->pc, 3, "F05", "unknown torus size: %llu",
                        (unsigned long long)size);
    if (inst->op == HG_OP_ORBIT_CLASSIFY)
        return write(m, lane, HG_TYPE_U8, oracle_orbit(first, size));
    return write(m, lane, HG_TYPE_U32, oracle_representative((uint32_t)first));
}

static ref_next character(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    uint64_t index[2];
    uint8_t bytes[16] = {0};
    double real;
    for (uint32_t i = 0; i < 2; i++)
        if (!read_number(m, lane, i + 1, &index[i])) return NEXT_BROKEN;
    for (uint32_t i = 0; i < 2; i++)
        if (index[i] >= 194)
            return ref_fail(m, lane, lane->pc, i + 2, "F04",
                            "invalid character index: %llu (must be < 194)",
                            (unsigned long long)index[i]);
    if (inst->type == HG_TYPE_F64) {
        if (hg_character_f64(index[0], index[1], &real, NULL) != HG_OK)
            return ref_break(m, lane, lane->pc, "character");
        memcpy(bytes, &real, sizeof real);
    } else if (hg_character_i128(index[0], index[1], bytes) != HG_OK) {
        return ref_fail(m, lane, lane->pc, 3, "F05", "character value not rational");
    }
    ref_write(m, lane, operand(m, lane, 0)->reg, (hg_type)inst->type, bytes);
    return NEXT_FOLLOWING;
}

/* ---- state ---- */

static ref_own *own_of(ref_lane *lane, uint32_t cls) {
    ref_own *own = lane->own;
    while (own && own->cls != cls) own = own->next;
    if (own || !(own = calloc(1, sizeof *own))) return own;
    own->cls = cls;
    own->next = lane->own;
    return lane->own = own;
}

void ref_atlas_free(ref_lane *lane) {
    while (lane->own) {
        ref_own *own = lane->own;
        lane->own = own->next;
        free(own);
    }
}

static ref_next accumulate(ref_machine *m, ref_lane *lane) {
    hg_type type;
    uint64_t cls;
    uint8_t value[8];
    const uint8_t *bytes = read_any(m, lane, 1, &type);
    if (!bytes) return NEXT_BROKEN;
    oracle_convert(HG_TYPE_F64, type, bytes, value);
    ref_next next = read_index(m, lane, 2, &cls);
    if (next != NEXT_FOLLOWING) return next;
    ref_own *own = own_of(lane, (uint32_t)cls);
    if (!own) return ref_break(m, lane, lane->pc, "out of memory");
    oracle_sum_add(&own->sum, value);
    oracle_sum sum = m->resonance[cls];
    oracle_sum_merge(&sum, &own->sum);
    oracle_sum_round(&sum, value);
    ref_write(m, lane, operand(m, lane, 0)->reg, HG_TYPE_F64, value);
    return NEXT_FOLLOWING;
}

static ref_next test_sum(ref_machine *m, ref_lane *lane) {
    oracle_sum sum = m->resonance[96];
    double value, eps;
    uint8_t bytes[8];
    for (const ref_own *own = lane->own; own; own = own->next) oracle_sum_merge(&sum, &own->sum);
    oracle_sum_round(&sum, bytes);
    memcpy(&value, bytes, sizeof value);
    memcpy(&eps, hg_literal(m->program, operand(m, lane, 1)), sizeof eps);
    ref_write_predicate(lane, operand(m, lane, 0)->reg, value > -eps && value < eps);
    return NEXT_FOLLOWING;
}

/* The remainder of an integer by 768, byte by byte from the top; a negative one is its pattern less
 * 2^width. */
static uint32_t modulo_768(hg_type type, const uint8_t *bytes) {
    uint32_t size = oracle_size(type), rest = 0, power = 1;
    for (uint32_t i = size; i-- > 0;) {
        rest = (rest * 256 + bytes[i]) % 768;
        power = power * 256 % 768;
    }
    return oracle_is_signed(type) && bytes[size - 1] & 0x80 ? (rest + 768 - power) % 768 : rest;
}

static ref_next phase_write(ref_machine *m, ref_lane *lane) {
    hg_type type;
    uint64_t cls;
    const uint8_t *bytes = read_any(m, lane, 0, &type);
    if (!bytes) return NEXT_BROKEN;
    uint32_t value = modulo_768(type, bytes);
    ref_next next = read_index(m, lane, 1, &cls);
    if (next != NEXT_FOLLOWING) return next;
    ref_own *own = own_of(lane, (uint32_t)cls);
    if (!own) return ref_break(m, lane, lane->pc, "out of memory");
    own->wrote = true;
    own->phase = value;
    if (lane->id + 1 >= m->phase_lane[cls]) {
        m->phase_lane[cls] = lane->id + 1;
        m->new_phase[cls] = value;
    }
    return NEXT_FOLLOWING;
}

static ref_next phase_read(ref_machine *m, ref_lane *lane) {
    uint64_t cls;
    ref_next next = read_index(m, lane, 1, &cls);
    if (next != NEXT_FOLLOWING) return next;
    uint32_t value = m->start_phase[cls];
    for (const ref_own *own = lane->own; own; own = own->next)
        if (own->cls == cls && own->wrote) value = own->phase;
    return write(m, lane, HG_TYPE_U32, value);
}

void ref_state(const ref_machine *m, uint32_t phase[96], uint64_t resonance[97]) {
    static oracle_sum sums[97];
    memcpy(sums, m->resonance, sizeof sums);
    for (uint64_t i = 0; i < m->lane_count; i++)
        for (const ref_own *own = m->lanes[i].own; own; own = own->next) {
            oracle_sum_merge(&sums[own->cls], &own->sum);
            oracle_sum_merge(&sums[96], &own->sum);
        }
    for (int c = 0; c < 96; c++) phase[c] = m->phase_lane[c] ? m->new_phase[c] : m->start_phase[c];
    for (int c = 0; c <= 96; c++) {
        uint8_t bytes[8];
        oracle_sum_round(&sums[c], bytes);
        memcpy(&resonance[c], bytes, sizeof bytes);
    }
}

ref_next ref_atlas(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    hg_type type;
    uint64_t delta;
    const uint8_t *bytes;
    switch ((hg_op)inst->op) {
    case HG_OP_CLS_GET:
        bytes = read_any(m, lane, 1, &type);
        return bytes ? write(m, lane, HG_TYPE_U8, oracle_class_of_byte(bytes[0])) : NEXT_BROKEN;
    case HG_OP_CLS_GET_LANE:
        return write(m, lane, HG_TYPE_U8, lane->block % m->launch.grid[0] % 96);
    case HG_OP_MIRROR:
    case HG_OP_UNITY_TEST:
    case HG_OP_NBR_COUNT:
    case HG_OP_NBR_GET: return of_class(m, lane, inst);
    case HG_OP_NBR_LOAD:
    case HG_OP_NBR_STORE: return neighbour_memory(m, lane, inst);
    case HG_OP_BOUND_MAP:
    case HG_OP_BOUND_MAP_PARTS:
    case HG_OP_BOUND_MAP_TYPED: return bound_map(m, lane, inst);
    case HG_OP_ORBIT_CLASSIFY:
    case HG_OP_ORBIT_REPRESENTATIVE:
    case HG_OP_MULT_INVERSE: return orbits(m, lane, inst);
    case HG_OP_CHAR_PRODUCT: return character(m, lane, inst);
    case HG_OP_RES_ACCUM: return accumulate(m, lane);
    case HG_OP_UNITY_TEST_EPS: return test_sum(m, lane);
    case HG_OP_PHASE_READ: return phase_read(m, lane);
    case HG_OP_PHASE_WRITE: return phase_write(m, lane);
    case HG_OP_PHASE_GET: return write(m, lane, HG_TYPE_U32, lane->phase);
    case HG_OP_PHASE_ADV:
        if (!read_number(m, lane, 0, &delta)) return NEXT_BROKEN;
        lane->phase = (uint32_t)((lane->phase + delta % 768) % 768);
        return NEXT_FOLLOWING;
    default:
        return ref_break(m, lane, lane->pc,
                         "an Atlas instruction that the reference does not know");
    }
}
