/* Writing files in a process that others own: limits of the file size are errors and no signals,
 * and what has no name yet, or had one for a moment, is gone when the process ends. Must not know:
 * what is written. */
#ifndef HG_BASE_DISK_H
#define HG_BASE_DISK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0, or the errno. At RLIMIT_FSIZE that is EFBIG: the SIGXFSZ of this write is taken back, one that
 * was pending before stays. */
int hg_write_all(int file, const void *data, uint64_t length);

/* Signals of this thread wait from hold to release: for the moments in which a name exists that
 * nobody may find. */
typedef struct hg_held_signals {
    sigset_t before;
    bool held;
} hg_held_signals;
void hg_signals_hold(hg_held_signals *held);
void hg_signals_release(const hg_held_signals *held);

/* Makes the folder of the cache that the first length characters of a path name, where it is
 * missing, for this user alone, and before it the
 * ".cache" of a home. What lies above is the system's and the user's: a home that does not exist
 * stays so. Whether it worked shows at its use. */
void hg_folder_make(const char *path, size_t length);

/* A file without a name, in a folder (a descriptor, or AT_FDCWD, and a path from there), for
 * writing; -1 where the system or the file system has no such thing, or with any other errno of
 * open. It is gone when it is closed. mode: less what umask takes. */
int hg_file_unnamed(int folder, const char *path, unsigned mode);
/* Gives it a name that nobody has; 0 or the errno, EEXIST too. */
int hg_file_give_name(int file, int folder, const char *path);

/* Names that a signal must not leave behind. The library only notes them; a program that owns its
 * signals unlinks them in its handler. The text stays the caller's; forget is false when a handler
 * has taken it, and then it must not be freed. */
void hg_temporary_note(const char *path);
bool hg_temporary_forget(const char *path);
void hg_temporaries_unlink(void); /* may be called by a signal handler */

#endif
