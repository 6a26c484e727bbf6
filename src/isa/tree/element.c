/* Elements of arrays: an index for each axis, or one that counts in row order, and what checks them
 * (docs/design/arrays.md).
 * Must not know: syntax, registers' numbers. */
#include "isa/tree/tree.h"

#include <stdio.h>

static void wrong_count(hg_assembler *a, const hg_token *at, const hg_tree_array *array,
                        uint32_t count) {
    const hg_token *name = &array->name;
    if (array->has_extents)
        hg_asm_error(a, "N04", at,
                     array->rank > 1 ? "an index for each axis, or one that counts elements in row "
                                       "order"
                                     : "one index counts elements",
                     "'%.*s' has %u ax%s, got %u indices", hg_token_shown(name), name->text,
                     (unsigned)array->rank, array->rank == 1 ? "is" : "es", (unsigned)count);
    else
        hg_asm_error(a, "N04", at, "declare them, as in [rows, columns], or count elements",
                     "'%.*s' is declared without extents and has one index, got %u",
                     hg_token_shown(name), name->text, (unsigned)count);
}

/* ---- what is known now ---- */

static bool known_index(hg_assembler *a, uint32_t node, hg_i128 *number) {
    hg_constant c;
    return hg_tree_known(a, node, &c) && hg_asm_constant_integer(a, &c, number);
}

static bool all_known(const hg_assembler *a, const hg_tree_array *array, const uint32_t *indices,
                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!hg_tree_is_number(a, indices[i])) return false;
    return !array->has_extents || array->known == (1u << array->rank) - 1;
}

/* The number of elements along axis i, or in all; 0 where that is no number of 64 bits. */
static uint64_t extent_of(const hg_tree_array *array, uint32_t count, uint32_t i) {
    if (count == array->rank && count) return array->extents[i];
    uint64_t all = 1;
    for (uint32_t k = 0; k < array->rank; k++)
        if (!hg_mul_u64(all, array->extents[k], &all)) return 0;
    return all;
}

/* Which element it is, in row order; *inside: it is one of them. */
static bool known_element(hg_assembler *a, const hg_tree_array *array, const uint32_t *indices,
                          uint32_t count, hg_i128 *element, bool *inside) {
    *element = 0;
    *inside = true;
    for (uint32_t i = 0; i < count; i++) {
        hg_i128 index;
        if (!known_index(a, indices[i], &index)) return false;
        uint64_t extent = array->has_extents ? extent_of(array, count, i) : 0;
        if (array->has_extents) *inside = *inside && index >= 0 && index < (hg_i128)extent;
        if (!*inside) return true;
        *element = *element * (hg_i128)extent + index;
    }
    return true;
}

/* ---- indices ---- */

static bool is_index_type(uint8_t type) {
    return type < HG_TYPE_COUNT && !hg_type_is_float((hg_type)type) &&
           hg_type_size_bytes((hg_type)type) <= 8;
}

/* A number is unsigned where it may be. */
static bool settle_index(hg_assembler *a, uint32_t index) {
    hg_i128 number;
    if (hg_tree_is_number(a, index)) {
        if (!known_index(a, index, &number)) return false;
        uint8_t type = number < 0 ? HG_TYPE_I64 : number <= UINT32_MAX ? HG_TYPE_U32 : HG_TYPE_U64;
        if (number >= INT64_MIN && number <= (hg_i128)UINT64_MAX)
            return hg_tree_fit(a, index, type, "the index");
        hg_asm_error(a, "S05", &hg_tree_at(a, index)->token, NULL,
                     "an index is a number of at most 64 bits");
        return false;
    }
    if (!hg_tree_settle(a, index)) return false;
    uint8_t has = hg_tree_type(a, index);
    if (is_index_type(has)) return true;
    hg_asm_error(a, "V03", &hg_tree_at(a, index)->token, "convert it: u64(…)",
                 "type mismatch: an index is an integer of at most 64 bits, not %s",
                 hg_tree_type_name(has));
    return false;
}

/* Of axis i, behind those in front of it. */
static uint32_t check_axis(hg_assembler *a, const hg_tree_array *array, const uint32_t *indices,
                           uint32_t count, uint32_t i, uint32_t before) {
    hg_tree_node n = hg_tree_plain(HG_TREE_AXIS, HG_TYPE_U64, &hg_tree_at(a, indices[i])->token);
    n.condition = (uint8_t)(count == array->rank ? i : HG_ALL_AXES);
    n.at.address = array->address;
    n.reg = array->handle;
    n.at.extent = array->declared ? 0 : extent_of(array, count, i);
    n.is.acting = true;
    n.count = i ? 2 : 1;
    n.argument[0] = i ? before : indices[i];
    n.argument[1] = indices[i];
    return hg_tree_add(a, n);
}

static bool settle_indices(hg_assembler *a, const uint32_t *indices, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!settle_index(a, indices[i])) return false;
    return true;
}

/* ---- the element ---- */

/* At a byte that is known. */
static uint32_t known_place(hg_assembler *a, hg_tree_node n, uint64_t bytes, hg_i128 element,
                            const uint32_t *indices, uint32_t count) {
    hg_i128 most = INT64_MAX / (hg_i128)bytes;
    if (element > most || element < -most) {
        hg_asm_error(a, "S05", &hg_tree_at(a, indices[0])->token, NULL,
                     "displacement of 2^63 bytes or more");
        return HG_TREE_BAD;
    }
    n.at.address.disp += (int64_t)(element * (hg_i128)bytes);
    for (uint32_t i = 0; i < count; i++) hg_tree_at(a, indices[i])->is.operand = true;
    return hg_tree_add(a, n);
}

uint32_t hg_tree_element(hg_assembler *a, const hg_token *at, const hg_tree_array *array,
                         const uint32_t *indices, uint32_t count) {
    if (count != 1 && !(array->has_extents && count == array->rank)) {
        wrong_count(a, at, array, count);
        return HG_TREE_BAD;
    }
    for (uint32_t i = 0; i < count; i++)
        if (indices[i] == HG_TREE_BAD) return HG_TREE_BAD;
    hg_tree_node n = hg_tree_plain(HG_TREE_ELEMENT, array->type, at);
    uint64_t bytes = array->counts_bytes ? 1 : hg_type_size_bytes((hg_type)array->type);
    hg_i128 element;
    bool inside = false;
    n.at.address = array->address;
    n.reg = array->handle;
    n.is.acting = true;
    if (all_known(a, array, indices, count) &&
        !known_element(a, array, indices, count, &element, &inside))
        return HG_TREE_BAD;
    if (inside) return known_place(a, n, bytes, element, indices, count);
    if (!settle_indices(a, indices, count)) return HG_TREE_BAD;
    uint32_t index = indices[0];
    for (uint32_t i = 0; i < count && array->has_extents && index != HG_TREE_BAD; i++)
        index = check_axis(a, array, indices, count, i, index);
    if (index == HG_TREE_BAD) return HG_TREE_BAD;
    n.count = 1;
    n.argument[0] = index;
    n.at.checked = array->is_checked;
    n.at.check = array->check;
    n.at.address.has_index = 1;
    n.at.address.scale = (uint16_t)(bytes == 1 ? 0 : bytes);
    return hg_tree_add(a, n);
}
