/* One rank of the suite under a launcher: run.py starts it. The last line says what it counted. */
#include "comm/suite.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    suite_counts counts = {0, 0};
    hg_config config = hg_config_default();
    hg_backend *backend = NULL;
    hg_comm *comm = NULL;
    memcpy(config.backend, "cpu", sizeof "cpu");
    config.num_threads = 1;
    if (hg_backend_create_with_config(&config, &backend) != HG_OK ||
        hg_comm_create("auto", backend, &comm) != HG_OK) {
        fprintf(stderr, "%s\n", hg_last_error_text());
        hg_backend_destroy(backend);
        return 1;
    }
    if (strcmp(hg_comm_provider(comm), "mpi") != 0) {
        fprintf(stderr, "the provider is %s\n", hg_comm_provider(comm));
        counts.failed++;
    }
    comm_suite(backend, comm, all, &counts);
    printf("rank %u of %u: %lu passed, %lu failed\n", hg_comm_rank(comm), hg_comm_size(comm),
           counts.passed, counts.failed);
    hg_comm_destroy(comm);
    hg_backend_destroy(backend);
    return counts.failed != 0;
}
