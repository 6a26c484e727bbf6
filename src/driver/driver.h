/* The driver interface: what a device family must provide. A backend is a folder with one table of
 * these functions; nothing else in the library knows its name. Copy backends/null to start a new
 * one.
 *
 * Threads: functions of a device may be called from any thread at any time unless marked (queue):
 * those are serialised per queue by the runtime. Ownership: what create/alloc/open returns goes to
 * the matching destroy/free/close exactly once. Errors: hg_status with hg_fail; a driver never
 * prints and never calls back into the runtime. Waiting: event_wait waits (hg_driver_wait asks for
 * it). So does arena_alloc where the device itself must zero the memory. queue_submit and
 * recording_launch return while the device works, however much is in flight, but for three cases: a
 * copy from host memory that earlier work still writes (of this queue or of `waits`), a driver's
 * limit of submissions or of bytes for copies in flight (vulkan: 1,024 and 64 MiB of a queue), and
 * a failure, after which nothing may go on in memory that the caller takes back. */
#ifndef HG_DRIVER_DRIVER_H
#define HG_DRIVER_DRIVER_H

#include "base/patience.h"
#include "base/budget.h"
#include "base/limit.h"
#include "kir/device/device.h"
#include "plan/steps/call.h"
#include <hologram/backend.h>

typedef struct hg_device hg_device;
typedef struct hg_driver_arena hg_driver_arena; /* one range of device memory */
typedef struct hg_driver_queue hg_driver_queue;
typedef struct hg_driver_event hg_driver_event;
typedef struct hg_driver_kernel hg_driver_kernel;
typedef struct hg_driver_recording hg_driver_recording;
typedef struct hg_driver_module hg_driver_module; /* a whole array graph */
typedef struct hg_driver_noted hg_driver_noted;   /* commands as one module */

/* When kernels get better code (hg_driver.kernel_improve) in place of what they have. */
typedef enum hg_improves { HG_IMPROVES_NEVER, HG_IMPROVES_HOT, HG_IMPROVES_AT_ONCE } hg_improves;

/* What code a device takes, and what of it makes code. */
typedef struct hg_compiler_caps {
    kir_caps kir; /* what kernels may contain, after the numeric probe */
    /* Kernels are in device form (kir/device/device.h): HG_CMD_DISPATCH and code_create instead of
     * HG_CMD_LAUNCH and kernel_create. */
    bool device_form;
    bool open_table; /* without device form: launches' open accesses go by hg_driver_launch.table */
    bool probed;     /* without device form too: the numeric probe runs when the device opens */
    bool by_aliases; /* code for each way in which slots are distinct (kir_slot.distinct), of device
                        forms that reach slots by bindings */
    hg_improves improves; /* of a device without device form */
    kir_caps better; /* what such code is made from may contain. It agrees with kir in i64: a kernel
                        has the same inputs and slots in both */
    kir_device_target target; /* what device forms are made for */
    uint32_t max_slots;       /* direct buffers of a program's kernel, which finds others by their
                                 handles; kernels of whole-array steps have all of theirs */
    uint32_t max_bindings;    /* memories that a dispatch binds; 0: more than any kernel has */
    /* Operations of a kernel, functions written in place of each call, beyond which the device's
     * compiler is not asked; 0: any number. */
    uint64_t max_operations;
    uint64_t max_choices; /* and where it chooses between more parts than these: the root of
                             kir_size.choices_squared */
    bool static_groups;   /* group size and group memory are part of the code */
    /* The driver's compiler may run when a dispatch does: see code_prepare. Forms can idle
     * (kir_device_options.may_idle). */
    bool compiles_late;
    /* target.addressed: kernels of 32-bit accesses may also be made for bindings, which some
     * devices read faster, when all their slots end within this many bytes of their arena; 0: no.
     */
    uint64_t bound_bytes;
    uint32_t bound_slots; /* slots of a kernel that is made for bindings so */
} hg_compiler_caps;

/* Where buffers lie. */
typedef struct hg_memory_caps {
    bool host_memory; /* arenas are host memory: map is free and copies are memcpy */
    bool can_import;  /* arena_import takes memory of the host */
    /* Kernels read the uniform values of plans from memory (plan_reads): the host learns them only
     * by a wait. */
    bool uniforms_in_memory;
    uint64_t total_bytes; /* of the device; 0: not known */
    uint64_t arena_bytes; /* size of arenas that the runtime divides among buffers; 0: an arena a
                             buffer */
    uint64_t max_arena_bytes; /* largest single allocation */
    /* A dispatch binds so much of an arena at most, between two multiples of cut_bytes; 0: any of
     * it. What is larger its lanes must reach in ranges (runtime/ranges.c). */
    uint64_t bound_bytes, cut_bytes;
    uint64_t max_shared_bytes; /* memory of a block */
} hg_memory_caps;

/* How work is divided and submitted. */
typedef struct hg_scheduling_caps {
    bool asynchronous;  /* submit may return before the work is done: wait for the signal */
    bool does_maps;     /* HG_CMD_STEP takes maps, about as fast as kernels of one are */
    bool records_steps; /* HG_CMD_STEP never faults, so that nobody waits behind it, and
                           recording_create takes it */
    /* Invocations of a group run one after another anyhow: a block with barriers is one invocation
     * that loops over its lanes. */
    bool serial_groups;
    /* The least that KIR_POLL_ROUNDS rounds of a loop take, which lanes count where the host cannot
     * end them (arena_alloc_visible); 0: as long as on the fastest devices. */
    uint32_t look_ns;
    uint32_t max_block_lanes; /* lanes of a block */
    uint32_t max_groups[3];   /* groups of one dispatch in each direction */
    uint32_t max_group[3];    /* lanes of a group in each direction; max_block_lanes in all */
} hg_scheduling_caps;

/* What is fast. Nothing becomes wrong where a hint is. */
typedef struct hg_hints {
    uint8_t tile_kind;   /* library_tile_kind: sizes of tiles that nobody measured on it */
    bool dot4;           /* four products of bytes at once take it no longer than one of f32 */
    bool on_cpu;         /* lanes run on the CPU, one after another or a few at a time */
    uint32_t flat_group; /* good size of a group for FLAT kernels */
} hg_hints;

/* Capabilities after the numeric probe. */
typedef struct hg_device_caps {
    hg_compiler_caps compiler;
    hg_memory_caps memory;
    hg_scheduling_caps scheduling;
    hg_hints hints;
    bool exact;         /* hg_device_info.exact */
    char identity[256]; /* driver, device and versions, the CPU of a driver on it: part of every
                           cache key; "" when unknown */
} hg_device_caps;

typedef struct hg_driver_options {
    const char *cpu_level, *pretend; /* configuration; "" when unset. pretend: ask hg_pretends */
    const char *jit;                 /* "on", "off", "auto"; "" or NULL when unset */
    const char *vendor;              /* the same, of steps through a vendor's library */
    bool check_races;
    hg_budget *budget; /* for memory of its own that grows with what programs do; set before the
                          first launch. NULL: no limit */
    uint32_t num_threads;
    const char *cache_dir; /* for hg_blob_cache_open; "": no cache on disk. Until device_close */
    uint64_t cache_bytes;  /* its limit */
    const hg_host_device *host; /* a device that the host has opened, for device_adopt; NULL: none.
                                   Until the device is ready */
} hg_driver_options;

/* Whether a word is in the list of options->pretend. A new word needs a line in devices.def. */
bool hg_pretends(const char *pretend, const char *word);
uint64_t hg_pretended_number(const char *pretend, const char *word, uint64_t otherwise); /* N of
                                                                                            word=N
                                                                                          */
hg_status hg_pretend_check(const char *pretend) HG_NODISCARD; /* unknown words */

/* A range of an arena. arena NULL: no memory (invalid handle). */
typedef struct hg_range {
    hg_driver_arena *arena;
    uint64_t offset, size;
} hg_range;

/* How two slots' memories lie to each other. */
typedef enum hg_alias { HG_ALIAS_DISTINCT, HG_ALIAS_IDENTICAL, HG_ALIAS_OVERLAPPING } hg_alias;
/* Place of the pair i < j in an alias signature. */
static inline uint64_t hg_alias_pair(uint32_t i, uint32_t j) {
    return (uint64_t)j * (j - 1) / 2 + i;
}

/* Everything a kernel launch needs. All pointers are borrowed until the launch is over. */
typedef struct hg_driver_launch {
    hg_driver_kernel *kernel;
    uint32_t grid[3], block[3];
    uint64_t lanes, shared_bytes;
    uint64_t shared_scratch; /* so many of them at the end are not the program's: operations of the
                                block need them */
    hg_range shared_memory;  /* arena NULL: zeroed for each block; else shared_bytes a block that
                                live from kernel to kernel */
    const uint64_t *inputs;  /* module->inputs order */
    const hg_range *slots;   /* module->slots order */
    uint32_t slot_count;
    struct { /* KIR_PLAN_UNIFORMS as kir_prove_launch has them */
        const uint8_t *bytes;
        const bool *unknown;
    } uniforms;
    const uint8_t *aliases; /* alias signature: hg_alias of each pair of slots, at hg_alias_pair;
                               NULL below two slots */
    hg_range class_memory;
    struct { /* open accesses */
        hg_range (*call)(void *user, uint64_t handle, bool pool, bool flat);
        void *user;
        struct { /* the same as memory, for drivers that ask for it (open_table): kir_table_word's
                  */
            const uint32_t *words;
            uint32_t counts[2];     /* entries of buffers, of pools */
            const hg_range *arenas; /* whole, that entries name by their number */
            uint32_t arena_count;
        } table;
    } resolve;
    uint64_t deadline_ns, timeout_ms;
    const volatile int *cancel;
    uint32_t max_threads;
    uint64_t work; /* about how many operations its lanes do together; 0: as many as the kernel is
                      long, for each */
    uint64_t operations; /* of a kernel whose loops do not look at the time: at most so many, of all
                            lanes; 0: its loops do */
} hg_driver_launch;

/* A fault of a launch or step; the driver fills it before the event is done. Of a step: happened,
 * code, operand, offset, limit, message. Of a race other_inst too: the instruction of the lane that
 * came first. */
typedef struct hg_driver_fault {
    bool happened;
    uint8_t code, operand;
    uint32_t inst, other_inst;
    uint64_t phase, lane;
    uint64_t offset, limit;
    char message[160];
} hg_driver_fault;

/* A whole-array step that a driver may do by itself. The call says everything but where memory
 * lies: instruction, type, operands, and of each array rank, extents, strides and whether it is
 * read and written. Checked: shapes fit, ranges lie in their memory, and what is read shares memory
 * with what is written only as the collective allows. A result in a register is an array like
 * others. */
typedef struct hg_driver_step {
    const plan_call *call;
    const hg_range *ranges; /* of call->arrays: the bytes that their elements take; the first
                               element is array.before bytes behind its start */
    hg_range scratch; /* as many bytes as step_supported asked for; of no meaning before and after
                       */
    uint32_t max_threads; /* as of a launch */
    hg_limit limit; /* that work on the host keeps: it asks between pieces, and gives the fault of a
                       time-out or a cancel */
} hg_driver_step;

/* Code for code_create. The module and the layout are not kept. */
typedef struct hg_driver_code {
    const kir_module *module; /* in device form */
    const kir_device_layout *layout;
    kir_device_target target; /* that it was made for: the device's, or bindings where it has
                                 addresses too (caps.compiler.bound_bytes) */
    uint32_t group[3];        /* lanes of a group; where groups are not static only a hint */
    uint64_t group_memory;    /* bytes, reserved ones included */
} hg_driver_code;

/* A tensor. */
typedef struct hg_driver_shape {
    uint8_t type, rank; /* hg_type, of at most 64 bits */
    int64_t extents[PLAN_MAX_RANK];
} hg_driver_shape;

/* A whole array graph for module_create: StableHLO whose @main takes a tensor of ui64, 0 and the
 * numbers, then a tensor for each argument, and returns one for each result and, flagged, a
 * tensor<i1> (stablehlo/graph.h, shlo_form). Borrowed for the call. */
typedef struct hg_driver_module_text {
    char *text;
    uint64_t length;
    uint32_t argument_count, result_count;
    bool flagged;
    bool read; /* somebody else wrote it: NaNs go through minimum and maximum as JAX has it */
    const uint64_t *numbers;
    uint32_t number_count;
    const hg_driver_shape *shapes; /* of each argument, then of each result */
} hg_driver_module_text;

/* One dispatch of code in device form. Pointers are borrowed until submit returns. */
typedef struct hg_driver_dispatch {
    hg_driver_kernel *kernel;
    uint32_t groups[3], group[3];
    uint64_t group_memory;
    const void *record; /* layout->record_bytes */
    uint32_t record_bytes;
    /* Bindings of the device form (kir_device_binding): its slots; whole arenas, each once (size
     * 0); or parts of arenas that do not meet. arena NULL: no memory, the kernel never touches it.
     */
    const hg_range *slots;
    uint32_t slot_count;
} hg_driver_dispatch;

typedef enum hg_driver_command_kind {
    HG_CMD_COPY_IN,
    HG_CMD_COPY_OUT,
    HG_CMD_COPY,
    HG_CMD_FILL,
    HG_CMD_LAUNCH,
    HG_CMD_STEP,
    HG_CMD_DISPATCH
} hg_driver_command_kind;
typedef struct hg_driver_command {
    hg_driver_command_kind kind;
    hg_range to, from; /* copies, fill */
    void *host;        /* copy in, out */
    uint8_t value;     /* fill */
    const hg_driver_launch *launch;
    const hg_driver_step *step;
    const hg_driver_dispatch *dispatch;
    hg_driver_fault *fault; /* launch, step */
} hg_driver_command;

/* What a driver opens that others made. It is first opened by a program of its own (trial.h). */
typedef struct hg_vendor {
    const char *const *libraries; /* by the names that the system's loader is asked for, in this
                                     order */
    uint32_t library_count, place_count;
    /* Files that name further libraries, and folders of such files. "$NAME/more" is `more` in each
     * path of a variable, which : divides. */
    const char *const *places;
} hg_vendor;

/* A command made ready. run does what queue_submit of the command does on a queue whose earlier
 * work is over; by one thread at a time. */
typedef struct hg_driver_prepared hg_driver_prepared;
struct hg_driver_prepared {
    hg_status (*run)(hg_driver_prepared *self);
};

typedef struct hg_driver {
    const char *name;
    /* A forked child may go on with the parent's devices: all that the driver has is memory of the
     * process, without threads, and locks that are registered (base/fork.h). False: there every
     * call is an error, and nothing of the parent's is touched or freed. */
    bool forks;
    const hg_vendor *vendor; /* NULL: it opens nothing of others */
    /* Fills at most capacity entries (all bytes of them; devices NULL: none) and returns the number
     * of devices; 0 with the reason (and what to install) in reason. Disturbs no other driver, and
     * whatever is wrong with the vendor's library is a reason. */
    uint32_t (*enumerate)(hg_device_info *devices, uint32_t capacity, char reason[256]);
    hg_status (*device_open)(uint32_t index, const hg_driver_options *options, hg_device **device);
    /* Optional: the same with options->host, which is never destroyed. */
    hg_status (*device_adopt)(const hg_driver_options *options, hg_device **device);
    /* Optional: a device that opens after device_open has returned. Asked until it is ready, or the
     * status says why it does not open; until then nothing else of the device is called but
     * device_close, which may come at any time. It returns at once. */
    hg_status (*device_ready)(hg_device *device, bool *ready);
    void (*device_close)(hg_device *device);
    const hg_device_caps *(*device_caps)(const hg_device *device);
    void *(*device_native)(hg_device *device);
    /* memory: alloc gives zeroed bytes */
    hg_status (*arena_alloc)(hg_device *device, uint64_t size, hg_driver_arena **arena);
    hg_status (*arena_import)(hg_device *device, void *host, uint64_t size,
                              hg_driver_arena **arena); /* optional */
    /* Memory that others made, of a kind and a device of DLPack's numbers (hg_memory_kind).
     * Optional. */
    hg_status (*arena_import_device)(hg_device *device, uint32_t kind, uint32_t number,
                                     void *memory, uint64_t size, hg_driver_arena **arena);
    /* Small memory that host and device see at the same time, while kernels run; arena_map gives
     * its address. Optional. */
    hg_status (*arena_alloc_visible)(hg_device *device, uint64_t size, hg_driver_arena **arena);
    uint64_t (*arena_address)(hg_driver_arena *arena); /* target.addressed: where kernels see it */
    void (*arena_free)(hg_device *device, hg_driver_arena *arena);
    void *(*arena_map)(hg_driver_arena *arena); /* optional: the host address, valid until
                                                   arena_unmap */
    void (*arena_unmap)(hg_driver_arena *arena);
    /* Where in the host's memory an arena lies, also where the host must not touch it there; NULL:
     * nowhere. Optional: a driver that imports memory and has neither this nor
     * caps.memory.host_memory leaves the runtime unable to tell arenas apart. */
    const void *(*arena_host)(const hg_driver_arena *arena);
    /* What others that use the device know the arena by: kind, device and memory, whose size and
     * bytes are the runtime's. Optional. */
    void (*arena_native)(hg_device *device, hg_driver_arena *arena, hg_native_buffer *native);
    /* queue: the commands of one submission run in order, and so do the submissions of one queue:
     * each sees what those before it wrote. The signal is done after the last command. An inline
     * queue may finish before submit returns. Host memory of copies is borrowed until the
     * submission is done. */
    hg_status (*queue_create)(hg_device *device, hg_driver_queue **queue);
    /* What was submitted is over when it returns: it waits, or where it cannot wait, it drops what
     * has not begun. */
    void (*queue_destroy)(hg_driver_queue *queue);
    void *(*queue_native)(hg_driver_queue *queue); /* optional: the same of a queue */
    hg_status (*queue_submit)(hg_driver_queue *queue, const hg_driver_command *commands,
                              uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal); /* (queue) signal may be NULL */
    /* event: one submission at a time; after it was done it may signal another one, and may be
     * destroyed. event_wait returns at once where nothing was submitted with it; a driver without
     * event_wait says of such an event that it is done. */
    hg_status (*event_create)(hg_device *device, hg_driver_event **event);
    void (*event_destroy)(hg_driver_event *event);
    hg_status (*event_query)(hg_driver_event *event, bool *done);
    hg_status (*event_wait)(hg_driver_event *event); /* optional: NULL where the host cannot block
                                                      */
    /* Optional, for drivers without event_wait: the device's work goes on a little. Without it work
     * goes on only while the host does something else, and calls that would have to wait return
     * HG_ERROR_WOULD_BLOCK. */
    void (*device_poll)(hg_device *device);
    /* Optional, of drivers that nobody waits for, whose lanes the host cannot end
     * (arena_alloc_visible): a launch has not ended long after its time. The device is lost from
     * now on and left alone with it: all that was submitted has failed, and writes nothing of the
     * host any more. */
    void (*device_leave)(hg_device *device);
    /* Optional, of drivers with device_leave: when (hg_clock_ns) the device came to what the event
     * tells the end of; 0: it is at what others submitted before. */
    uint64_t (*event_began)(hg_driver_event *event);
    /* code: the module is legalised by the runtime; not kept */
    hg_status (*kernel_create)(hg_device *device, const kir_module *module,
                               hg_driver_kernel **kernel);
    hg_status (*code_create)(hg_device *device, const hg_driver_code *code,
                             hg_driver_kernel **kernel); /* for device forms: instead */
    /* Optional, of a compiler that goes on after kernel_create or code_create has returned: asked
     * until it is ready, or the status says what is wrong with the kernel. Until then nothing else
     * of the kernel is called but kernel_destroy. It returns at once. */
    hg_status (*kernel_ready)(hg_driver_kernel *kernel, bool *ready);
    void (*kernel_destroy)(hg_driver_kernel *kernel);
    /* Optional, both or none; where caps.compiler.improves says so. kernel_watch, before the first
     * launch: `ask` is called by launches, at most twice: when it is worth a look whether there is
     * better code already (hot false), and when it is worth compiling. It returns at once. False:
     * this kernel stays as it is. kernel_improve: gives the kernel that code while launches of it
     * run, and takes the module over; one call at a time for a kernel, from any thread. patience:
     * how long a compiler may take; then it is left alone, and the kernel stays as it is. NULL:
     * none is asked; HG_ERROR_WOULD_BLOCK where one would have to make the code. What else fails
     * says why the kernel stays as it is. */
    bool (*kernel_watch)(hg_driver_kernel *kernel, void (*ask)(void *user, bool hot), void *user);
    hg_status (*kernel_improve)(hg_device *device, hg_driver_kernel *kernel, kir_module *module,
                                const hg_patience *patience);
    /* Optional: what makes better code, or why nothing does and what to install. Opens it. */
    bool (*improves_by)(char text[256]);
    /* Optional, both or none, of drivers whose compiler may run only when a dispatch does: whether
     * it would for one like this, which is asked before each that differs from the one before; and
     * to make it run now, to its end. No lane runs: slots have no memory, and the record is zeros.
     * One call of code_prepare for a kernel at a time. Other work of the device may wait meanwhile.
     */
    bool (*code_is_ready)(hg_driver_kernel *kernel, const hg_driver_dispatch *dispatch);
    hg_status (*code_prepare)(hg_driver_kernel *kernel, const hg_driver_dispatch *idle);
    /* steps that the driver does: HG_CMD_STEP is submitted only when supported. Asked when the call
     * is known, for most steps when a binding is made: ranges have no memory yet. *scratch (0
     * before): bytes of memory that the step needs beside its arrays. */
    bool (*step_supported)(const hg_device *device, const plan_call *call, uint64_t *scratch);
    /* Optional: whose library does a supported call, and how: "oneDNN 2.6.3 brg:avx512_core"; "":
     * the driver itself. For profiles. */
    void (*step_describe)(const hg_device *device, const plan_call *call, char text[64]);
    /* Optional: the vendor's library that steps go through, or why none does and what to install.
     * Opens it. */
    bool (*steps_by)(char text[256]);
    /* Array graphs as one program of the device's compiler: optional, all or none, of a driver
     * whose work is over when queue_submit returns. ranges: of the arguments, then of the results,
     * of which none is another one's. *bad: an index was outside or a divisor 0, a range is not its
     * whole arena, or an arena is arguments of two shapes: nothing was changed. HG_ERROR_ISA: the
     * compiler does not take the text. One run of a module at a time. */
    hg_status (*module_create)(hg_device *device, const hg_driver_module_text *text,
                               hg_driver_module **module);
    void (*module_destroy)(hg_driver_module *module);
    hg_status (*module_run)(hg_driver_module *module, const hg_range *ranges, bool *bad);
    /* Commands as one program of the device's compiler: optional, all or none, of such a driver.
     * Between note_begin and note_end what this thread submits to the device's queues is noted in
     * place of being done: it has no fault, and what the host gives stays as it is. A command that
     * cannot be noted fails (HG_ERROR_ISA).
     * note_end gives what does all of them, where noted is not NULL and there were some; contents
     * of the arena of `scratch` are of no meaning before and afterwards. noted_run: arenas and
     * kernels are still there (hg_driver_gone); *bad: one of them has a fault, and the arrays that
     * they write, class memory aside, have no meaning. One run at a time. */
    hg_status (*note_begin)(hg_device *device);
    hg_status (*note_end)(hg_device *device, const hg_range *scratch, hg_driver_noted **noted);
    hg_status (*noted_run)(hg_driver_noted *noted, bool *bad);
    void (*noted_destroy)(hg_driver_noted *noted);
    /* Commands recorded once and submitted often: optional, all or none. Only HG_CMD_DISPATCH,
     * HG_CMD_COPY, HG_CMD_FILL and, with caps.scheduling.records_steps, HG_CMD_STEP; what their
     * pointers lead to is copied. One launch of a recording is in flight at a time.
     * recording_destroy is called when none is. */
    hg_status (*recording_create)(hg_device *device, const hg_driver_command *commands,
                                  uint32_t count, hg_driver_recording **recording);
    hg_status (*recording_launch)(hg_driver_queue *queue, hg_driver_recording *recording,
                                  hg_driver_event *const *waits, uint32_t wait_count,
                                  hg_driver_event *signal); /* (queue) as queue_submit */
    void (*recording_destroy)(hg_driver_recording *recording);
    /* Optional, only of a driver whose work is over when queue_submit returns: a launch without
     * deadline, cancel and open accesses, or a step, that will come again and again as it is.
     * Kernel, memory and the place of the fault stay until prepared_destroy, nothing else that the
     * command points to does. NULL: it is submitted like others. */
    hg_driver_prepared *(*prepare)(hg_device *device, const hg_driver_command *command);
    void (*prepared_destroy)(hg_driver_prepared *prepared);
    /* Optional, of a launch made ready that does not run: it is on other memory from now on, as
     * large as before, slot by slot, and identical or distinct as before. False: it is to be
     * destroyed. */
    bool (*prepared_move)(hg_driver_prepared *prepared, const hg_range *slots, uint32_t count);
} hg_driver;

/* ---- forked.c ---- */
/* To be asked before any other function of a driver: false in a forked child whose parent has used
 * the driver, unless it forks. */
bool hg_driver_is_ours(const hg_driver *driver);

/* ---- open.c ---- */
/* Opens a device, or what options->pretend makes of it: `polled`, a device whose work goes on only
 * in device_poll, or `no-wait`, one whose work goes on only while somebody asks for events. *table
 * is what the device is used through: the driver's, or one that lives until device_close. */
typedef hg_status hg_driver_opener(const hg_driver *driver, uint32_t index,
                                   const hg_driver_options *options, const hg_driver **table,
                                   hg_device **device);
hg_driver_opener hg_driver_open HG_NODISCARD;
/* The driver's own device. */
hg_status hg_driver_open_own(const hg_driver *driver, uint32_t index,
                             const hg_driver_options *options, hg_device **device) HG_NODISCARD;
/* What opens devices that pretend `polled` or `no-wait`: test support sets it before main. NULL:
 * there are none. */
extern hg_driver_opener *hg_driver_open_polled;

/* ---- wait.c ---- */
/* Whether the host can wait for the driver's work. */
bool hg_driver_can_wait(const hg_driver *driver);
/* The error of a call that would have to wait where nobody can: HG_ERROR_WOULD_BLOCK. what: "the
 * copy", "the launch", … */
hg_status hg_driver_would_block(const hg_driver *driver, const char *what) HG_NODISCARD;
/* Waits until the event is done; its status. On a driver without event_wait by polling, where that
 * helps; else HG_ERROR_WOULD_BLOCK. */
hg_status hg_driver_wait(const hg_driver *driver, hg_device *device,
                         hg_driver_event *event) HG_NODISCARD;
/* Whether a call may wait for what it submits: there is nothing to wait for, or it can be waited
 * for. */
static inline bool hg_driver_can_block(const hg_driver *driver, const hg_device_caps *caps) {
    return !caps->scheduling.asynchronous || hg_driver_can_wait(driver);
}
/* One command on a queue that nobody else uses, to its end. */
hg_status hg_driver_run(const hg_driver *driver, hg_device *device, const hg_device_caps *caps,
                        hg_driver_queue *queue, const hg_driver_command *command) HG_NODISCARD;

/* ---- checks.c ---- */
/* HG_ERROR_ALLOCATION_FAILED: open accesses of the device reach fewer arenas than there are. */
hg_status hg_driver_check_table(uint32_t arenas, uint32_t most) HG_NODISCARD;
/* HG_ERROR_INTERNAL where two slots of a dispatch are one arena: what a device with
 * target.bind_arenas relies on. */
hg_status hg_driver_check_bound_once(const hg_driver_dispatch *dispatch) HG_NODISCARD;
/* HG_ERROR_INTERNAL where a recording cannot have one of the commands (recording_create). driver:
 * its name. */
hg_status hg_driver_check_recordable(const char *driver, const hg_device_caps *caps,
                                     const hg_driver_command *commands,
                                     uint32_t count) HG_NODISCARD;

/* ---- gone.c ---- */
/* How many arenas and kernels whoever uses a driver has destroyed, of all devices: pointers to them
 * and plans made of them are good for as long as the number stays. The runtime notes each before it
 * frees it. */
void hg_driver_note_gone(void);
uint64_t hg_driver_gone(void);

/* Where the host has an arena; NULL: nowhere, or nobody knows. */
static inline const void *hg_arena_host(const hg_driver *driver, const hg_device_caps *caps,
                                        hg_driver_arena *arena) {
    if (caps->memory.host_memory) return driver->arena_map(arena);
    return driver->arena_host ? driver->arena_host(arena) : NULL;
}

/* The tables of backends.def. */
extern const hg_driver *const hg_drivers[];
extern const uint32_t hg_driver_count;

#endif
