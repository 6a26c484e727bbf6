/* Lift and Resonate: every class as a unit vector of 196,884 components, and back (semantics 5.13).
 * The components are SplitMix64's stream, seeded with the class, under weights that depend on one
 * coordinate of the class in each of three regions. The sine is our own, so that every machine
 * gives the same bits.
 * Must not know: what the vectors are for. */
#include "atlas/atlas_internal.h"
#include <math.h>

enum { REGION_1 = 49221, REGION_2 = 131072, CHUNK = 512 };

/* ---- SplitMix64 (Steele, Lea, Flood 2014): the n-th number needs no earlier one ---- */

static const uint64_t STEP = UINT64_C(0x9E3779B97F4A7C15);

static double uniform(uint64_t seed, uint64_t i) {
    uint64_t z = seed + (i + 1) * STEP;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static uint64_t seed_of(hg_class_parts p) {
    return (uint64_t)p.scope << 32 | (uint64_t)p.modality << 16 | p.context;
}

/* ---- weights ---- */

/* sin(2π·turns), 0 <= turns < 4: to the nearest quarter turn, then Taylor's series on ±π/4, whose
 * rest is below 2^-56. */
static double sine(double turns) {
    double quarter = floor(turns * 4 + 0.5), x = (turns - quarter * 0.25) * 6.283185307179586477,
           s = x * x;
    bool cosine = (int)quarter & 1;
    double sum = 1;
    for (int n = cosine ? 16 : 17; n > 1; n -= 2) sum = 1 - sum * s / (n * (n - 1));
    double value = cosine ? sum : sum * x;
    return (int)quarter & 2 ? -value : value;
}

/* The coordinate that matters at component i, and the number of its values. */
static unsigned coordinate(hg_class_parts p, uint32_t i) {
    return i < REGION_1 ? p.scope : i < REGION_2 ? p.modality : p.context;
}
static unsigned coordinates(uint32_t i) { return i < REGION_1 ? 4 : i < REGION_2 ? 3 : 8; }

static double weight(uint32_t i, unsigned value) {
    double v = value;
    if (i < REGION_1) return 1 + 0.5 * sine((double)i / REGION_1 + v / 4);
    if (i < REGION_2)
        return 1 + 0.5 * sine(1.5 * ((double)(i - REGION_1) / (REGION_2 - REGION_1)) + v / 3);
    return 1 + 0.5 * sine(2 * ((double)(i - REGION_2) / (HG_LIFT_LENGTH - REGION_2)) + v / 8);
}

void hg_class_lift(uint8_t cls, double *vector) {
    HG_ENTRY;
    if (!vector) return;
    hg_class_parts p = hg_class_split(cls);
    uint64_t seed = seed_of(p);
    double sum = 0;
    for (uint32_t i = 0; i < HG_LIFT_LENGTH; i++) {
        vector[i] = uniform(seed, i) * weight(i, coordinate(p, i));
        sum += vector[i] * vector[i];
    }
    double norm = sqrt(sum);
    for (uint32_t i = 0; i < HG_LIFT_LENGTH; i++) vector[i] /= norm;
}

/* ---- Resonate ---- */

/* Lifts have length 1, so the nearest is the one with the greatest scalar product. They are made
 * again in chunks, all 96 at a time: the weights, which cost most, are shared by the classes with
 * the same coordinate. */
typedef struct products {
    double with[HG_CLASS_COUNT], square[HG_CLASS_COUNT]; /* of the vector and the lift before
                                                            scaling; of that with itself */
} products;

static void add_chunk(products *sums, const double *vector, uint32_t first, uint32_t count) {
    double weights[CHUNK];
    for (unsigned value = 0; value < coordinates(first); value++) {
        for (uint32_t k = 0; k < count; k++) weights[k] = weight(first + k, value);
        for (uint8_t cls = 0; cls < HG_CLASS_COUNT; cls++) {
            hg_class_parts p = hg_class_split(cls);
            if (coordinate(p, first) != value) continue;
            uint64_t seed = seed_of(p);
            double with = sums->with[cls], square = sums->square[cls];
            for (uint32_t k = 0; k < count; k++) {
                double x = uniform(seed, first + k) * weights[k];
                with += x * vector[first + k];
                square += x * x;
            }
            sums->with[cls] = with, sums->square[cls] = square;
        }
    }
}

hg_status hg_class_resonate(const double *vector, uint8_t *cls) {
    HG_ENTRY;
    if (!vector) return hg_null_argument("vector");
    if (!cls) return hg_null_argument("cls");
    products sums = {{0}, {0}};
    for (uint32_t i = 0; i < HG_LIFT_LENGTH; i++)
        if (!(fabs(vector[i]) <= 0x1p900))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "component %u of the vector is not finite, or beyond 2^900", i);
    for (uint32_t first = 0, count; first < HG_LIFT_LENGTH; first += count) {
        uint32_t end = first < REGION_1 ? REGION_1 : first < REGION_2 ? REGION_2 : HG_LIFT_LENGTH;
        count = end - first < CHUNK ? end - first : CHUNK;
        add_chunk(&sums, vector, first, count);
    }
    unsigned best = 0;
    for (unsigned c = 1; c < HG_CLASS_COUNT; c++)
        if (sums.with[c] / sqrt(sums.square[c]) > sums.with[best] / sqrt(sums.square[best]))
            best = c;
    *cls = (uint8_t)best;
    return HG_OK;
}
