/* The optimiser of programs: passes from program to program. Each keeps results bit for bit, memory
 * effects and faults. */
#ifndef HOLOGRAM_OPTIMIZER_H
#define HOLOGRAM_OPTIMIZER_H

#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A pass. Owned by the library and constant. */
typedef struct hg_optimizer_pass {
    size_t size;       /**< sizeof(hg_optimizer_pass) of the library */
    const char *name;  /**< "constants", "peephole", "fuse", "dead" */
    const char *about; /**< what it does, in a line */
} hg_optimizer_pass;
/** The passes one after another, as they run unless others are asked for; NULL when index is not
 * below their number. Thread-safe. */
HG_API const hg_optimizer_pass *hg_optimizer_pass_get(size_t index);

/** What may be chosen. Zero, but for the size, is what NULL means. */
typedef struct hg_optimize_options {
    size_t size;        /**< sizeof(hg_optimize_options) */
    const char *passes; /**< names with commas between, in the order in which they run:
                           "dead,peephole"; NULL or "all": every pass. Borrowed for the call */
    uint32_t rounds; /**< how often the list runs at the most; it ends where no pass finds anything.
                        0: 16 */
    uint32_t reserved; /**< never used */
} hg_optimize_options;

/** What one pass did. */
typedef struct hg_optimize_pass_stats {
    uint64_t runs;    /**< how often it ran */
    uint64_t changes; /**< instructions that it removed, replaced or added, or of which it changed
                         operands */
    uint64_t refused; /**< results that did not verify and were dropped; always 0, else please
                         report it */
    uint64_t ns;      /**< its time */
} hg_optimize_pass_stats;

enum { HG_OPTIMIZE_MAX_PASSES = 8 };

/** What an optimisation did. Zero it and set size to sizeof(hg_optimize_stats) before the call. */
typedef struct hg_optimize_stats {
    size_t size;                  /**< sizeof(hg_optimize_stats) */
    uint64_t instructions_before; /**< of the program that was given */
    uint64_t instructions_after;  /**< of the program that came out */
    uint64_t whole_array_before;  /**< whole-array instructions among them */
    uint64_t whole_array_after;   /**< whole-array instructions among them */
    uint64_t rounds;              /**< how often the list of passes ran */
    hg_optimize_pass_stats passes[HG_OPTIMIZE_MAX_PASSES]; /**< by the index of
                                                              hg_optimizer_pass_get */
} hg_optimize_stats;

/**
 * An equal program with less to do: each launch of it gives the same bits in all buffers, or the
 * same fault in the same lane, after the same changes of memory. What a lane does is counted anew:
 * a launch with a most number of steps counts those of the optimised program. Names, parameters,
 * tables and launch defaults stay; metadata and labels too.
 *
 * @param program    borrowed; it must verify with the types of its .param lines alone
 * @param options    NULL: every pass
 * @param stats      may be NULL
 * @param optimized  receives a program that the caller releases: the given one, where nothing can
 * be done. NULL after a failure
 * @return HG_OK; HG_ERROR_ISA (the program does not verify), HG_ERROR_INVALID_ARGUMENT (NULL, a
 * pass that does not exist: the message lists those there are), HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_program_optimize(const hg_program *program, const hg_optimize_options *options,
                                     hg_optimize_stats *stats, hg_program **optimized) HG_NODISCARD;

/**
 * The number that an instruction had in the program which was optimised; its own number for a
 * program that was not. A fault of an optimised program names the instruction of the program that
 * ran and the line and column of the source; this tells which instruction of the source it is.
 * HG_NONE for NULL and for numbers that the program does not have. It is known of the program that
 * hg_program_optimize returned, not of what is read back from its text or container. Thread-safe.
 */
HG_API uint64_t hg_program_source_instruction(const hg_program *program, uint64_t instruction);

/* ---- the optimiser as an object: what it has optimised before it does not optimise again ---- */

typedef struct hg_optimizer hg_optimizer;

/** An optimiser with an empty memory. HG_ERROR_INVALID_ARGUMENT (NULL), HG_ERROR_OUT_OF_MEMORY. */
HG_API hg_status hg_optimizer_create(hg_optimizer **optimizer) HG_NODISCARD;
/** Releases the programs that it remembers. NULL is allowed. */
HG_API void hg_optimizer_destroy(hg_optimizer *optimizer);
/**
 * hg_program_optimize with every pass, remembered by the program: the second time the same program
 * comes out. It remembers the 256 programs that were asked for last. Errors as hg_program_optimize.
 * Thread-safe.
 */
HG_API hg_status hg_optimizer_optimize(hg_optimizer *optimizer, const hg_program *program,
                                       hg_program **optimized) HG_NODISCARD;
/** Programs that it remembers; 0 for NULL. Thread-safe. */
HG_API size_t hg_optimizer_len(hg_optimizer *optimizer);

/** One pass alone. Parameters and errors as hg_program_optimize. Thread-safe. */
HG_API hg_status hg_optimizer_peephole_optimize(const hg_program *program,
                                                hg_program **optimized) HG_NODISCARD;
HG_API hg_status hg_optimizer_eliminate_dead_code(const hg_program *program,
                                                  hg_program **optimized) HG_NODISCARD;
HG_API hg_status hg_optimizer_propagate_constants(const hg_program *program,
                                                  hg_program **optimized) HG_NODISCARD;
HG_API hg_status hg_optimizer_fuse_instructions(const hg_program *program,
                                                hg_program **optimized) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
