/* A backend: an open device and what all its contexts share; how one is chosen, configured, probed
 * and lost in a forked child.
 * Must not know: what a program is, which driver it runs on. */
#ifndef HG_RUNTIME_BACKEND_H
#define HG_RUNTIME_BACKEND_H

#include "base/fork.h"
#include "base/handles.h"
#include "driver/trial.h"
#include "probe/probe.h"
#include "runtime/children.h"
#include "runtime/client.h"
#include "runtime/dispatch.h"
#include "runtime/order.h"
#include "runtime/progress.h"

typedef struct hg_cache_entry {
    uint8_t key[32];
    hg_executable *executable;
    uint64_t used;
} hg_cache_entry;

typedef struct hg_recent hg_recent; /* calls of programs that came before; recent.c */

enum { HG_BACKEND_LOCKS = 8 };

struct hg_backend {
    const hg_driver *driver;
    struct {
        char *cache;   /* of blobs on disk; "": none */
        char *profile; /* config.profile_file, copied; NULL: none */
    } paths;
    hg_device *device;
    const hg_device_caps *caps;
    hg_device_caps own_caps; /* what caps points to: what the driver promises, less what the probe
                                found wrong */
    hg_config config;
    bool adopted;        /* the device is the host's */
    bool on_host;        /* its memory is the host's */
    bool prepares_first; /* pretends: bindings are made ready when they are made */
    bool trace;          /* kernels tell a debugger what they do; set before the first launch */
    struct {
        hg_background *background; /* NULL: kernels get no better code while they run */
        hg_compiler *compiler;     /* the device's, which it closes; NULL: not opened yet */
        hg_code_ear ear;
    } code;
    hg_profile *profile; /* NULL: off */
    uint32_t queues;     /* made so far; atomic */
    hg_budget budget;    /* of everything that is made of its memory */
    hg_suballocator memory;
    hg_dispatch_device dispatch_device;
    hg_handles buffers, pools; /* of hg_memory */
    hg_context *context;       /* default */
    struct {
        hg_mutex lock; /* of all of it */
        HG_VEC(hg_cache_entry) entries;
        uint64_t clock;
        struct hg_tables *tables; /* of programs */
    } cache;
    struct {
        hg_mutex lock;              /* of both */
        uint64_t launches;          /* that look up handles while they run */
        struct hg_memory *deferred; /* freed meanwhile; goes when the last of them ends */
    } guard;
    struct {
        struct hg_recent *calls; /* that came before, for hg_backend_execute_program; NULL: none.
                                    Atomic */
        void (*forget)(hg_backend *b, bool pool, uint64_t handle); /* they let go of a handle that
                                                                      is dead; NULL: there are none.
                                                                      Atomic */
    } recent;
    struct {
        hg_mutex lock;
        hg_piece piece; /* made when first needed */
        void *left; /* its bytes where no call could wait until the device has them; NULL: it has.
                       Atomic */
        int there;  /* atomic: it has, by a run */
    } characters;   /* the character table for kernels */
    struct {
        hg_mutex lock;
        hg_pool pools[10]; /* by width, from 8 bits; 0: not asked for yet */
    } types;
    struct {
        hg_mutex lock;
        struct hg_expansion *first;
    } expansions;          /* compiled kernels of whole-array steps */
    library_tiles tiles;   /* of its library programs; tiles.c */
    hg_progress *progress; /* queues without a thread, callbacks of events */
    hg_monitor monitor;    /* protects the orders of its contexts and their spare streams */
    hg_children children;
    uint64_t number; /* of the backends that are alive: memory.c */
    struct {
        hg_fork_lock locks[HG_BACKEND_LOCKS];
        bool lost;        /* in a forked child: the device is the parent's */
        uint32_t process; /* hg_fork_count of where it was made */
    } fork;
};

/* ---- config.c ---- */
/* The directory that cache_dir means, to be freed; "" for none. */
hg_status hg_config_cache_path(const hg_config *config, char **path) HG_NODISCARD;
/* The same as the environment says; "" where that is malformed, which is an error of whoever opens
 * a backend with it. */
hg_status hg_config_env_cache_path(char **path) HG_NODISCARD;
/* How drivers' libraries are tried, as the environment says. The path is borrowed. */
hg_status hg_config_trial(const char *cache_path, hg_trial_options *options) HG_NODISCARD;

/* What callers fill may be of an older or a newer header (base/sized.h): *own gets this library's
 * form of it. */
hg_status hg_config_take(const hg_config *given, hg_config *own) HG_NODISCARD;

/* ---- open.c ---- */
/* Openings of this process that were given up while a driver was at work, which goes on. */
uint32_t hg_openings_left(void);

/* ---- backend_select.c ---- */
/* Whether a text names a backend, with a device here or without; known: the names there are. */
bool hg_backend_is_name(const char *text, char known[256]);
/* Calls open(user, driver, index) for what name and index ask for: one device, or for "auto" the
 * devices in its order until one opens. */
hg_status hg_select(const char *name, uint32_t index, const hg_trial_options *trial,
                    hg_status (*open)(void *user, const hg_driver *driver, uint32_t index),
                    void *user) HG_NODISCARD;
/* The driver of a name, whatever devices it has. */
hg_status hg_select_driver(const char *name, const hg_driver **driver) HG_NODISCARD;
enum { HG_NOT_AUTOMATIC, HG_AUTOMATIC, HG_IF_ACCELERATOR }; /* the second column of backends.def */
typedef struct hg_driver_word {
    const char *word, *meaning;
} hg_driver_word;
typedef struct hg_driver_list {
    const hg_driver *const *drivers;
    const uint8_t *automatic;
    uint32_t count;
    bool accelerator;              /* this machine may have one */
    const hg_driver_word *absent;  /* known names without a driver, and why */
    const hg_driver_word *aliases; /* second names, and whose */
    uint32_t absent_count, alias_count;
    const hg_driver *guest; /* by its name, and first in the automatic order; NULL: none */
    hg_trial_options trial; /* of drivers that open libraries of others */
} hg_driver_list;
/* A driver that is not in the table, which whoever links the library brings: tests. It is the first
 * of the automatic order. Before any backend is created. */
void hg_select_guest(const hg_driver *driver);
/* Whether a name means whichever device comes first: "auto", or none. */
bool hg_backend_is_automatic(const char *name);
hg_status hg_select_in(const hg_driver_list *list, const char *name, uint32_t index,
                       hg_status (*open)(void *user, const hg_driver *driver, uint32_t index),
                       void *user) HG_NODISCARD;

/* ---- forked.c ---- */
/* In a forked child: the error of what was in use ("context"), of a backend whose device is the
 * parent's. */
hg_status hg_lost(const char *what);
hg_status hg_backend_lost(const hg_backend *b);
/* Waits for launches that were started in the backend's own context. HG_ERROR_WOULD_BLOCK: nobody
 * can, and nothing has changed. */
hg_status hg_backend_end_starts(hg_backend *b) HG_NODISCARD;

static inline hg_status hg_backend_alive(const hg_backend *b) {
    return HG_UNLIKELY(b->fork.lost) ? hg_backend_lost(b) : HG_OK;
}
void hg_backend_watch_forks(hg_backend *b);
void hg_backend_forget_forks(hg_backend *b);

/* ---- deadline.c ---- */
uint64_t hg_timeout_of(const hg_backend *b, const hg_launch *launch); /* ms; 0: none. launch NULL:
                                                                         the backend's default */
uint64_t hg_deadline(uint64_t timeout_ms); /* of what starts now; 0: none */

/* ---- characters.c ---- */
/* i128[194·194], then f64[194·194]: atlas/characters.h. For reading, until the backend goes. */
hg_status hg_backend_characters(hg_backend *b, hg_range *range) HG_NODISCARD;

/* ---- tiles.c: sizes of tiles; the rest is in client.h ---- */
hg_status hg_backend_tiles_open(hg_backend *b) HG_NODISCARD;

/* ---- probe.c: the numeric probe of an open backend with a default context ---- */
typedef struct hg_probing hg_probing;
/* Begins it. trusts: at the opening of a device in device form. The answer may come from the cache
 * on disk, or is kept there; when it is known, the capabilities promise no more than was found.
 * Else they stay what the driver promises. */
hg_status hg_probing_start(hg_backend *b, bool trusts, hg_probing **probing) HG_NODISCARD;
/* Goes on as far as it can without waiting. After a failure: hg_probing_end. */
hg_status hg_probing_poll(hg_probing *probing, bool *done) HG_NODISCARD;
void hg_probing_wait(hg_probing *probing); /* until a poll may find more; where the host can
                                                    wait */
void hg_probing_end(hg_probing *probing);  /* at any time. NULL is allowed */
/* All of it. */
hg_status hg_backend_probe(hg_backend *b, hg_probe_result *result) HG_NODISCARD;

#endif
