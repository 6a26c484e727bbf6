/* The version of the headers and of the library. */
#ifndef HOLOGRAM_VERSION_H
#define HOLOGRAM_VERSION_H

#include <hologram/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the headers that a program is compiled with: to ask for what came with a version, `#if
 * HG_VERSION >= HG_VERSION_OF(0, 2, 0)`. */
#define HG_VERSION_MAJOR 0
#define HG_VERSION_MINOR 1
#define HG_VERSION_PATCH 0
/** A version as one number; minor and patch are below 1,000. */
#define HG_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define HG_VERSION HG_VERSION_OF(HG_VERSION_MAJOR, HG_VERSION_MINOR, HG_VERSION_PATCH)

/** The version of the library that runs, as HG_VERSION_OF. It may be later than the headers', and
 * earlier where an older library was found; a program that opens the library itself asks before it
 * looks for functions of later versions. Thread-safe. */
HG_API uint32_t hg_version(void);
/** The same as text, "0.1.0". Static. Thread-safe. */
HG_API const char *hg_version_text(void);

/* Of the bits of results: a later one when some exact instruction gives other bits for the same
 * arguments. docs/reference/bits-versions.md has what changed. */
#define HG_BITS_VERSION 5
/** HG_BITS_VERSION of the library that runs. Results of two libraries with the same number, of
 * instructions that are exact or run with `deterministic`, have the same bits, on every device.
 * Thread-safe. */
HG_API uint32_t hg_bits_version(void);

#ifdef __cplusplus
}
#endif
#endif
