/* F32 fused multiply-adds where a target has neither them nor F64: a part of the pass `float`. */
#ifndef HG_KIR_LEGALISE_FUSED_H
#define HG_KIR_LEGALISE_FUSED_H

#include "base/base.h"
#include "kir/legalise/legalise_internal.h"

typedef struct fused_batch fused_batch;

/* Of the function that is being written: multiply-adds that are written together at the place of
 * the last one, and the variables that are set to their results behind them. The state of the
 * pass; zero before. */
typedef struct fused_state {
    HG_VEC(const kir_value *) members, sets;
    HG_VEC(fused_batch) batches;
    uint32_t *of; /* by id of a member or a set: its batch, from 1 on */
    bool failed;
} fused_state;

void fused_begin(rewrite_pass *p);         /* at the start of a function */
void fused_end(fused_state *s);            /* frees it */
bool fused_by_sums(const rewrite_pass *p); /* whether the target's sums and products serve */
bool fused_lower(rewrite_pass *p, const kir_value *v); /* false: v belongs to no batch */

#endif
