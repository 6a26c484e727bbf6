/* A C++ program against the installed library. */
#include <hologram/status.h>
#include <cstdio>
#include <cstring>

int main() {
    const char *name = hg_status_name(HG_OK);
    if (std::strcmp(name, "HG_OK") != 0) {
        std::fprintf(stderr, "expected HG_OK, got %s\n", name);
        return 1;
    }
    return 0;
}
