/* See in_process.h. */
#include "support/in_process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void in_process(const char *settings, void (*act)(char said[512]), char said[512]) {
    int ends[2];
    char words[512];
    memset(said, 0, 512);
    if (pipe(ends)) return;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char text[512] = "";
        snprintf(words, sizeof words, "%s", settings);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) putenv(word);
        act(text);
        _exit(write(ends[1], text, strlen(text)) < 0);
    }
    close(ends[1]);
    if (child > 0 && read(ends[0], said, 511) < 0) said[0] = 0;
    close(ends[0]);
    if (child > 0) (void)waitpid(child, NULL, 0);
}
