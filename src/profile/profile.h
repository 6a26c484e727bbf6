/* Recorder of where a backend's time goes: spans on the host's threads and totals by name, written
 * as a Chrome trace (FILE) and as a table (FILE.txt). While it is off a backend's `profile` is NULL
 * and every hook is one branch. Thread-safe.
 * Must not know: drivers, programs. */
#ifndef HG_RUNTIME_PROFILE_H
#define HG_RUNTIME_PROFILE_H

#include "base/base.h"
#include "base/thread.h"

typedef struct hg_profile hg_profile; /* of one backend */

typedef enum hg_profile_kind {
    HG_PROFILE_PROGRAM,  /* one launch with all its kernels and steps */
    HG_PROFILE_KERNEL,   /* all lanes through one kernel of a plan */
    HG_PROFILE_STEP,     /* whole-array and pool instructions */
    HG_PROFILE_DISPATCH, /* one window of a kernel on a device */
    HG_PROFILE_COPY_IN,
    HG_PROFILE_COPY_OUT,
    HG_PROFILE_COPY,
    HG_PROFILE_FILL,
    HG_PROFILE_COMPILE,
    HG_PROFILE_WAIT,
    HG_PROFILE_KINDS
} hg_profile_kind;

/* Spans of one thread are recorded innermost first: they nest. */
typedef struct hg_profile_span {
    hg_profile_kind kind;
    const char *name;   /* what totals are added up by; copied */
    const char *detail; /* what else there is to say; copied; may be NULL */
    bool tells;         /* the table has the detail too, the first one of its rows */
    uint64_t start_ns;  /* of hg_profile_start */
    uint64_t bytes;     /* moved or touched; 0: none */
    uint64_t lanes;     /* 0: none */
    uint32_t line;      /* in the source text; 0: unknown */
    bool once;          /* of such spans a profile has the first */
} hg_profile_span;

enum {
    HG_PROFILE_EVENTS = 131072, /* spans kept; totals go on beyond them */
    HG_PROFILE_NAMES = 4096,
    HG_PROFILE_TRACKS = 1024
};

/* path NULL: nothing is written by itself. Else writes an empty trace at once, so that a path that
 * cannot be written is known now. Backends alive at the same time with the same path share one
 * trace, each as a process of its own. label: the device. */
hg_status hg_profile_create(const char *path, const char *label, hg_profile **profile) HG_NODISCARD;
/* Writes the file of the last backend that shares it. Failures are lost: hg_profile_write returns
 * them. NULL is allowed. */
void hg_profile_destroy(hg_profile *profile);
/* Now, with everything recorded so far; to its own path if path is NULL. HG_ERROR_IO with code X02.
 */
hg_status hg_profile_write(hg_profile *profile, const char *path) HG_NODISCARD;
/* The table and the trace as text. */
void hg_profile_table(hg_profile *profile, hg_text *out);
void hg_profile_trace(hg_profile *profile, hg_text *out);

/* Names the calling thread in traces. */
void hg_profile_name_thread(const char *name);

static inline uint64_t hg_profile_start(const hg_profile *profile) {
    return HG_UNLIKELY(profile != NULL) ? hg_clock_ns() : 0;
}
/* Records a span that ends now. Nothing where start_ns is 0. */
void hg_profile_end(hg_profile *profile, const hg_profile_span *span);

#endif
