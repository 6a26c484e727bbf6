/* What the builders of expansions share. */
#ifndef HG_PLAN_EXPAND_INTERNAL_H
#define HG_PLAN_EXPAND_INTERNAL_H

#include "plan/expand.h"
#include "kir/builder.h"

/* A module with an empty kernel function; b is failed when memory is out, and m may be NULL then. */
kir_module *expand_begin(kir_builder *b, const char *name);
/* The module, or NULL after failure. */
kir_module *expand_end(kir_builder *b, kir_module *m);
/* Input number i, declared at its first use: handles first, then values. */
kir_value *expand_input(kir_builder *b, uint32_t i, bool buffer);
kir_value *expand_id(kir_builder *b, hg_idname which, uint8_t type);
kir_value *expand_load(kir_builder *b, uint8_t type, uint32_t handle, kir_value *index);
void expand_store(kir_builder *b, uint32_t handle, kir_value *index, kir_value *value);

#endif
