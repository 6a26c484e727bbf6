/* Texts of the faults that a lane can have (semantics 8.6): the same words from every device.
 * Must not know: how a fault is found. */
#ifndef HG_KIR_FAULT_TEXT_H
#define HG_KIR_FAULT_TEXT_H

#include "kir/kir.h"

/* offset: first byte of the access, exact (an index of 64 bits and a displacement) and maybe negative; bytes: its size; limit: the memory's. */
void kir_fault_text_bounds(char *text, size_t size, bool pool, hg_i128 offset, hg_u128 bytes, uint64_t limit);
void kir_fault_text_handle(char *text, size_t size, bool pool, uint64_t handle);
void kir_fault_text_align(char *text, size_t size, uint64_t offset);
/* Of a FAULT_IF: its own message with the values for its {}, else what the code says. */
void kir_fault_text(char *text, size_t size, uint8_t code, const char *message, const uint64_t values[KIR_FAULT_VALUES]);
void kir_fault_text_timeout(char *text, size_t size, uint64_t timeout_ms);

#endif
