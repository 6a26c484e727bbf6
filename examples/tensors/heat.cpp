/* Heat in a square plate: du/dt = d2u/dx2 + d2u/dy2 in explicit steps on hg::tensor. The upper edge
 * is held at 1, the other edges at 0, and a square in the middle begins at 1. Writes what it has
 * become as a picture and prints the mean temperature. Usage: tensor_heat OUT.png [N [STEPS]] */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <hologram/hologram.hpp>
#include <string>

using field = hg::tensor<float>;

/* dt / dx^2; above 1/4 the steps are not stable. */
static const double RATE = 0.2;
/* Steps that are recorded and run as one array graph. */
static const int STEPS_OF_A_SCOPE = 10;

static field plate(const hg::executor &e, int64_t n) {
    field u = field::zeros(e, {static_cast<uint64_t>(n), static_cast<uint64_t>(n)});
    hg::slice middle{n * 3 / 8, n * 5 / 8};
    field square = u.along(0, middle).along(1, middle);
    u[0].assign(u[0] + 1);
    square.assign(square + 1);
    return u;
}

static void step(const field &u) {
    const hg::slice inner{1, -1}, before{0, -2}, behind{2};
    auto at = [&](hg::slice rows, hg::slice columns) { return u.along(0, rows).along(1, columns); };
    field here = at(inner, inner);
    field around = at(before, inner) + at(behind, inner) + at(inner, before) + at(inner, behind);
    here.assign(here + (around - here * 4) * RATE);
}

/* Black, red, yellow, white: [n, n, 3]. */
static hg::tensor<uint8_t> colours(const field &u) {
    auto channel = [&](double from) { return clip(u * 3 - from, u.like(0), u.like(1)); };
    return (hg::stack({channel(0), channel(1), channel(2)}, 2) * 255 + 0.5).as<uint8_t>();
}

/* ---- PNG: chunks, with the pixels in blocks of zlib's form that are not compressed ---- */

static std::string big_endian(uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
    return bytes;
}

static uint32_t crc32(const std::string &bytes) {
    uint32_t crc = UINT32_MAX;
    for (char byte : bytes) {
        crc ^= static_cast<uint8_t>(byte);
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static std::string chunk(const std::string &type, const std::string &data) {
    return big_endian(static_cast<uint32_t>(data.size())) + type + data +
           big_endian(crc32(type + data));
}

static std::string zlib(const std::string &bytes) {
    const size_t longest = 65535;
    std::string packed = "\x78\x01";
    uint32_t low = 1, high = 0; /* Adler-32 */
    for (size_t at = 0; at < bytes.size(); at += longest) {
        size_t size = std::min(longest, bytes.size() - at);
        for (size_t part : {size, ~size}) {
            if (part == size) packed += at + size == bytes.size() ? '\1' : '\0';
            packed += static_cast<char>(part & 255);
            packed += static_cast<char>(part >> 8 & 255);
        }
        packed.append(bytes, at, size);
    }
    for (char byte : bytes) {
        low = (low + static_cast<uint8_t>(byte)) % 65521;
        high = (high + low) % 65521;
    }
    return packed + big_endian(high << 16 | low);
}

static std::string png(const hg::tensor<uint8_t> &rgb) {
    hg::shape s = rgb.extents();
    std::vector<uint8_t> pixels = rgb.to_vector();
    std::string rows, size;
    for (size_t y = 0; y < s[0]; y++) {
        rows += '\0'; /* no filter */
        rows.append(pixels.begin() + static_cast<ptrdiff_t>(y * s[1] * 3),
                    pixels.begin() + static_cast<ptrdiff_t>((y + 1) * s[1] * 3));
    }
    size = big_endian(static_cast<uint32_t>(s[1])) + big_endian(static_cast<uint32_t>(s[0]));
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", size + std::string("\x08\x02\0\0\0", 5)) +
           chunk("IDAT", zlib(rows)) + chunk("IEND", "");
}

int main(int argc, char **argv) {
    int64_t n = argc > 2 ? std::atol(argv[2]) : 256;
    int steps = argc > 3 ? std::atoi(argv[3]) : 2000;
    if (argc < 2 || n < 8 || n > 10000 || steps < 0)
        return std::fputs("usage: tensor_heat OUT.png [N [STEPS]], N from 8 to 10000\n", stderr), 2;
    hg::executor e = hg::executor::automatic();
    field u = plate(e, n);
    for (int done = 0; done < steps;) {
        hg::scope recording(e);
        for (int i = 0; i < STEPS_OF_A_SCOPE && done < steps; i++, done++) step(u);
        if (!recording.end()) break;
    }
    hg::tensor<uint8_t> rgb = colours(u);
    if (!rgb.ok()) return std::fprintf(stderr, "%s\n", hg::last_error()), 1;
    std::string bytes = png(rgb);
    FILE *f = std::fopen(argv[1], "wb");
    bool written = f && std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
    if (!f || std::fclose(f) != 0 || !written)
        return std::fprintf(stderr, "%s: cannot be written\n", argv[1]), 1;
    std::printf("mean temperature after %d steps: %.5f\n", steps, mean(u).item());
    return 0;
}
