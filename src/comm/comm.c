/* Communicators of the public interface: making and ending them, what calls may say.
 * Must not know: how a call is carried out. */
#include "comm/comm.h"
#include "base/fork.h"
#include "base/sized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMM_PROVIDER(name) extern const comm_provider comm_provider_##name;
#include "comm/comms.def"
static const comm_provider *const providers[] = {
#define COMM_PROVIDER(name) &comm_provider_##name,
#include "comm/comms.def"
};

/* ---- making and ending ---- */

static void free_comm(hg_comm *c) {
    hg_mutex_destroy(&c->lock);
    hg_cond_destroy(&c->changed);
    hg_free(c->calls.sent);
    hg_free(c->calls.received);
    hg_free(c->memory.transfers);
    hg_free_aligned(c->memory.firsts);
    hg_free_aligned(c->memory.window);
    hg_free(c);
}

/* With the group, which is the communicator's when this is HG_OK. */
static hg_status make_comm(const comm_provider *provider, comm_group *group, hg_backend *backend,
                           uint32_t rank, uint32_t size, hg_comm **comm) {
    hg_comm *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    uint64_t timeout = hg_backend_timeout_ms(backend);
    c->provider = provider;
    c->group = group;
    c->backend = backend;
    c->rank = rank;
    c->size = size;
    c->process = hg_fork_count;
    c->references = 1;
    c->timeout_ms = timeout ? timeout : 30000;
    hg_mutex_init(&c->lock);
    hg_cond_init(&c->changed);
    c->calls.sent = hg_calloc(size, sizeof *c->calls.sent);
    c->calls.received = hg_calloc(size, sizeof *c->calls.received);
    c->memory.transfers = hg_calloc(size, 4 * sizeof *c->memory.transfers);
    c->memory.firsts = hg_calloc_aligned(((size_t)size + 1) * COMM_FIRST_BYTES, 64);
    if (c->calls.sent && c->calls.received && c->memory.transfers && c->memory.firsts) {
        *comm = c;
        return HG_OK;
    }
    free_comm(c);
    return hg_fail_memory();
}

void comm_release(hg_comm *c) {
    if (hg_atomic_sub_fetch(&c->references, 1, HG_ACQ_REL) == 0) free_comm(c);
}

void hg_comm_destroy(hg_comm *c) {
    HG_ENTRY;
    if (!c || c->process != hg_fork_count) return; /* in a forked child it is the parent's */
    comm_stop(c);
    comm_device_free(c);
    c->provider->close(c->group);
    c->group = NULL; /* contexts may have the rest */
    comm_release(c);
}

/* The last provider of the table that they are for: threads are for all. */
static hg_status open_local(hg_backend *const *backends, uint32_t ranks,
                            const comm_provider **provider, comm_group **ends) {
    ends[0] = NULL;
    for (size_t i = HG_COUNT_OF(providers); i-- > 0 && !ends[0];) {
        *provider = providers[i];
        if (providers[i]->open_local) HG_TRY(providers[i]->open_local(backends, ranks, ends));
    }
    return HG_OK;
}

hg_status hg_comm_create_local(hg_backend *const *backends, uint32_t ranks, hg_comm **comms) {
    HG_ENTRY;
    if (!backends) return hg_null_argument("backends");
    if (!comms) return hg_null_argument("comms");
    if (ranks == 0 || ranks > COMM_MOST_LOCAL)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u ranks, expected 1 to %d", (unsigned)ranks,
                       COMM_MOST_LOCAL);
    for (uint32_t i = 0; i < ranks; i++)
        if (!backends[i]) return hg_null_argument("a backend");
    comm_group *ends[COMM_MOST_LOCAL];
    const comm_provider *provider;
    HG_TRY(open_local(backends, ranks, &provider, ends));
    hg_status status = HG_OK;
    uint32_t made = 0;
    for (; made < ranks; made++) {
        status = make_comm(provider, ends[made], backends[made], made, ranks, &comms[made]);
        if (status != HG_OK) break;
    }
    if (status == HG_OK) return HG_OK;
    hg_error error = *hg_error_record();
    for (uint32_t i = 0; i < ranks; i++) {
        provider->close(ends[i]);
        if (i < made) free_comm(comms[i]);
        comms[i] = NULL;
    }
    *hg_error_record() = error;
    return status;
}

static const comm_provider *find_provider(const char *name) {
    bool chosen = strcmp(name, "auto") == 0;
    for (size_t i = 0; i < HG_COUNT_OF(providers); i++)
        if (chosen ? providers[i]->launched() : strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
}

bool hg_comm_is_launched(const char *provider) {
    HG_ENTRY;
    const comm_provider *p = provider ? find_provider(provider) : NULL;
    return p && p->launched();
}

hg_status hg_comm_create(const char *provider, hg_backend *backend, hg_comm **comm) {
    HG_ENTRY;
    if (!provider) return hg_null_argument("provider");
    if (!backend) return hg_null_argument("backend");
    if (!comm) return hg_null_argument("comm");
    *comm = NULL;
    const comm_provider *p = find_provider(provider);
    if (!p)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "there is no provider of communicators '%s' (auto, mpi, threads, nccl)",
                       provider);
    comm_group *group;
    uint32_t rank, size;
    HG_TRY(p->open(backend, &group, &rank, &size));
    hg_status status = make_comm(p, group, backend, rank, size, comm);
    if (status != HG_OK) p->close(group);
    return status;
}

uint32_t hg_comm_rank(const hg_comm *c) {
    HG_ENTRY;
    return c ? c->rank : UINT32_MAX;
}

uint32_t hg_comm_size(const hg_comm *c) {
    HG_ENTRY;
    return c ? c->size : 0;
}

const char *hg_comm_provider(const hg_comm *c) {
    HG_ENTRY;
    return c ? c->provider->name : "";
}

/* NULL, or of a process that forked. */
static hg_status check_comm(const hg_comm *c) {
    if (!c) return hg_null_argument("comm");
    if (c->process != hg_fork_count) return comm_lost("the communicator");
    return c->group ? HG_OK : hg_fail(HG_ERROR_INVALID_ARGUMENT, "the communicator is destroyed");
}

hg_status hg_comm_set_timeout(hg_comm *c, uint64_t timeout_ms) {
    HG_ENTRY;
    HG_TRY(check_comm(c));
    if (timeout_ms == 0 || timeout_ms > UINT64_C(1) << 40)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "a timeout of %llu ms, expected 1 to 2^40",
                       (unsigned long long)timeout_ms);
    hg_mutex_lock(&c->lock);
    c->timeout_ms = timeout_ms;
    hg_mutex_unlock(&c->lock);
    return HG_OK;
}

static uint64_t timeout_ms(hg_comm *c) {
    hg_mutex_lock(&c->lock);
    uint64_t ms = c->timeout_ms;
    hg_mutex_unlock(&c->lock);
    return ms;
}

/* ---- calls ---- */

static hg_status check_kind(const hg_comm *c, const hg_comm_call *call) {
    if ((uint32_t)call->kind > HG_COMM_BARRIER)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u is no kind of call", (unsigned)call->kind);
    if (call->kind == HG_COMM_BARRIER) return HG_OK;
    if ((uint32_t)call->type >= HG_TYPE_COUNT)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u is no element type", (unsigned)call->type);
    if (comm_combines(call->kind) && !comm_operation_exists(call->operation, call->type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "operation %u does not exist for %s",
                       (unsigned)call->operation, hg_type_name(call->type));
    bool point = !comm_is_collective(call->kind);
    if ((point || comm_has_root(call->kind)) && call->peer >= c->size)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "rank %u of %u", (unsigned)call->peer,
                       (unsigned)c->size);
    if (point && call->peer == c->rank)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "rank %u sends to itself or receives from itself",
                       (unsigned)c->rank);
    return HG_OK;
}

hg_status comm_describe(hg_comm *c, const hg_comm_call *given, comm_op *op) {
    static const hg_sized rules = HG_SIZED(hg_comm_call, output_offset,
                                           "set it to sizeof(hg_comm_call)");
    HG_TRY(check_comm(c));
    if (!given) return hg_null_argument("call");
    memset(op, 0, sizeof *op);
    op->call.size = sizeof op->call;
    HG_TRY(hg_sized_take(&rules, given, &op->call));
    hg_comm_call *call = &op->call;
    HG_TRY(check_kind(c, call));
    if (call->kind == HG_COMM_BARRIER) {
        call->count = 0;
        call->type = HG_TYPE_U8;
    }
    if (!comm_combines(call->kind)) call->operation = HG_COMM_ADD;
    if (comm_is_collective(call->kind) && !comm_has_root(call->kind)) call->peer = 0;
    op->comm = c;
    op->among = (comm_members){.own = c->rank, .count = c->size};
    op->size = hg_type_size_bytes(call->type);
    if (!hg_mul_u64(call->count, op->size, &op->block)) op->block = UINT64_MAX;
    op->own = (comm_header){.count = call->count,
                            .rank = c->rank,
                            .peer = call->peer,
                            .kind = (uint8_t)call->kind,
                            .type = (uint8_t)call->type,
                            .operation = (uint8_t)call->operation};
    return HG_OK;
}

static hg_status keep_waits(comm_op *op, hg_event *const *waits, size_t count) {
    if (!count) return HG_OK;
    if (!waits) return hg_null_argument("waits");
    for (size_t i = 0; i < count; i++)
        if (!waits[i]) return hg_null_argument("an event");
    op->waits = hg_calloc(count, sizeof *op->waits);
    if (!op->waits) return hg_fail_memory();
    for (; op->wait_count < count; op->wait_count++) {
        op->waits[op->wait_count] = waits[op->wait_count];
        hg_event_retain(waits[op->wait_count]);
    }
    return HG_OK;
}

hg_status hg_comm_start(hg_comm *c, const hg_comm_call *call, hg_event *const *waits,
                        size_t wait_count, hg_event **event) {
    HG_ENTRY;
    if (!event) return hg_null_argument("event");
    *event = NULL;
    comm_op *op = hg_calloc(1, sizeof *op);
    if (!op) return hg_fail_memory();
    hg_status status = comm_describe(c, call, op);
    if (status == HG_OK) status = keep_waits(op, waits, wait_count);
    hg_event *made = status == HG_OK ? hg_event_create(c->backend, false) : NULL;
    if (status == HG_OK && !made) status = hg_fail_memory();
    if (status == HG_OK) {
        op->event = made;
        hg_event_retain(made); /* one is the caller's, one the engine's */
        status = comm_submit(c, op);
        if (status == HG_OK) {
            *event = made;
            return HG_OK;
        }
        hg_event_release(made);
    }
    hg_event_release(made);
    comm_op_free(op);
    return status;
}

hg_status hg_comm_run(hg_comm *c, const hg_comm_call *call) {
    HG_ENTRY;
    comm_op op;
    HG_TRY(comm_describe(c, call, &op));
    return comm_submit(c, &op);
}

/* ---- parts ---- */

typedef struct claim {
    uint32_t color, key, rank;
} claim;

static int by_key(const void *a, const void *b) {
    const claim *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static uint64_t deadline_ns(hg_comm *c) { return hg_clock_ns() + timeout_ms(c) * 1000000; }

/* The communicator of those members; every rank that goes on calls this, who has no part too. */
static hg_status make_part(hg_comm *c, const comm_part *wanted, hg_comm **part) {
    uint32_t own = 0;
    comm_group *group = NULL;
    HG_TRY(c->provider->split(c->group, wanted, deadline_ns(c), &group));
    if (!wanted->count) return HG_OK;
    while (wanted->members[own] != c->rank) own++;
    hg_status status = make_comm(c->provider, group, c->backend, own, wanted->count, part);
    if (status != HG_OK)
        c->provider->close(group);
    else
        (*part)->timeout_ms = timeout_ms(c);
    return status;
}

static hg_status split_by(hg_comm *c, claim own, claim *all, uint32_t *members, hg_comm **part) {
    uint32_t count = 0;
    hg_comm_call call = {.size = sizeof call,
                         .kind = HG_COMM_ALL_GATHER,
                         .type = HG_TYPE_U32,
                         .count = sizeof own / sizeof(uint32_t),
                         .input = &own,
                         .output = all};
    comm_op op;
    HG_TRY(comm_describe(c, &call, &op));
    HG_TRY(comm_submit(c, &op));
    qsort(all, c->size, sizeof *all, by_key);
    for (uint32_t i = 0; i < c->size; i++)
        if (all[i].color == own.color && own.color != HG_COMM_NO_COLOR)
            members[count++] = all[i].rank;
    return make_part(c, &(comm_part){members, count, op.own.sequence}, part);
}

hg_status hg_comm_split(hg_comm *c, uint32_t color, uint32_t key, hg_comm **part) {
    HG_ENTRY;
    HG_TRY(check_comm(c));
    if (!part) return hg_null_argument("part");
    *part = NULL;
    claim *all = hg_calloc(c->size, sizeof *all);
    uint32_t *members = hg_calloc(c->size, sizeof *members);
    hg_status status = all && members
                           ? split_by(c, (claim){color, key, c->rank}, all, members, part)
                           : hg_fail_memory();
    hg_free(all);
    hg_free(members);
    return status;
}

/* ---- when ranks fail ---- */

hg_status hg_comm_revoke(hg_comm *c) {
    HG_ENTRY;
    HG_TRY(check_comm(c));
    char why[64];
    snprintf(why, sizeof why, "the communicator is revoked by rank %u", (unsigned)c->rank);
    hg_mutex_lock(&c->lock);
    c->revoked = true;
    hg_atomic_store(&c->waiting, 1, HG_RELEASE);
    hg_mutex_unlock(&c->lock);
    c->provider->revoke(c->group, why);
    c->provider->wake(c->group);
    return HG_OK;
}

static hg_status agree(hg_comm *c, uint64_t flags, comm_agreement *agreed) {
    return c->provider->agree(c->group, deadline_ns(c), flags, agreed);
}

hg_status hg_comm_agree(hg_comm *c, uint64_t *flags) {
    HG_ENTRY;
    comm_agreement agreed;
    HG_TRY(check_comm(c));
    if (!flags) return hg_null_argument("flags");
    HG_TRY(agree(c, *flags, &agreed));
    *flags = agreed.flags;
    hg_free(agreed.members);
    return HG_OK;
}

hg_status hg_comm_shrink(hg_comm *c, hg_comm **rest) {
    HG_ENTRY;
    comm_agreement agreed;
    HG_TRY(check_comm(c));
    if (!rest) return hg_null_argument("rest");
    *rest = NULL;
    HG_TRY(agree(c, 0, &agreed));
    hg_status status = make_part(
        c, &(comm_part){agreed.members, agreed.count, COMM_SHRUNK | agreed.number}, rest);
    hg_free(agreed.members);
    return status;
}
