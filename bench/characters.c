/* How long a look-up in the character table takes, against reading the same entries from an array
 * of values made beforehand. */
#include <hologram/characters.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = HG_CHARACTER_COUNT, LOOKUPS = 1 << 16, ROUNDS = 21 };
static uint16_t place[LOOKUPS][2];
static double ready[N][N];
static volatile double sink;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double look_up(int form, uint64_t i, uint64_t j) {
    double real = 0, imaginary;
    uint8_t bytes[16] = {0};
    hg_character_value value;
    switch (form) {
    case 0: return ready[i][j];
    case 1: return hg_character_f64(i, j, &real, &imaginary) == HG_OK ? real : -1;
    case 2: return hg_character_i128(i, j, bytes) == HG_OK ? bytes[0] : -1;
    default: return hg_character(i, j, &value) == HG_OK ? value.rational[0] : -1;
    }
}

static int by_size(const void *a, const void *b) {
    return *(const double *)a < *(const double *)b ? -1 : 1;
}

/* Entries at random places, or those of one class; irrational ones (196 of 37,636) are left out
 * where the form refuses them. */
static void race(const char *what, int form, int column) {
    double seconds[ROUNDS], real, imaginary, sum = 0;
    uint32_t state = 1;
    for (int k = 0; k < LOOKUPS; k++) {
        do {
            state = state * 1664525 + 1013904223;
            place[k][0] = (uint16_t)((state >> 8) % N);
            state = state * 1664525 + 1013904223;
            place[k][1] = (uint16_t)(column < 0 ? (state >> 8) % N : (uint32_t)column);
        } while (hg_character_f64(place[k][0], place[k][1], &real, &imaginary) == HG_OK &&
                 imaginary != 0 && form == 2);
    }
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        for (int k = 0; k < LOOKUPS; k++) sum += look_up(form, place[k][0], place[k][1]);
        seconds[r] = now() - start;
    }
    sink = sum;
    qsort(seconds, ROUNDS, sizeof *seconds, by_size);
    printf("%-44s %6.2f ns  (%.2f to %.2f)\n", what, seconds[ROUNDS / 2] / LOOKUPS * 1e9,
           seconds[ROUNDS / 10] / LOOKUPS * 1e9, seconds[ROUNDS - 1 - ROUNDS / 10] / LOOKUPS * 1e9);
}

int main(void) {
    for (uint64_t i = 0; i < N; i++) {
        for (uint64_t j = 0; j < N; j++) {
            if (hg_character_f64(i, j, &ready[i][j], NULL) != HG_OK) return 1;
        }
    }
    printf("one look-up, median of %d rounds of %d (tenth to ninetieth percentile)\n", ROUNDS,
           LOOKUPS);
    race("peer: array of doubles made beforehand", 0, -1);
    race("hg_character_f64, any entry", 1, -1);
    race("hg_character_i128, any rational entry", 2, -1);
    race("hg_character, any entry", 3, -1);
    race("hg_character_f64, degrees (12 bytes wide)", 1, 0);
    race("hg_character_i128, degrees", 2, 0);
    return 0;
}
