/* Ranks of an example: the processes that mpirun has started, or threads of this one. */
#ifndef EXAMPLES_MANY_RANKS_H
#define EXAMPLES_MANY_RANKS_H

#include <hologram/hologram.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                          \
    do {                                                   \
        if ((call) != HG_OK) {                             \
            fprintf(stderr, "%s\n", hg_last_error_text()); \
            exit(1);                                       \
        }                                                  \
    } while (0)

typedef struct rank {
    hg_backend *device;
    hg_comm *comm;
    void (*run)(struct rank *self);
    const char *argument;
    pthread_t thread;
} rank;

static hg_backend *open_device(uint64_t max_memory) {
    hg_config config = hg_config_default();
    hg_backend *device;
    memcpy(config.backend, "cpu", sizeof "cpu");
    config.num_threads = 1;
    config.max_memory = max_memory;
    TRY(hg_backend_create_with_config(&config, &device));
    return device;
}

static void *rank_main(void *user) {
    rank *self = user;
    self->run(self);
    hg_comm_destroy(self->comm);
    hg_backend_destroy(self->device);
    return NULL;
}

static void run_ranks(uint32_t count, uint64_t max_memory, const char *argument,
                      void (*run)(rank *self)) {
    enum { MOST = 64 };
    static rank ranks[MOST];
    hg_backend *devices[MOST];
    hg_comm *comms[MOST];
    bool mpi = hg_comm_is_launched("mpi");
    if (mpi || count < 1) count = 1;
    if (count > MOST) count = MOST;
    for (uint32_t i = 0; i < count; i++) devices[i] = open_device(max_memory);
    if (mpi)
        TRY(hg_comm_create("mpi", devices[0], &comms[0]));
    else
        TRY(hg_comm_create_local(devices, count, comms));
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = (rank){.device = devices[i], .comm = comms[i], .run = run, .argument = argument};
    for (uint32_t i = 1; i < count; i++)
        if (pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i])) abort();
    rank_main(&ranks[0]);
    for (uint32_t i = 1; i < count; i++) pthread_join(ranks[i].thread, NULL);
}

static hg_program *assemble(const char *text) {
    hg_program *program;
    TRY(hg_program_assemble(text, strlen(text), NULL, &program));
    return program;
}

static hg_buffer buffer_of(hg_backend *device, uint64_t bytes) {
    hg_buffer buffer;
    TRY(hg_backend_allocate_buffer(device, bytes, &buffer));
    return buffer;
}

#endif
