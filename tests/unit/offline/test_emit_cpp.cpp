// hg_program_emit from C++.
#include <hologram/hologram.h>

#include <cstdio>
#include <cstring>
#include <string>

int main() {
    unsigned passed = 0, failed = 0, skipped = 0;
    auto check = [&](bool ok, const char *what) {
        ok ? ++passed : ++failed;
        if (!ok) std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what);
    };
    const std::string text = ".atlas 1\n.program nothing\n    exit\n";
    hg_program *program = nullptr;
    check(hg_program_assemble(text.c_str(), text.size(), nullptr, &program) == HG_OK, "assemble");
    hg_emit_options options{};
    options.size = sizeof options;
    options.form = HG_EMIT_FORM_BLOCK;
    for (size_t i = 0; const hg_emit_target *target = hg_emit_target_get(i); i++) {
        char *out = nullptr;
        size_t length = 0;
        bool device = true;
        for (const char *lanes : {"c", "vector", "wasm", "wat", "stablehlo"})
            device = device && std::strcmp(target->name, lanes) != 0;
        const hg_status status = hg_program_emit(program, target->name, device ? &options : nullptr,
                                                 &out, &length);
        if (status == HG_ERROR_BACKEND_UNAVAILABLE && std::strcmp(target->name, "ptx") == 0) {
            std::fprintf(stderr, "skipped: %s\n", hg_last_error()->message);
            ++skipped;
            continue;
        }
        check(status == HG_OK && length > 0, target->name);
        hg_string_free(out);
    }
    hg_program_release(program);
    std::printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}
