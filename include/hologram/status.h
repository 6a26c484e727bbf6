/* Status values and the thread-local record of the last error. */
#ifndef HOLOGRAM_STATUS_H
#define HOLOGRAM_STATUS_H

#include <stdint.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define HG_API __declspec(dllexport)
#elif defined(__GNUC__)
#define HG_API __attribute__((visibility("default")))
#else
#define HG_API
#endif
#if defined(__GNUC__)
#define HG_NODISCARD __attribute__((warn_unused_result))
#define HG_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define HG_NODISCARD
#define HG_PRINTF(a, b)
#endif

/** The result of every fallible call. Details are in hg_last_error(). */
typedef enum hg_status {
#define HG_STATUS(id, exit_status, text) HG_##id,
#include "status.def"
#undef HG_STATUS
    HG_STATUS_COUNT
} hg_status;

/** No lane, instruction, line … known: the value of a field of hg_error that does not apply. */
#define HG_NONE UINT64_MAX

/** Where and why the last failing call of this thread failed. Fields that do not apply are HG_NONE
 * (0 for line, column). */
typedef struct hg_error {
    size_t size; /**< sizeof(hg_error) of the library */
    hg_status status;
    char code[4];          /**< diagnostic code of language.md 6, "F01"; empty when none */
    char message[512];     /**< without the status prefix, never truncated in the middle of a UTF-8
                              sequence */
    uint64_t step;         /**< plan step of a fault */
    uint64_t phase;        /**< barrier phase of a fault */
    uint64_t instruction;  /**< instruction index in the program */
    uint64_t lane;         /**< global lane id */
    uint64_t operand;      /**< operand number, from 1 as written in the text */
    uint64_t offset;       /**< byte offset of an access out of bounds */
    uint64_t limit;        /**< bytes in the memory accessed */
    uint32_t line, column; /**< source place, 0 when unknown */
    uint32_t length;       /**< bytes of the text of the expression there, 0 when unknown */
    uint32_t reserved;     /**< 0 */
} hg_error;

/** The record of this thread's last failure. Never NULL; valid until the next call into the library
 * on this thread. */
HG_API const hg_error *hg_last_error(void);

/** Prefix and message as one text, "Execution failed: division by zero". Valid as long as
 * hg_last_error(). */
HG_API const char *hg_last_error_text(void);

/** The name of a status, "HG_ERROR_ISA". Static. */
HG_API const char *hg_status_name(hg_status status);

#ifdef __cplusplus
}
#endif
#endif
