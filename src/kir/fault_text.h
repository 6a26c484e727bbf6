/* Texts of the faults that a lane can have (semantics 8.6): the same words from every device.
 * Must not know: how a fault is found. */
#ifndef HG_KIR_FAULT_TEXT_H
#define HG_KIR_FAULT_TEXT_H

#include "kir/kir.h"

/* Codes behind those of lanes (kir_fault): F08 … F13. */
typedef enum kir_launch_fault {
    KIR_FAULT_TIMEOUT = 8,
    KIR_FAULT_RACE = 9,       /* with --check-races, a lane's; */
    KIR_FAULT_UNWRITTEN = 10, /* a lane read shared memory that nobody wrote */
    KIR_FAULT_CANCELLED = 11,
    KIR_FAULT_ROUNDS = 12,  /* more rounds of loops than the device runs */
    KIR_FAULT_COMPILER = 13 /* the driver's compiler takes longer than it may */
} kir_launch_fault;
/* Whether the launch as a whole ends with it, and no lane. */
static inline bool kir_fault_is_launch(uint8_t code) {
    return code == KIR_FAULT_TIMEOUT || code >= KIR_FAULT_CANCELLED;
}
/* HG_ERROR_EXECUTION_FAILED with this message and the code of such an end. */
hg_status kir_fail_launch(kir_launch_fault code, const char *format, ...) HG_PRINTF(2, 3);

/* offset: first byte of the access, exact (an index of 64 bits and a displacement) and maybe
 * negative; bytes: its size; limit: the memory's. */
void kir_fault_text_bounds(char *text, size_t size, bool pool, hg_i128 offset, hg_u128 bytes,
                           uint64_t limit);
void kir_fault_text_handle(char *text, size_t size, bool pool, uint64_t handle);
void kir_fault_text_align(char *text, size_t size, uint64_t offset);
/* Of a FAULT_IF: its own message with the values for its {} and, of signed numbers, {-}; else what
 * the code says. */
void kir_fault_text(char *text, size_t size, uint8_t code, const char *message,
                    const uint64_t values[KIR_FAULT_VALUES]);
void kir_fault_text_timeout(char *text, size_t size, uint64_t timeout_ms);

#endif
