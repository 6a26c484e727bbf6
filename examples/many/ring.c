/* Heat on a ring of 4,096 cells that ranks share: before each step a rank sends the cells at its
 * ends to its neighbours and receives theirs. What comes out has the same bits for any number of
 * ranks. */
#include "ranks.h"

enum { CELLS = 4096, STEPS = 200 };

/* u and v have a cell of a neighbour at either end. */
static const char TEXT[] = ".atlas 1\n"
                           ".program step\n"
                           ".param u buffer f32 in [n + 2]\n"
                           ".param v buffer f32 inout [n + 2]\n"
                           ".param n u64\n"
                           ".lanes n\n"
                           "    let i = global + 1\n"
                           "    v[i] = u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[i + 1])\n";

static hg_comm_call message(hg_comm_kind kind, uint32_t peer, hg_buffer buffer, uint64_t cell) {
    return (hg_comm_call){.size = sizeof(hg_comm_call),
                          .kind = kind,
                          .type = HG_TYPE_F32,
                          .peer = peer,
                          .count = 1,
                          .input_buffer = buffer,
                          .output_buffer = buffer,
                          .input_offset = 4 * cell,
                          .output_offset = 4 * cell};
}

static void copy_cell(rank *r, hg_buffer u, uint64_t from, uint64_t to) {
    float cell;
    TRY(hg_buffer_read(r->device, u, 4 * from, &cell, sizeof cell));
    TRY(hg_buffer_write(r->device, u, 4 * to, &cell, sizeof cell));
}

/* The ends go out while those of the neighbours come in. */
static void exchange(rank *r, hg_buffer u, uint64_t n) {
    uint32_t size = hg_comm_size(r->comm), self = hg_comm_rank(r->comm),
             left = (self + size - 1) % size, right = (self + 1) % size;
    if (size == 1) {
        copy_cell(r, u, n, 0);
        copy_cell(r, u, 1, n + 1);
        return;
    }
    hg_comm_call out[2] = {message(HG_COMM_SEND, right, u, n), message(HG_COMM_SEND, left, u, 1)},
                 in[2] = {message(HG_COMM_RECV, left, u, 0),
                          message(HG_COMM_RECV, right, u, n + 1)};
    hg_event *sent[2];
    for (int i = 0; i < 2; i++) TRY(hg_comm_start(r->comm, &out[i], NULL, 0, &sent[i]));
    for (int i = 0; i < 2; i++) TRY(hg_comm_run(r->comm, &in[i]));
    for (int i = 0; i < 2; i++) {
        TRY(hg_event_wait(sent[i]));
        hg_event_destroy(sent[i]);
    }
}

static hg_binding *bind_step(hg_executable *executable, hg_buffer u, hg_buffer v, uint64_t n) {
    hg_binding *binding;
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(n);
    TRY(hg_params_set_buffer(params, "u", u));
    TRY(hg_params_set_buffer(params, "v", v));
    TRY(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    TRY(hg_binding_create(executable, &launch, params, &binding));
    hg_params_destroy(params);
    return binding;
}

static void run(rank *r) {
    static float whole[CELLS];
    uint64_t size = hg_comm_size(r->comm), n = CELLS / size, first = hg_comm_rank(r->comm) * n;
    if (CELLS % size) {
        fprintf(stderr, "ring: %u ranks, a power of two expected\n", (unsigned)size);
        exit(2);
    }
    float *cells = malloc(n * sizeof *cells);
    hg_program *program = assemble(TEXT);
    hg_executable *executable;
    hg_buffer u[2] = {buffer_of(r->device, 4 * (n + 2)), buffer_of(r->device, 4 * (n + 2))};
    if (!cells) abort();
    for (uint64_t i = 0; i < n; i++) cells[i] = (float)((first + i) * 7919 % 1000) / 8;
    TRY(hg_buffer_write(r->device, u[0], 4, cells, n * sizeof *cells));
    TRY(hg_executable_create(r->device, program, &executable));
    hg_binding *steps[2] = {bind_step(executable, u[0], u[1], n),
                            bind_step(executable, u[1], u[0], n)};
    for (int i = 0; i < STEPS; i++) {
        exchange(r, u[i % 2], n);
        TRY(hg_binding_launch(steps[i % 2]));
    }
    TRY(hg_buffer_read(r->device, u[STEPS % 2], 4, cells, n * sizeof *cells));
    hg_comm_call gather = {.size = sizeof gather,
                           .kind = HG_COMM_GATHER,
                           .type = HG_TYPE_F32,
                           .count = n,
                           .input = cells,
                           .output = whole};
    TRY(hg_comm_run(r->comm, &gather));
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < sizeof whole; i++)
        hash = (hash ^ ((const uint8_t *)whole)[i]) * UINT64_C(0x100000001B3);
    if (!hg_comm_rank(r->comm))
        printf("cell 0 %g, cell 2048 %g, hash %016llx\n", (double)whole[0], (double)whole[2048],
               (unsigned long long)hash);
    for (int i = 0; i < 2; i++) hg_binding_destroy(steps[i]);
    hg_executable_destroy(executable);
    hg_program_release(program);
    free(cells);
}

int main(int argc, char **argv) {
    int ranks = argc > 1 ? atoi(argv[1]) : 1;
    if (ranks < 1 || ranks > 64 || CELLS % ranks) {
        fprintf(stderr, "ring [RANKS], a power of two\n");
        return 2;
    }
    run_ranks((uint32_t)ranks, 0, NULL, run);
    return 0;
}
