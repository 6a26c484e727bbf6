/* A C program against the installed library. */
#include <hologram/status.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *name = hg_status_name(HG_OK);
    if (strcmp(name, "HG_OK") != 0) {
        fprintf(stderr, "expected HG_OK, got %s\n", name);
        return 1;
    }
    return 0;
}
