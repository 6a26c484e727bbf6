/* The layouts that cold.ll and the printer rely on. */
#include "jit/jit_internal.h"

#include <hologram/vector.h>
#include <stddef.h>

_Static_assert(sizeof(hgv_memory) == 24 && offsetof(hgv_memory, size) == 8 && offsetof(hgv_memory, valid) == 16, "hgv_memory");
_Static_assert(sizeof(hgv_site) == 40 && offsetof(hgv_site, pool) == 2 && offsetof(hgv_site, size) == 8 &&
                   offsetof(hgv_site, input) == 12 && offsetof(hgv_site, handle) == 24 && offsetof(hgv_site, limit) == 32,
               "hgv_site");
_Static_assert(offsetof(hgv_launch, inputs) == 0 && offsetof(hgv_launch, grid) == 48 && offsetof(hgv_launch, block) == 60 &&
                   offsetof(hgv_launch, fault) == 72 && offsetof(hgv_launch, resolve) == 80 && offsetof(hgv_launch, go_on) == 88 &&
                   offsetof(hgv_launch, stopped) == 104 && offsetof(hgv_launch, shared) == 128 &&
                   offsetof(hgv_launch, shared_step) == 152 && offsetof(hgv_launch, phase) == 168 && offsetof(hgv_launch, faulted) == 176,
               "hgv_launch");
