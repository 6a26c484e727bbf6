/* std::sort of number[0] words, copied from the first buffer to the second. */
#include "peers.h"
#include <algorithm>

extern "C" void c_sort(const peer_job *j, uint64_t begin, uint64_t end) {
    const uint32_t *from = static_cast<const uint32_t *>(j->buffer[0]);
    uint32_t *to = static_cast<uint32_t *>(j->buffer[1]);
    std::copy(from + begin, from + end, to + begin);
    std::sort(to + begin, to + end);
}
