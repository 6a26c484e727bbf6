/* A PJRT plugin without a device: buffers are memory of the host, and an executable gives each
 * array that it writes the bytes that it had. It fails where a test wants it to (fake_pjrt_fail_at,
 * or FAKE_PJRT while it is loaded), counts what lives, and checks what it is given against the
 * program's @main. */
#include "backends/tpu/pjrt.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 71, MOST = 16 };

struct pjrt_error {
    char text[96];
};
struct pjrt_event {
    int unused;
};
typedef struct array_type {
    int bits;
    uint64_t count;
    bool given; /* of an argument: a result is in place of it */
} array_type;
struct pjrt_buffer {
    array_type type;
    uint64_t size;
    bool gone; /* given away */
    unsigned char data[];
};
struct pjrt_executable {
    array_type inputs[MOST], outputs[MOST];
    int input_count, output_count;
};

static atomic_long live;
static atomic_int held, waiting;
static int countdown;
static uint64_t record[MOST];

/* ---- for the test ---- */
void fake_pjrt_fail_at(int call); /* the call-th call from now on; 0: none */
int fake_pjrt_left(void);         /* calls until then; 0: it has failed, or none is to fail */
long fake_pjrt_live(void);
uint64_t fake_pjrt_record(int number); /* of the last launch */
void fake_pjrt_hold(int call); /* that does not return until it is 0: 1 compile, 2 execute */
int fake_pjrt_waiting(void);   /* calls that do not return now */
void fake_pjrt_fail_at(int call) { countdown = call; }
int fake_pjrt_left(void) { return countdown; }
long fake_pjrt_live(void) { return atomic_load(&live); }
uint64_t fake_pjrt_record(int number) { return record[number]; }
void fake_pjrt_hold(int call) { atomic_store(&held, call); }
int fake_pjrt_waiting(void) { return atomic_load(&waiting); }
static void hold(int call) {
    if (atomic_load(&held) != call) return;
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&held) == call) (void)sched_yield();
    atomic_fetch_sub(&waiting, 1);
}

static void *make(size_t size) {
    void *p = calloc(1, size);
    if (!p) abort();
    atomic_fetch_add(&live, 1);
    return p;
}
static pjrt_error *drop(void *p) {
    free(p);
    atomic_fetch_sub(&live, 1);
    return NULL;
}
static pjrt_error *error(const char *text) {
    pjrt_error *e = make(sizeof *e);
    snprintf(e->text, sizeof e->text, "%s", text);
    return e;
}
/* Whether it is this call that fails. */
static pjrt_error *turn(const char *name) {
    const char *wanted = getenv("FAKE_PJRT");
    if (countdown && --countdown == 0) return error(name);
    return wanted && strcmp(wanted, name) == 0 ? error(name) : NULL;
}
#define TURN(name)                   \
    pjrt_error *turned = turn(name); \
    if (turned) return turned;

static pjrt_error *error_destroy(pjrt_of_error *a) { return drop(a->error); }
static pjrt_error *error_message(pjrt_message *a) {
    a->text = a->error->text;
    a->length = strlen(a->text);
    return NULL;
}
static pjrt_error *error_code(pjrt_code *a) {
    a->code = 13;
    return NULL;
}
static pjrt_error *initialize(pjrt_head *a) {
    (void)a;
    return turn("initialize");
}
static pjrt_error *event_destroy(pjrt_of_event *a) { return drop(a->event); }
static pjrt_error *event_await(pjrt_of_event *a) {
    (void)a;
    return turn("await");
}
static pjrt_error *client_create(pjrt_client_create *a) {
    TURN("client")
    a->client = (pjrt_client *)record;
    return NULL;
}
static pjrt_error *client_destroy(pjrt_of_client *a) {
    (void)a;
    return NULL;
}
static pjrt_error *client_text(pjrt_client_text *a) {
    TURN("platform")
    a->text = "fake";
    a->length = 4;
    return NULL;
}
static pjrt_error *devices_of(pjrt_devices *a) {
    static pjrt_device *const devices[1] = {(pjrt_device *)record};
    const char *wanted = getenv("FAKE_PJRT");
    TURN("devices")
    a->devices = devices;
    a->count = !wanted || strcmp(wanted, "none") != 0;
    return NULL;
}
static pjrt_error *description_kind(pjrt_description_text *a) {
    a->text = "fake";
    a->length = 4;
    return NULL;
}
static pjrt_error *device_description(pjrt_device_description *a) {
    a->description = (pjrt_description *)record;
    return NULL;
}

/* The types "tensor<7xui32>" from a text up to `end`. */
static int types_of(const char *text, const char *end, array_type *types) {
    int count = 0;
    while ((text = strstr(text, "tensor<")) && text < end && count < MOST) {
        unsigned long long elements = 0;
        if (sscanf(text, "tensor<%lluxui%d>", &elements, &types[count].bits) != 2) abort();
        const char *next = strstr(text + 1, "tensor<"),
                   *in_place = strstr(text, "tf.aliasing_output");
        types[count].given = in_place && in_place < end && (!next || in_place < next);
        types[count++].count = elements;
        text++;
    }
    return count;
}
static pjrt_error *compile(pjrt_compile *a) {
    TURN("compile")
    hold(1);
    char *text = strndup(a->program->code, a->program->length);
    const char *start = text ? strstr(text, "@main(") : NULL,
               *arrow = start ? strstr(start, ") -> (") : NULL,
               *end = arrow ? strchr(arrow, '{') : NULL;
    if (!end) return error("no @main");
    a->executable = make(sizeof *a->executable);
    a->executable->input_count = types_of(start, arrow, a->executable->inputs);
    a->executable->output_count = types_of(arrow, end, a->executable->outputs);
    free(text);
    return NULL;
}
static pjrt_error *executable_destroy(pjrt_of_executable *a) { return drop(a->executable); }

static pjrt_buffer *new_buffer(array_type type, const void *data) {
    uint64_t size = type.count * (unsigned)type.bits / 8;
    pjrt_buffer *b = make(sizeof *b + size);
    b->type = type;
    b->size = size;
    if (data) memcpy(b->data, data, size);
    return b;
}
static pjrt_error *from_host(pjrt_from_host *a) {
    static const int BITS[] = {[PJRT_U8] = 8, [PJRT_U16] = 16, [PJRT_U32] = 32, [PJRT_U64] = 64};
    TURN("from_host")
    a->buffer = new_buffer((array_type){BITS[a->type], (uint64_t)a->extents[0], false}, a->data);
    a->done = make(sizeof *a->done);
    return NULL;
}
static pjrt_error *buffer_destroy(pjrt_of_buffer *a) {
    memset(a->buffer->data, 0xdd, a->buffer->size); /* nobody may look at it any more */
    return drop(a->buffer);
}
static pjrt_error *is_gone(pjrt_is_gone *a) {
    a->gone = a->buffer->gone;
    return NULL;
}
static pjrt_error *to_host(pjrt_to_host *a) {
    TURN("to_host")
    if (a->buffer->gone) return error("it was given away");
    if (a->size < a->buffer->size) return error("memory of the host is too small");
    memcpy(a->data, a->buffer->data, a->buffer->size);
    a->event = make(sizeof *a->event);
    return NULL;
}
static bool same(array_type a, array_type b) { return a.bits == b.bits && a.count == b.count; }
static pjrt_error *execute(pjrt_execute *a) {
    const pjrt_executable *e = a->executable;
    pjrt_buffer *const *in = a->arguments[0], **out = a->results[0];
    TURN("execute")
    if (a->argument_count != (size_t)e->input_count) return error("number of arguments");
    for (int i = 0; i < e->input_count; i++)
        if (!same(in[i]->type, e->inputs[i]) || in[i]->gone) return error("type of an argument");
    memcpy(record, in[0]->data, in[0]->size < sizeof record ? in[0]->size : sizeof record);
    out[0] = new_buffer(e->outputs[0], NULL);
    for (int i = 1, from = 1; i < e->output_count; i++, from++) {
        while (from < e->input_count && !same(e->outputs[i], e->inputs[from])) from++;
        if (from == e->input_count) return error("a result that is no argument");
        out[i] = new_buffer(e->outputs[i], in[from]->data);
    }
    for (int i = 0; i < e->input_count; i++) {
        in[i]->gone = e->inputs[i].given;
        if (in[i]->gone) memset(in[i]->data, 0xdd, in[i]->size);
    }
    hold(2);
    for (int i = 0; i < 20; i++) (void)sched_yield(); /* a launch takes a while */
    a->events[0] = make(sizeof *a->events[0]);
    return NULL;
}

const pjrt_table *GetPjrtApi(void);
const pjrt_table *GetPjrtApi(void) {
    static struct {
        pjrt_head head, version_head;
        int major, minor;
        void *functions[PLACES];
    } table = {.minor = 90};
    const char *wanted = getenv("FAKE_PJRT");
    pjrt_error *(*const platform_name)(pjrt_client_text *) = client_text,
                                                        *(*const platform_version)(
                                                            pjrt_client_text *) = client_text;
    table.head.size = sizeof table;
    if (wanted && strcmp(wanted, "null") == 0) return NULL;
    if (wanted && strcmp(wanted, "short") == 0) table.head.size = 8;
#define PJRT_CALL(place, name, arguments)                            \
    {                                                                \
        pjrt_error *(*const function)(arguments *) = name;           \
        memcpy(&table.functions[place], &function, sizeof function); \
    }
    PJRT_CALLS(PJRT_CALL)
    PJRT_CALL(68, is_gone, pjrt_is_gone)
    if (wanted && strcmp(wanted, "old") == 0) table.functions[70] = NULL;
    return (const pjrt_table *)(const void *)&table;
}
