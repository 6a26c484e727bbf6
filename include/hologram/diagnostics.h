/* Lists of errors and warnings with their places (language.md 6), and the allocator hooks. */
#ifndef HOLOGRAM_DIAGNOSTICS_H
#define HOLOGRAM_DIAGNOSTICS_H

#include <hologram/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One error, warning, note or fault. Strings are owned by the list they come from. */
typedef struct hg_diagnostic {
    size_t size;  /**< sizeof(hg_diagnostic) of the library */
    int severity; /**< 0 error, 1 warning, 2 note, 3 fault */
    char code[4]; /**< "V03" */
    const char *message;
    const char *hint;      /**< NULL when there is none */
    uint32_t line, column; /**< from 1, bytes; 0 when unknown */
    uint32_t length;       /**< bytes to underline */
    uint64_t instruction;  /**< instruction index, HG_NONE when unknown */
    uint64_t lane;         /**< of a fault, else HG_NONE */
    uint32_t operand;      /**< from 1, 0 when unknown */
    const char *file; /**< an included file that line and column are of; NULL: the source itself */
    const char *text; /**< that line of the included file; NULL: unknown, or of the source itself */
    const char *expansion; /**< "in macro 'm', used at 12:5"; NULL when it was written where it
                              stands */
    uint32_t outer_line, outer_column; /**< in the source itself: where the file was included, else
                                          line and column */
} hg_diagnostic;

/** A list of diagnostics in the order of their places. Not thread-safe. */
typedef struct hg_diagnostics hg_diagnostics;

/** An empty list that keeps at most max_errors errors (0: 20). NULL when out of memory. */
HG_API hg_diagnostics *hg_diagnostics_create(uint32_t max_errors);
HG_API void hg_diagnostics_destroy(hg_diagnostics *diagnostics);
/** Number kept. */
HG_API size_t hg_diagnostics_count(const hg_diagnostics *diagnostics);
/** Number of errors and faults found, those beyond the maximum included. */
HG_API size_t hg_diagnostics_errors(const hg_diagnostics *diagnostics);
/** The i-th; NULL when i is not below the count. Valid until the list is destroyed or added to. */
HG_API const hg_diagnostic *hg_diagnostics_get(const hg_diagnostics *diagnostics, size_t i);
/** All as text with source lines and carets, as language.md 6 shows it; source may be NULL. The
 * caller frees with hg_string_free. NULL when out of memory. */
HG_API char *hg_diagnostics_print(const hg_diagnostics *diagnostics, const char *file,
                                  const char *source, size_t source_length);
HG_API void hg_string_free(char *text);

/** Replaces malloc, realloc and free of the whole library. Both functions, or NULL for the
 * defaults. Call before anything else. */
typedef struct hg_allocator {
    size_t size; /**< sizeof(hg_allocator) */
    void *user;
    void *(*reallocate)(void *user, void *memory, size_t bytes); /**< as realloc; memory NULL
                                                                    allocates */
    void (*release)(void *user, void *memory);
} hg_allocator;
HG_API hg_status hg_set_allocator(const hg_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
