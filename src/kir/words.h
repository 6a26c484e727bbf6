/* The words of the kernel IR's text form, for the printer and the reader. Must not know: files,
 * diagnostics of other texts. */
#ifndef HG_KIR_WORDS_H
#define HG_KIR_WORDS_H

#include "kir/kir.h"

/* Lists of words, in the order of the enumerations that they name. */
typedef struct kir_words {
    const char *const *words;
    uint32_t count;
} kir_words;
extern const kir_words kir_space_words, kir_memory_words, kir_atomic_words, kir_slot_words,
    kir_input_words, kir_device_id_words, kir_uniformity_words, kir_fact_words, /* facts: of bits */
    kir_step_words; /* of kir_step_kind; names and arrays have none */
/* "?" outside of the list. */
const char *kir_word(const kir_words *list, uint64_t i);
/* The index of a word, or the count of the list. */
uint32_t kir_word_find(const kir_words *list, const char *text, size_t length);

/* A function that DERIVED or STEP names: the row's identifier in small letters. */
void kir_fn_print(hg_text *out, uint16_t fn);
bool kir_fn_find(const char *text, size_t length, uint16_t *fn);

/* How the arguments of a memory operation are divided: the handle (or the address of the device
 * form), the index, the values. */
typedef struct kir_access_parts {
    uint8_t handle, index; /* arguments of each: 0, 1, or 2 (low and high half) */
} kir_access_parts;
kir_access_parts kir_access_divide(const kir_module *m, const kir_value *v);
/* What mem.bytes and mem.bytes_wide are when the text does not say: the size of the type that is
 * moved. */
uint8_t kir_access_bytes(kir_op op, uint8_t type);
uint16_t kir_access_wide(const kir_module *m, kir_op op, uint8_t type, uint8_t bytes);
/* The type that a memory operation moves. first: index of its first value. */
uint8_t kir_access_type(const kir_value *v, uint8_t first);

/* A letter or _, then letters, digits, _. */
bool kir_is_plain_name(const char *name);

#endif
