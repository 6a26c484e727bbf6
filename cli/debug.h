/* The debugger of `hologram debug`: one program on the tile interpreter, stopped at its
 * instructions. Going back is running again. */
#ifndef HG_CLI_DEBUG_H
#define HG_CLI_DEBUG_H

#include "launch.h"
#include "tile/tile.h"

/* What a register held last, a lane each, of the lanes of the window. */
typedef struct debug_row {
    uint8_t *type;       /* hg_type + 1; 0: nothing was written */
    uint64_t *parts[64]; /* made when a value has so many words */
} debug_row;

typedef struct debug_break {
    uint32_t number, inst;
} debug_break;

enum { DEBUG_SHARED = -1, DEBUG_PRIVATE = -2 }; /* memory that is no parameter's */

/* Bytes of an array, of shared or of private memory. */
typedef struct debug_watch {
    uint32_t number;
    char text[320]; /* a name with an index */
    int array;      /* index of the parameter, or DEBUG_… */
    uint64_t lane;  /* of private memory */
    uint64_t offset;
    uint8_t type;
    uint16_t size;
    bool known;
    uint8_t last[512];
} debug_watch;

/* Until when lanes go on. */
typedef enum debug_mode {
    DEBUG_STOP,     /* at the next instruction of the lane */
    DEBUG_CONTINUE, /* to a breakpoint, a watch or the end */
    DEBUG_UNTIL,    /* to an instruction of the lane */
    DEBUG_REPLAY,   /* to event `target`, silently */
    DEBUG_SEARCH /* to event `target`; `found` is the last one before it in which the lane came to
                    an instruction (to `inst`, if given) */
} debug_mode;

typedef struct debug {
    cli *c;
    const cli_launch *options;
    cli_values values;
    const hg_program *program;
    hg_launch launch;
    uint8_t **memory; /* of each parameter that is an array: what the launch works on */
    bool interactive;
    struct {                    /* of the program, so far */
        uint64_t lanes, events; /* instructions that tiles have come to */
        debug_mode mode;
        uint64_t target, found;
        uint32_t inst; /* of DEBUG_UNTIL and DEBUG_SEARCH; UINT32_MAX: any */
        uint64_t steps;
        const char *reason; /* of the stop at `target` */
        bool again, quit;   /* end this run: start over, or leave */
        bool ended;         /* behind the launch */
        const tile_place *place;
        uint32_t last_inst;
        uint64_t last_lane0;
    } run;
    struct { /* what commands speak of: a lane, and the registers of those around it */
        uint64_t lane;
        bool pinned;     /* asked for: others do not stop */
        uint64_t window; /* first lane whose registers are kept */
        uint32_t window_lanes;
        uint64_t handle[HG_MAX_REGISTERS]; /* what the launch gave a register: other values may come
                                              there later */
        bool has_handle[HG_MAX_REGISTERS];
        debug_row registers[HG_MAX_REGISTERS], predicates[HG_MAX_PREDICATES];
    } look;
    HG_VEC(debug_break) breaks;
    HG_VEC(debug_watch) watches;
    uint32_t next_number;
    char *line;
    size_t line_bytes;
    bool failed; /* a command was wrong */
} debug;

/* debug_state.c */
void debug_forget(debug *d); /* the registers, in front of a run */
void debug_free_state(debug *d);
extern const tile_debugger debug_hooks; /* user: a debug */
void debug_watch_signals(void);
/* True where a watched element has changed: it was told, and commands say whether to go on. Behind
 * the end of a run too. */
bool debug_stop_at_watch(debug *d, bool *go_on);

/* debug_look.c */
bool debug_is_here(const debug *d, uint64_t lane);
/* The value of a register in a lane: its words; type HG_TYPE_COUNT: not known. */
hg_type debug_register(const debug *d, bool predicate, uint8_t number, uint64_t lane,
                       uint64_t words[64]);
/* Bytes of memory that are there now: of a parameter's, of the shared memory of the block that is
 * here, of the private memory of a lane among those that are here. 0: none, or not known. */
uint64_t debug_memory_size(const debug *d, int array, uint64_t lane);
/* Copies some of them. False: they are not there. */
bool debug_bytes(const debug *d, int array, uint64_t lane, uint64_t offset, uint64_t size,
                 uint8_t *bytes);

/* debug_words.c: tells where it stopped, and obeys until a command lets the program go on. False:
 * this run ends. */
bool debug_talk(debug *d, const char *reason, const char *detail);
void debug_say(debug *d, const char *event, const char *format, ...) HG_PRINTF(3, 4);

#endif
