/* Executables of a backend, each made once: found by the BLAKE3 of program hash, signature and
 * instrumentation; the least recently used goes.
 * Must not know: how an executable is made. */
#include "runtime/binding.h"
#include "runtime/client.h"
#include "kir/fault_text.h"
#include <string.h>

static void find_key(const hg_program *program, const hg_signature *signature, uint64_t max_steps,
                     uint8_t key[32]) {
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, hg_program_hash(program), 32);
    hg_blake3_update(&h, signature->types, sizeof signature->types);
    hg_blake3_update(&h, &max_steps, sizeof max_steps);
    hg_blake3_final(&h, key);
}

static bool names_the_same(const hg_program *a, const hg_program *b) {
    if (a->register_name_count != b->register_name_count) return false;
    for (uint32_t i = 0; i < a->register_name_count; i++)
        if (hg_compare_register_names(&a->register_names[i], &b->register_names[i]) != 0)
            return false;
    return true;
}

/* Faults name arrays of private memory by metadata. */
static bool notes_the_same(const hg_program *a, const hg_program *b) {
    if (a->meta_count != b->meta_count) return false;
    for (uint32_t i = 0; i < a->meta_count; i++) {
        const hg_meta *x = &a->meta[i], *y = &b->meta[i];
        if (strcmp(x->key, y->key) != 0 || x->value_length != y->value_length ||
            memcmp(x->value, y->value, x->value_length) != 0)
            return false;
    }
    return true;
}

/* Programs of one hash may differ in what they say about themselves. */
static bool says_the_same(const hg_program *a, const hg_program *b) {
    if (a == b) return true;
    size_t size = a->inst_count * sizeof *a->lines;
    if (strcmp(a->name, b->name) != 0 || !a->lines != !b->lines || !names_the_same(a, b))
        return false;
    if (a->private_bytes && !notes_the_same(a, b)) return false;
    if (!a->lengths != !b->lengths || (a->lengths && memcmp(a->lengths, b->lengths, size) != 0))
        return false;
    return !a->lines ||
           (memcmp(a->lines, b->lines, size) == 0 && memcmp(a->columns, b->columns, size) == 0);
}

/* Retained; NULL: none. Only with the same places in the source text and names, which the key
 * leaves out. */
static hg_executable *find(hg_backend *b, const uint8_t key[32], const hg_program *program) {
    hg_executable *found = NULL;
    hg_mutex_lock(&b->cache.lock);
    for (uint64_t i = 0; i < b->cache.entries.count && !found; i++) {
        if (memcmp(b->cache.entries.data[i].key, key, 32) != 0 ||
            !says_the_same(b->cache.entries.data[i].executable->program, program))
            continue;
        b->cache.entries.data[i].used = ++b->cache.clock;
        found = hg_executable_retain(b->cache.entries.data[i].executable);
    }
    hg_mutex_unlock(&b->cache.lock);
    return found;
}

/* The entry of that key, else the one used longest ago. */
static uint64_t replaced(const hg_backend *b, const uint8_t key[32], bool *same) {
    uint64_t at = 0;
    *same = false;
    for (uint64_t i = 0; i < b->cache.entries.count && !*same; i++) {
        *same = memcmp(b->cache.entries.data[i].key, key, 32) == 0;
        if (*same || b->cache.entries.data[i].used < b->cache.entries.data[at].used) at = i;
    }
    return at;
}

/* Without memory for it the entry is simply not cached. */
static void add(hg_backend *b, const uint8_t key[32], hg_executable *e) {
    hg_executable *dropped = NULL;
    if (b->config.cache_programs == 0) return;
    hg_mutex_lock(&b->cache.lock);
    bool same;
    uint64_t at = replaced(b, key, &same);
    hg_cache_entry *entry;
    if (!same && b->cache.entries.count < b->config.cache_programs) {
        entry = hg_vec_push(&b->cache.entries);
    } else {
        entry = &b->cache.entries.data[at];
        dropped = entry->executable;
    }
    if (entry) {
        memcpy(entry->key, key, 32);
        entry->executable = hg_executable_retain(e);
        entry->used = ++b->cache.clock;
    }
    hg_mutex_unlock(&b->cache.lock);
    hg_executable_destroy(dropped);
}

uint32_t hg_executables_kept(const hg_backend *b) {
    uint32_t count = 0;
    for (uint64_t i = 0; i < b->cache.entries.count; i++)
        count += hg_atomic_load(&b->cache.entries.data[i].executable->references, HG_ACQUIRE) == 1;
    return count;
}

void hg_executables_forget(hg_backend *b) {
    for (uint64_t i = 0; i < b->cache.entries.count; i++)
        hg_executable_destroy(b->cache.entries.data[i].executable);
    hg_vec_free(&b->cache.entries);
}

/* ---- the ways to one ---- */

/* Programs with .param lines know all other registers themselves; setting one of those is an error
 * of the binding. */
static void keep_specials(const hg_program *program, hg_signature *signature) {
    if (program->param_count) memset(signature->types, HG_TYPE_OMITTED, HG_FIRST_SPECIAL);
}

/* The time of a launch was over before it began. */
static hg_status late(uint64_t timeout_ms) {
    char text[64];
    kir_fault_text_timeout(text, sizeof text, timeout_ms);
    hg_status status = kir_fail_launch(KIR_FAULT_TIMEOUT, "%s", text);
    hg_error_record()->step = 0;
    return status;
}

hg_status hg_executable_get(hg_backend *b, const hg_program *program, const hg_signature *signature,
                            uint64_t max_steps, uint64_t timeout_ms, hg_executable **executable) {
    uint8_t key[32];
    HG_TRY(hg_backend_alive(b));
    hg_signature kept = *signature;
    keep_specials(program, &kept);
    find_key(program, &kept, max_steps, key);
    *executable = find(b, key, program);
    if (*executable) return HG_OK;
    hg_status status = hg_executable_make(b, program, &kept, max_steps, hg_deadline(timeout_ms),
                                          executable);
    if (status != HG_OK)
        return strcmp(hg_error_record()->code, "F08") == 0 ? late(timeout_ms) : status;
    add(b, key, *executable);
    return HG_OK;
}

hg_status hg_executable_create(hg_backend *b, const hg_program *program,
                               hg_executable **executable) {
    HG_ENTRY;
    return hg_executable_create_for(b, program, NULL, NULL, executable);
}

hg_status hg_executable_create_for(hg_backend *b, const hg_program *program,
                                   const hg_launch *launch, const hg_params *params,
                                   hg_executable **executable) {
    HG_ENTRY;
    hg_launch own = HG_LAUNCH_INIT;
    hg_signature signature;
    if (!b) return hg_null_argument("backend");
    if (!program) return hg_null_argument("program");
    if (!executable) return hg_null_argument("executable");
    if (launch) HG_TRY(hg_launch_take(launch, &own));
    hg_params_signature(params, &signature);
    return hg_executable_get(b, program, &signature, own.max_steps, hg_timeout_of(b, &own),
                             executable);
}
