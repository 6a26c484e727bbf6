/* A device's fault record as the fault that every device reports: the words of kir/fault_text.h.
 * Must not know: programs. */
#include "kir/fault_text.h"
#include "runtime/dispatch.h"
#include <stdio.h>
#include <string.h>

static uint64_t wide(const uint32_t *words, int low) {
    return (uint64_t)words[low + 1] << 32 | words[low];
}

/* Which memory an access named: what the host knows of a slot, else what the lane wrote. */
typedef struct named {
    bool pool, valid;
    uint64_t handle, size;
} named;

static named name_of(const uint32_t *words, const hg_code *code, const kir_fault_site *site,
                     const hg_driver_launch *l) {
    uint64_t name = wide(words, KIR_FAULT_NAME);
    named n = {site->space == KIR_POOL, words[KIR_FAULT_VALID] != 0, name,
               wide(words, KIR_FAULT_LIMIT)};
    if (site->space == KIR_FLAT) {
        n.pool = name >> 63 != 0;
        n.handle = name & HG_MAX_HANDLE_INDEX;
    } else if (site->space == KIR_SHARED) {
        n = (named){.valid = true, .size = l->shared_bytes - l->shared_scratch};
    } else if (site->space == KIR_CLASS) {
        n = (named){.valid = true, .size = HG_MAX_CLASS_BYTES};
    } else if (site->slot >= 0 && (uint32_t)site->slot < code->slot_count) {
        const kir_slot *slot = &code->slots[site->slot];
        n.handle = slot->constant ? slot->handle : l->inputs[slot->input];
        n.valid = l->slots[site->slot].arena != NULL;
        n.size = l->slots[site->slot].size;
    }
    return n;
}

static void decode_access(const uint32_t *words, const hg_code *code, const kir_fault_site *site,
                          const hg_driver_launch *l, hg_driver_fault *fault) {
    named n = name_of(words, code, site, l);
    hg_i128 offset = (hg_i128)wide(words, KIR_FAULT_INDEX) + site->disp;
    if (!n.valid) {
        fault->code = KIR_FAULT_HANDLE;
        kir_fault_text_handle(fault->message, sizeof fault->message, n.pool, n.handle);
        return;
    }
    fault->offset = (uint64_t)offset;
    bool inside = offset >= 0 && site->bytes <= n.size && offset <= n.size - site->bytes;
    if (inside) {
        fault->code = KIR_FAULT_ALIGN;
        kir_fault_text_align(fault->message, sizeof fault->message, (uint64_t)offset);
        return;
    }
    fault->code = KIR_FAULT_BOUNDS;
    fault->limit = n.size;
    kir_fault_text_bounds(fault->message, sizeof fault->message, n.pool, offset, site->bytes,
                          n.size);
}

void hg_fault_decode(const uint32_t *words, const hg_code *code, const hg_driver_launch *launch,
                     hg_driver_fault *fault) {
    const kir_device_layout *layout = &code->layout;
    memset(fault, 0, sizeof *fault);
    fault->happened = true;
    fault->phase = wide(words, KIR_FAULT_PHASE);
    fault->lane = wide(words, KIR_FAULT_LANE);
    fault->inst = UINT32_MAX;
    if (words[KIR_FAULT_SITE] >= layout->sites.count) {
        snprintf(fault->message, sizeof fault->message, "fault");
        return;
    }
    const kir_fault_site *site = &layout->sites.data[words[KIR_FAULT_SITE]];
    fault->code = site->code;
    fault->operand = site->operand;
    fault->inst = site->inst;
    const uint64_t values[KIR_FAULT_VALUES] = {wide(words, KIR_FAULT_INDEX),
                                               wide(words, KIR_FAULT_NAME)};
    if (site->bytes)
        decode_access(words, code, site, launch, fault);
    else
        kir_fault_text(fault->message, sizeof fault->message, site->code, site->message, values);
}
