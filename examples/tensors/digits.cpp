/* digits.c in C++: recognises 1,797 handwritten digits with a network of two layers. Its argument
 * is the folder examples/digits. */
#define HOLOGRAM_EXCEPTIONS
#include <cstdio>
#include <hologram/hologram.hpp>
#include <string>

using vector = hg::tensor<float>;
using bytes = hg::tensor<uint8_t>;

static int recognise(const std::string &folder) {
    hg::executor e = hg::executor::automatic();
    auto path = [&](const char *name) { return folder + "/" + name + ".npy"; };
    auto weights = [&](const char *name) { return vector::load(e, path(name).c_str()); };
    vector w1 = weights("weights/w1"), b1 = weights("weights/b1");
    vector w2 = weights("weights/w2"), b2 = weights("weights/b2");
    vector images = bytes::load(e, path("data/images").c_str()).as<float>();
    auto labels = bytes::load(e, path("data/labels").c_str()).as<int64_t>();
    hg::tensor<int64_t> all, unseen;
    {
        hg::scope recording(e); // one array graph: relu is a part of the first product
        vector hidden = relu(fused_linear(images * 0.0625, w1, b1)); // pixels are 0 to 16
        auto right = argmax(fused_linear(hidden, w2, b2), {1}) == labels;
        all = sum(right);
        unseen = sum(right[hg::slice{3, INT64_MAX, 4}]); // kept from training
    }
    std::printf("%g of 1797 digits right, %g of 449 unseen ones\n", all.item(), unseen.item());
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 2) return std::fputs("usage: tensor_digits_cpp FOLDER\n", stderr), 2;
    try {
        return recognise(argv[1]);
    } catch (const hg::error &problem) { return std::fprintf(stderr, "%s\n", problem.what()), 1; }
}
