/* Doing something in a process of its own, for what a process does only once, such as opening a
 * vendor's library. */
#ifndef HG_TESTS_IN_PROCESS_H
#define HG_TESTS_IN_PROCESS_H

/* act in a child with these settings of the environment, "NAME=VALUE NAME=VALUE"; what it says
 * comes back. "": it ended without a word. */
void in_process(const char *settings, void (*act)(char said[512]), char said[512]);

#endif
