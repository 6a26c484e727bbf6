/* See nvidia.h. */
#include "base/nvidia.h"
#include "base/base.h"
#include "base/host.h"
#include <stdint.h>
#include <stdio.h>

enum { MOST_NAMES = 3, MOST_PLACES = MOST_NAMES + 2, PLACE_BYTES = 512 };

static uint32_t list_places(const hg_nvidia_library *what, char places[MOST_PLACES][PLACE_BYTES]) {
    uint32_t count = 0;
    const char *toolkit = hg_host_variable("CUDA_PATH"),
               *wheels = hg_host_variable("HOLOGRAM_NVIDIA");
    if (toolkit && *toolkit)
        snprintf(places[count++], PLACE_BYTES, "%s/lib64/%s", toolkit, what->plain);
    for (int i = 0; i < MOST_NAMES && what->wheels[i] && wheels && *wheels; i++)
        snprintf(places[count++], PLACE_BYTES, "%s/%s", wheels, what->wheels[i]);
    snprintf(places[count++], PLACE_BYTES, "/usr/local/cuda/lib64/%s", what->plain);
    return count;
}

hg_library *hg_nvidia_open(const hg_nvidia_library *what, char *said, size_t size) {
    char places[MOST_PLACES][PLACE_BYTES];
    const char *own = hg_host_variable(what->variable);
    if (own && *own) return hg_library_open(&own, 1, said, size);
    uint32_t names = 0;
    while (names < MOST_NAMES && what->names[names]) names++;
    hg_library *library = hg_library_open(what->names, names, said, size);
    uint32_t count = list_places(what, places);
    for (uint32_t i = 0; i < count && !library; i++) {
        const char *name = places[i];
        library = hg_library_open(&name, 1, said, size);
    }
    return library;
}
