/* Shared by the files that print the device form in a language of the C family. */
#ifndef HG_EMIT_EMIT_DEVICE_C_INTERNAL_H
#define HG_EMIT_EMIT_DEVICE_C_INTERNAL_H

#include "emit/emit_c_internal.h"

/* Marks: what a module does with each slot, then with group memory, the record and ids. OUTER: in a
 * function that is not the kernel. */
enum { EMIT_DEVICE_USED = 1, EMIT_DEVICE_WRITTEN = 2, EMIT_DEVICE_OUTER = 4 };

/* ---- emit_device_c_memory.c ---- */
uint64_t emit_device_c_group_mark(const c_printer *p);
uint64_t emit_device_c_record_mark(const c_printer *p);
uint64_t emit_device_c_id_mark(const c_printer *p, uint64_t id);
uint64_t emit_device_c_mark_count(const c_printer *p);
/* The slot or group memory that v reaches, where it is an access; used: marks besides WRITTEN. */
void emit_device_c_mark_access(c_printer *p, const kir_value *v, uint8_t used);
void emit_device_c_slot_name(const kir_module *m, hg_text *out, uint64_t slot);
void emit_device_c_byte_pointer(c_printer *p, uint64_t mark); /* type of a pointer to a slot or to
                                                                 group memory, up to its "*" */
bool emit_device_c_memory(c_printer *p, const kir_value *v);  /* LOAD STORE ATOMIC FENCE BARRIER;
                                                                 false: another */
void emit_device_c_fences(c_printer *p);                      /* the functions that fences call */

/* ---- emit_device_c_wide.c ---- */
/* Marks in scratch; widen false: nothing is widened. False: out of memory. Requires kir_number */
bool emit_device_c_widen(const kir_function *f, bool widen);
bool emit_device_c_is_wide(const kir_value *v);
void emit_device_c_wide_name(c_printer *p, const kir_value *v); /* as an operand of 64 bits */
bool emit_device_c_wide_statement(c_printer *p, const kir_value *v);

#endif
