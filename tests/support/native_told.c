/* See native_told.h. */
#include "native_told.h"
#include "test.h"
#include <stdatomic.h>

static atomic_uint with, without;
static char reason[160] = "no kernel was asked to be native";

static void hear(void *user, const hg_code_report *report) {
    (void)user;
    if (report->native)
        with++;
    else if (without++ == 0)
        snprintf(reason, sizeof reason, "%s: %s", report->kernel, report->reason);
}

hg_status native_listen(hg_backend *backend) { return hg_backend_listen(backend, hear, NULL); }

void native_told(bool all) {
    printf("%u kernels in native code, %u on the interpreter\n", with, without);
    if (!with || (all && without)) SKIP(reason);
}
