/* The PJRT C API: the part that the driver calls, declared from the interface's documentation
 * (pjrt_c_api of openxla/xla, versions 0.81 to 0.117). Each structure begins with its
 * size, which says how far the caller knows it; a plugin of another version has longer or shorter
 * ones, and a function exists where its place lies inside the plugin's table.
 * Must not know: the runtime. */
#ifndef HG_TPU_PJRT_H
#define HG_TPU_PJRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pjrt_error pjrt_error;
typedef struct pjrt_client pjrt_client;
typedef struct pjrt_device pjrt_device;
typedef struct pjrt_description pjrt_description;
typedef struct pjrt_executable pjrt_executable;
typedef struct pjrt_buffer pjrt_buffer;
typedef struct pjrt_event pjrt_event;

/* What every structure begins with. */
typedef struct pjrt_head {
    size_t size;
    void *extension;
} pjrt_head;

typedef struct pjrt_table {
    pjrt_head head;
    pjrt_head version_head;
    int major, minor;
    void *functions[];
} pjrt_table;

/* Numbers of element types. */
enum {
    PJRT_S8 = 2,
    PJRT_S16,
    PJRT_S32,
    PJRT_S64,
    PJRT_U8,
    PJRT_U16,
    PJRT_U32,
    PJRT_U64,
    PJRT_F16,
    PJRT_F32,
    PJRT_F64,
    PJRT_BF16
};
enum { PJRT_COPIES_DURING_CALL = 0 };

/* One structure of arguments for each function: its fields behind the head. */
typedef struct pjrt_of_error { /* Error_Destroy */
    pjrt_head head;
    pjrt_error *error;
} pjrt_of_error;
typedef struct pjrt_message {
    pjrt_head head;
    const pjrt_error *error;
    const char *text;
    size_t length;
} pjrt_message;
typedef struct pjrt_code {
    pjrt_head head;
    const pjrt_error *error;
    int code;
} pjrt_code;
typedef struct pjrt_of_event { /* Event_Destroy, Event_Await */
    pjrt_head head;
    pjrt_event *event;
} pjrt_of_event;
typedef struct pjrt_client_create {
    pjrt_head head;
    const void *options;
    size_t option_count;
    void *get, *get_user, *put, *put_user;
    pjrt_client *client; /* out */
    void *try_get, *try_get_user;
} pjrt_client_create;
typedef struct pjrt_of_client {
    pjrt_head head;
    pjrt_client *client;
} pjrt_of_client;
typedef struct pjrt_client_text { /* Client_PlatformName, Client_PlatformVersion */
    pjrt_head head;
    pjrt_client *client;
    const char *text; /* out */
    size_t length;
} pjrt_client_text;
typedef struct pjrt_devices {
    pjrt_head head;
    pjrt_client *client;
    pjrt_device *const *devices; /* out */
    size_t count;
} pjrt_devices;
typedef struct pjrt_device_description {
    pjrt_head head;
    pjrt_device *device;
    pjrt_description *description; /* out */
} pjrt_device_description;
typedef struct pjrt_description_text {
    pjrt_head head;
    pjrt_description *description;
    const char *text; /* out */
    size_t length;
} pjrt_description_text;
typedef struct pjrt_program {
    pjrt_head head;
    char *code;
    size_t length;
    const char *format;
    size_t format_length;
} pjrt_program;
typedef struct pjrt_compile {
    pjrt_head head;
    pjrt_client *client;
    const pjrt_program *program;
    const char *options; /* a CompileOptionsProto */
    size_t options_length;
    pjrt_executable *executable; /* out */
} pjrt_compile;
typedef struct pjrt_of_executable {
    pjrt_head head;
    pjrt_executable *executable;
} pjrt_of_executable;
typedef struct pjrt_from_host {
    pjrt_head head;
    pjrt_client *client;
    const void *data;
    int type;
    const int64_t *extents;
    size_t rank;
    const int64_t *strides;
    size_t stride_count;
    int semantics;
    pjrt_device *device;
    void *memory, *layout;
    pjrt_event *done; /* out: data may be freed */
    pjrt_buffer *buffer;
} pjrt_from_host;
typedef struct pjrt_to_host {
    pjrt_head head;
    pjrt_buffer *buffer;
    void *layout;
    void *data;
    size_t size;
    pjrt_event *event; /* out */
} pjrt_to_host;
typedef struct pjrt_of_buffer {
    pjrt_head head;
    pjrt_buffer *buffer;
} pjrt_of_buffer;
typedef struct pjrt_is_gone { /* Buffer_IsDeleted: given away too */
    pjrt_head head;
    pjrt_buffer *buffer;
    bool gone; /* out */
} pjrt_is_gone;
typedef struct pjrt_execute_options {
    pjrt_head head;
    void *sends, *receives;
    size_t send_count, receive_count;
    int launch;
    const int64_t *kept; /* arguments that are not given away */
    size_t kept_count;
    void *context;
    const char *place;
    size_t task_count;
    int *tasks;
    int64_t *incarnations;
} pjrt_execute_options;
typedef struct pjrt_execute {
    pjrt_head head;
    pjrt_executable *executable;
    pjrt_execute_options *options;
    pjrt_buffer *const *const *arguments;
    size_t device_count, argument_count;
    pjrt_buffer **const *results;
    pjrt_event **events;
    pjrt_device *device;
} pjrt_execute;

/* Of executables that are not loaded. */
typedef struct pjrt_code_text pjrt_code_text;
typedef struct pjrt_get_code { /* LoadedExecutable_GetExecutable */
    pjrt_head head;
    pjrt_executable *loaded;
    pjrt_code_text *code; /* out */
} pjrt_get_code;
typedef struct pjrt_of_code { /* Executable_Destroy */
    pjrt_head head;
    pjrt_code_text *code;
} pjrt_of_code;
typedef struct pjrt_serialize {
    pjrt_head head;
    const pjrt_code_text *code;
    const char *bytes; /* out */
    size_t size;
    void *owner;
    void (*destroy)(void *owner);
} pjrt_serialize;
typedef struct pjrt_deserialize {
    pjrt_head head;
    pjrt_client *client;
    const char *bytes;
    size_t size;
    pjrt_executable *loaded; /* out */
    const char *options;
    size_t options_size;
} pjrt_deserialize;
/* What a plugin need not have. */
#define PJRT_OPTIONAL_CALLS(PJRT_CALL)           \
    PJRT_CALL(40, code_destroy, pjrt_of_code)    \
    PJRT_CALL(49, serialize, pjrt_serialize)     \
    PJRT_CALL(51, get_code, pjrt_get_code)       \
    PJRT_CALL(56, deserialize, pjrt_deserialize) \
    PJRT_CALL(68, is_gone, pjrt_is_gone)

/* PJRT_CALL(place in the table, name, arguments) */
#define PJRT_CALLS(PJRT_CALL)                                  \
    PJRT_CALL(0, error_destroy, pjrt_of_error)                 \
    PJRT_CALL(1, error_message, pjrt_message)                  \
    PJRT_CALL(2, error_code, pjrt_code)                        \
    PJRT_CALL(3, initialize, pjrt_head)                        \
    PJRT_CALL(5, event_destroy, pjrt_of_event)                 \
    PJRT_CALL(8, event_await, pjrt_of_event)                   \
    PJRT_CALL(10, client_create, pjrt_client_create)           \
    PJRT_CALL(11, client_destroy, pjrt_of_client)              \
    PJRT_CALL(12, platform_name, pjrt_client_text)             \
    PJRT_CALL(14, platform_version, pjrt_client_text)          \
    PJRT_CALL(16, devices_of, pjrt_devices)                    \
    PJRT_CALL(20, compile, pjrt_compile)                       \
    PJRT_CALL(22, from_host, pjrt_from_host)                   \
    PJRT_CALL(26, description_kind, pjrt_description_text)     \
    PJRT_CALL(29, device_description, pjrt_device_description) \
    PJRT_CALL(50, executable_destroy, pjrt_of_executable)      \
    PJRT_CALL(55, execute, pjrt_execute)                       \
    PJRT_CALL(58, buffer_destroy, pjrt_of_buffer)              \
    PJRT_CALL(70, to_host, pjrt_to_host)

#endif
