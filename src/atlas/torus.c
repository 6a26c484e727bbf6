/* Tori of the types, coordinates of class memory, the torus of 48 by 96 and arithmetic of classes
 * (semantics 4.3, 4.5 to 4.7, 5.13).
 * Must not know: memory, programs. */
#include "atlas/atlas_internal.h"

/* A type of w bytes: pages modulo 24·w, residues modulo 48·w, at least 96. */
#define PAGES(w) (24u * (w))
#define RESIDUES(w) ((w) == 1 ? 96u : 48u * (w))
#define ELEMENTS(w) (PAGES(w) * RESIDUES(w))

const uint32_t hg_torus_sizes[HG_TORUS_SIZES] = {
    HG_CLASS_COUNT, ELEMENTS(1),  ELEMENTS(2),   ELEMENTS(4),   ELEMENTS(8),   ELEMENTS(16),
    ELEMENTS(32),   ELEMENTS(64), ELEMENTS(128), ELEMENTS(256), ELEMENTS(512),
};

hg_torus hg_torus_of(hg_type type) {
    uint32_t w = (uint32_t)hg_type_size_bytes(type);
    uint32_t elements = ELEMENTS(w); /* 2^a·3^b: a third of the residues is coprime to it */
    return (hg_torus){PAGES(w), w ? RESIDUES(w) : 0, elements, elements / 3,
                      (uint64_t)HG_CLASS_COUNT * elements};
}

static hg_status fail_coordinates(uint64_t page, uint64_t pages, uint64_t byte, uint64_t bytes) {
    hg_status status = hg_fail(
        HG_ERROR_ISA,
        "invalid boundary coordinates: page=%llu (must be < %llu), byte=%llu (must be < %llu)",
        (unsigned long long)page, (unsigned long long)pages, (unsigned long long)byte,
        (unsigned long long)bytes);
    hg_error_record()->code[0] = 'F', hg_error_record()->code[1] = '0',
    hg_error_record()->code[2] = '4';
    return status;
}

static hg_status map(uint64_t pages, uint64_t bytes, uint64_t cls, uint64_t page, uint64_t byte,
                     uint64_t *index) {
    if (!index) return hg_null_argument("index");
    if (cls >= HG_CLASS_COUNT) return hg_fail_class(cls);
    if (page >= pages || byte >= bytes) return fail_coordinates(page, pages, byte, bytes);
    *index = (cls * pages + page) * bytes + byte;
    return HG_OK;
}

hg_status hg_bound_map(uint64_t cls, uint64_t page, uint64_t byte, uint64_t *index) {
    return map(HG_CLASS_PAGES, HG_CLASS_PAGE_BYTES, cls, page, byte, index);
}

hg_status hg_bound_map_packed(uint64_t packed, uint64_t *index) {
    return hg_bound_map(packed >> 16, packed >> 8 & 0xFF, packed & 0xFF, index);
}

hg_status hg_bound_map_typed(hg_type type, uint64_t cls, uint64_t page, uint64_t byte,
                             uint64_t *index) {
    hg_torus t = hg_torus_of(type);
    if (!t.elements) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is not a type", (int)type);
    return map(t.page_mod, t.res_mod, cls, page, byte, index);
}

uint32_t hg_phi_encode(uint8_t page, uint8_t byte) { return (uint32_t)page << 8 | byte; }

void hg_phi_decode(uint32_t code, uint8_t *page, uint8_t *byte) {
    if (page) *page = code >> 8 & 0xFF;
    if (byte) *byte = code & 0xFF;
}

/* ---- ℤ48 × ℤ96 ---- */

static hg_point point(uint64_t page, uint64_t residue) {
    return (hg_point){(uint8_t)(page % HG_CLASS_PAGES), (uint8_t)(residue % HG_CLASS_COUNT)};
}

hg_point hg_point_project(int64_t n) {
    return point(hg_wrap(n, HG_CLASS_PAGES), hg_wrap(n, HG_CLASS_COUNT));
}

hg_point hg_point_add(hg_point a, hg_point b) {
    return point((uint64_t)a.page + b.page, (uint64_t)a.residue + b.residue);
}

hg_point hg_point_mul(hg_point a, hg_point b) {
    return point((uint64_t)a.page * b.page, (uint64_t)a.residue * b.residue);
}

hg_point hg_point_scale(int64_t k, hg_point a) { return hg_point_mul(hg_point_project(k), a); }

int64_t hg_point_lift(hg_point a, int64_t hint) {
    uint32_t down = (hg_wrap(hint, HG_CLASS_COUNT) + HG_CLASS_COUNT - a.residue % HG_CLASS_COUNT) %
                    HG_CLASS_COUNT;
    return (int64_t)((uint64_t)hint - down);
}

uint8_t hg_class_add(uint8_t a, uint8_t b) { return (uint8_t)((a + b) % HG_CLASS_COUNT); }

uint8_t hg_class_mul(uint8_t a, uint8_t b) { return (uint8_t)(a * b % HG_CLASS_COUNT); }

uint8_t hg_class_crush(uint8_t cls) { return cls & 1; }
