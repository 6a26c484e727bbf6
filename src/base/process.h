/* Another program, run to its end where the process that asks does not notice. Must not know: which
 * program.
 *
 * The program is no child of the process: a host's wait for any child does not see it, no SIGCHLD
 * comes, and it makes no difference whether the host ignores that signal. A process between the two
 * is its parent; it shares this process's memory and not its children's signal (clone with no
 * signal), starts the program with posix_spawn, and ends with it. Only Linux has such a thing:
 * elsewhere nothing is started. */
#ifndef HG_BASE_PROCESS_H
#define HG_BASE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

enum { HG_PROCESS_ANSWER = 3 }; /* the descriptor that the program writes its answer to */

typedef enum hg_process_end {
    HG_PROCESS_NOT_STARTED,
    HG_PROCESS_EXITED,
    HG_PROCESS_KILLED,
    HG_PROCESS_LATE
} hg_process_end;

typedef struct hg_process_result {
    hg_process_end end;
    int code;      /* errno, exit status, signal, nothing */
    size_t length; /* of the answer, at most `room`: the rest is dropped */
} hg_process_result;

/* Runs the program of an absolute path. It has no descriptors but 0 to 2, which are /dev/null, and
 * HG_PROCESS_ANSWER, no signal blocked or ignored, this process's environment and a session of its
 * own. At the limit it is killed with all of its session. The calling thread waits; the host's
 * signal handlers run meanwhile. arguments: as of main, ended by NULL. */
hg_process_result hg_process_run(const char *path, char *const *arguments, uint64_t limit_ms,
                                 char *answer, size_t room);

#endif
