// The builder from C++: the same header, chained calls, one program.
#include <hologram/builder.h>

#include <cstdio>
#include <cstring>

int main() {
    hg_dim n = hg_dim_param("n");
    hg_builder *b = hg_builder_create("scale");
    hg_builder_param_buffer(b, 1, "x", HG_TYPE_F32, HG_PARAM_INOUT, &n, 1);
    hg_builder_param_scalar_default(b, 4, "n", HG_TYPE_U64, hg_imm_u64(4));
    hg_label done = hg_builder_label_named(b, "done");
    hg_build_bra_if(hg_build_setgeu(b, HG_TYPE_U64, 0, 255, 4), 0, done);
    hg_build_mov_imm(b, HG_TYPE_F32, 9, hg_imm_f64(0.5));
    hg_build_parallel_map(hg_builder_place(b, done), HG_TYPE_F32, hg_array(1), hg_array(1), "sqrt",
                          hg_count_reg(4));
    hg_program *p = nullptr;
    unsigned passed = 0, failed = 0;
    auto check = [&](bool ok, const char *what) {
        ok ? ++passed : ++failed;
        if (!ok) std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what);
    };
    check(hg_builder_build(b, nullptr, &p) == HG_OK, "build");
    check(hg_program_verify(p, nullptr) == HG_OK, "verify");
    char *text = nullptr;
    size_t length = 0;
    check(hg_program_print(p, &text, &length) == HG_OK, "print");
    const char *expected =
        ".atlas 1\n.program scale\n.param r1 x buffer f32 inout [n]\n.param r4 n u64 = 4\n    "
        "setgeu.u64 p0, r255, r4\n    bra.p0 @done\n"
        "    mov_imm.f32 r9, 0.5\ndone:\n    parallel_map.f32 r1, r1, sqrt, r4\n";
    check(text && std::strcmp(text, expected) == 0, text ? text : "no text");
    hg_string_free(text);
    hg_program_release(p);
    hg_builder_destroy(b);
    std::printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
