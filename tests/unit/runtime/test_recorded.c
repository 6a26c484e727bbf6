/* Batches that come again: when they become a recording of the driver, and what makes it forget
 * one. */
#include "runtime/recorded.h"
#include "test.h"
#include <string.h>

static int made, freed;
static bool fails;
static hg_status recording_create(hg_device *d, const hg_driver_command *commands, uint32_t count,
                                  hg_driver_recording **recording) {
    (void)d;
    (void)commands;
    if (fails) return hg_fail_memory();
    CHECK_U64(count, 3);
    *recording = (hg_driver_recording *)&made;
    made++;
    return HG_OK;
}
static void recording_destroy(hg_driver_recording *recording) {
    CHECK(recording == (hg_driver_recording *)&made);
    freed++;
}

typedef struct batch {
    uint64_t record[3];
    hg_range slots[2];
    hg_driver_dispatch dispatch;
    hg_driver_command commands[3];
} batch;

static void make(batch *b) {
    memset(b, 0, sizeof *b);
    b->slots[1] = (hg_range){(hg_driver_arena *)b, 64, 128};
    b->dispatch = (hg_driver_dispatch){.kernel = (hg_driver_kernel *)b,
                                       .groups = {1, 2, 3},
                                       .record = b->record,
                                       .record_bytes = 24,
                                       .slots = b->slots,
                                       .slot_count = 2};
    b->commands[0] = (hg_driver_command){.kind = HG_CMD_FILL, .to = b->slots[1], .value = 7};
    b->commands[1] = (hg_driver_command){.kind = HG_CMD_DISPATCH, .dispatch = &b->dispatch};
    b->commands[2] = (hg_driver_command){
        .kind = HG_CMD_COPY, .to = b->slots[1], .from = b->slots[1]};
}

static const hg_device_caps *device_caps(const hg_device *device) {
    static const hg_device_caps caps;
    (void)device;
    return &caps;
}
static const hg_driver driver = {.device_caps = device_caps,
                                 .recording_create = recording_create,
                                 .recording_destroy = recording_destroy};
static hg_recorded recorded;
static bool find(const batch *b) {
    return hg_recorded_find(&recorded, &driver, NULL, b->commands, 3);
}

/* How often it must come until it is a recording. */
static int times_until_plan(const batch *b) {
    for (int i = 1; i < 20; i++)
        if (find(b)) return i;
    return 0;
}

int main(void) {
    enum { TIMES = HG_RECORD_AFTER + 2 }; /* the first makes the image */
    batch one, other;
    make(&one);
    CHECK_U64(times_until_plan(&one), TIMES);
    CHECK(find(&one) && made == 1 && freed == 0);
    /* the contents count, not where they are */
    make(&other);
    other.slots[1] = other.commands[0].to = other.commands[2].to = other.commands[2].from =
        one.slots[1];
    other.dispatch.kernel = one.dispatch.kernel;
    CHECK(find(&other));
    /* every part of a command */
    uint8_t *parts[] = {(uint8_t *)&other.record[2],
                        (uint8_t *)&other.slots[1].size,
                        (uint8_t *)&other.dispatch.groups[2],
                        (uint8_t *)&other.dispatch.kernel,
                        (uint8_t *)&other.dispatch.group[0],
                        &other.commands[0].value,
                        (uint8_t *)&other.commands[2].to.size,
                        (uint8_t *)&other.commands[2].from.size,
                        (uint8_t *)&other.dispatch.group_memory};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i] ^= 1;
        CHECK_MESSAGE(!find(&other) && !recorded.repeated.recording, "part %d", (int)i);
        CHECK_U64(times_until_plan(&other), TIMES - 1);
    }
    CHECK(made == freed + 1);
    /* fewer commands, none, one that no recording has */
    CHECK(!hg_recorded_find(&recorded, &driver, NULL, other.commands, 2) &&
          !hg_recorded_find(&recorded, &driver, NULL, NULL, 0));
    CHECK(made == freed);
    hg_driver_command in = {.kind = HG_CMD_COPY_IN};
    for (int i = 0; i < 10; i++) CHECK(!hg_recorded_find(&recorded, &driver, NULL, &in, 1));
    CHECK_U64(times_until_plan(&one), TIMES);
    /* what is in flight stays */
    hg_recorded_launched(&recorded);
    CHECK(!find(&one) && !find(&other) && recorded.repeated.recording);
    hg_recorded_done(&recorded);
    CHECK(find(&one));
    /* an arena or a kernel is gone: pointers may mean something else */
    hg_driver_note_gone();
    CHECK(!find(&one) && !recorded.repeated.recording);
    CHECK_U64(times_until_plan(&one), TIMES - 1);
    hg_driver_note_gone();
    fails = true;
    CHECK_U64(times_until_plan(&one), 0);
    hg_recorded_free(&recorded, &driver);
    CHECK(made == freed && !recorded.image);
    return test_done();
}
