/* Texts for GPUs on the CPU: compiling with the headers of tests/shim, and running groups whose
 * invocations are fibers. Knows nothing of the library, so that the CUDA driver of tests/fake_cuda
 * uses it too. Thread rules: one group of the process runs at a time; shim_run takes turns. */
#ifndef HG_TESTS_SHIM_RUN_H
#define HG_TESTS_SHIM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHIM_MOST_LANES = 1024, SHIM_MOST_SHARED = 64 * 1024 };

typedef struct shim_code {
    void *library, *state;
    unsigned long long *group_memory; /* of a language that finds it by name; NULL: the runner's */
    void (*lane)(void *const *slots, const void *record);
    bool has_barriers;
    size_t record_bytes;
    bool record_by_pointer;
} shim_code;

/* What an entry for one invocation of kernel NAME says besides the call: "extern \"C\" ..." text of
 * at most 1,000 bytes in front of the arguments. */
typedef enum shim_record { SHIM_RECORD_NONE, SHIM_RECORD_VALUE, SHIM_RECORD_POINTER } shim_record;
/* The lines that every compiled text needs: whether it has barriers, and the record's size. */
void shim_print_facts(char *out, size_t size, const char *name, shim_record record,
                      bool has_barriers);
/* The entry of a kernel of CUDA C or HIP. */
void shim_print_entry(char *out, size_t size, const char *name, shim_record record);

/* Compiles a text with its entry; options: more of the compiler's, "" or "-include shim_cuda.h".
 * False: message has the compiler's words. */
bool shim_compile(const char *text, const char *entry, const char *options, const char *source,
                  const char *library, char *message, size_t size);
bool shim_open(const char *library, shim_code *code, char *message, size_t size);
void shim_close(shim_code *code);
/* False: a group is too large, or there is no memory for fibers. */
bool shim_run(const shim_code *code, const uint32_t groups[3], const uint32_t group[3],
              uint64_t group_memory, void *const *slots, const void *record);

#endif
