/* hologram-try-driver VERSION DRIVER FIRST: the command's `try-driver` (cli/try_driver.c), by a
 * place and a name that only this project has: the library looks for it beside itself and beside
 * programs, where a file called hologram may be anyone's. It becomes the command of the build
 * folder, of the wheel or of the installation that it lies in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static const char *const COMMANDS[] = {"../../hologram", HG_INSTALLED_COMMAND};
    static char path[8192], first[] = "hologram", second[] = "try-driver";
    char *arguments[6] = {first, second}; /* and the three, and NULL */
    char *own = realpath((const char *)getauxval(AT_EXECFN), NULL),
         *slash = own ? strrchr(own, '/') : NULL;
    if (!slash || argc != 4) {
        fprintf(stderr, "usage: hologram-try-driver VERSION DRIVER FIRST 3>&1\n");
        return 2;
    }
    *slash = 0;
    memcpy(arguments + 2, argv + 1, 3 * sizeof *argv);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", own, COMMANDS[i]);
        if (length > 0 && length < (int)sizeof path) execv(path, arguments);
    }
    fprintf(stderr, "hologram-try-driver: there is no command hologram near %s\n", own);
    return 2;
}
