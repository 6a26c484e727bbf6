/* What the process of the command is set up with: descriptors 0 to 2, signals. Must not know:
 * commands. */
#include "base/disk.h"
#include "cli.h"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Descriptors 0 to 2 that the caller has closed would be given to the first files that are opened.
 * The right ones in the wrong direction: reading and writing them fails as it did. */
static void open_standard_streams(void) {
    for (int i = 0; i < 3; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

static void end_by(int number) {
    hg_temporaries_unlink();
    signal(number, SIG_DFL);
    raise(number); /* when this handler returns */
}

void cli_begin(void) {
    static const int ENDING[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction before, handler = {.sa_handler = end_by};
    open_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* a limit of the file size is an error of the write */
    for (size_t i = 0; i < HG_COUNT_OF(ENDING); i++)
        if (sigaction(ENDING[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ENDING[i], &handler, NULL);
}
