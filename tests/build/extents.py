"""`hologram build` of whole-array instructions whose extents come with the call: one function for all shapes, the bits and faults of `hologram run` of each.

A row is a line of tests/tensor whose sizes are parameters of the function, and the sizes of its calls, in their order; LONG is for the label all."""
import ctypes
import os
import sys

SOURCE = os.environ["HG_SOURCE_DIR"]
sys.path.append(os.path.join(SOURCE, "tests", "tensor"))
from checks import check, skip  # noqa: E402

# Shapes: nothing, one, primes, larger than a tile, and, behind !, what the instruction refuses.
ROWS = [
    ("gemm.f32 alpha=2.0 beta=0.5 bias=true activation=relu", "m n k", ["0 3 4", "1 33 5", "9 33 40", "1 1 1", "3 0 7", "13 97 0", "70 131 67", "!8589934592 8589934592 3"]),
    ("gemm.f64 trans_b=true", "m n k lda ldb", ["1 3 4 4 4", "9 33 40 41 40", "!4 4 4 3 4", "4 5 0 0 0", "!4 4 4 4 3"]),
    ("batched_gemm.f32", "batch m n k", ["2 3 5 7", "0 3 5 7", "5 1 1 1", "3 9 65 33"]),
    ("softmax.f32", "rows n ld", ["0 5 5", "3 0 0", "1 1 1", "3 40 50", "67 257 257", "!3 40 39"]),
    ("layer_scale.f32", "rows n", ["2 33", "0 1", "3 9001"]),
    ("layer_norm.f32 eps=1e-5", "rows n", ["3 100", "0 7", "1 1", "5 257", "4 0"]),
    ("rms_norm.f32 eps=1e-5", "rows n", ["3 100", "0 7", "1 1", "5 257", "4 0"]),
    ("group_norm.f32 eps=1e-5", "batch channels groups spatial", ["2 6 3 5", "1 1 1 1", "0 4 2 3", "!2 6 4 5", "!2 6 0 5", "3 8 2 97"]),
    ("batch_norm.f32 eps=1e-5", "batch channels spatial", ["2 6 5", "3 7 1", "0 3 4", "1 1 1", "2 3 1009"]),
    ("kv_cache_update.f32", "position batch heads head_dim seq_len", ["5 2 3 4 1", "0 1 1 1 1", "3 2 2 7 4"]),
    ("rope.f32 halves=true", "batch seq_len heads head_dim", ["2 7 3 30", "1 1 1 2", "1 0 2 4", "!2 3 1 3", "1 5 2 256"]),
    ("attention.f32", "batch heads seq_len head_dim", ["2 2 5 8", "0 2 5 8", "1 1 1 1", "1 3 37 17", "1 2 70 33"]),
    ("conv2d.f32 bias=true activation=relu", "batch in_channels out_channels height width kernel_h kernel_w stride padding groups",
     ["2 4 9 10 11 3 3 1,1 1,1 1", "1 3 5 7 9 1 1 1,1 0,0 1", "2 6 3 8 8 2 5 3,2 1,2 3", "!1 2 2 4 4 5 5 1,1 0,0 1", "2 5 33 16 16 1 1 1,1 0,0 1", "!1 1 1 1 1 1 1 1,1 0,0 0"]),
    ("conv.f32 bias=true", "batch in_channels out_channels groups size window stride padding",
     ["2 4 6 2 5,6 3,2 2,1 1,0", "1 3 5 1 70,9 1,1 1,1 0,0", "0 2 2 1 5,5 2,2 1,1 0,0", "2 3 40 1 9,40 3,3 2,2 1,1", "!1 2 2 1 4,4 5,5 1,1 0,0", "!1 3 2 2 4,4 1,1 1,1 0,0"]),
    ("conv_transpose.f32", "batch in_channels out_channels size window stride padding",
     ["2 3 5 20, 5, 3, 4,", "1 1 1 1, 1, 1, 0,", "0 2 2 5, 2, 1, 0,", "3 5 40 33, 3, 2, 1,", "!1 2 3 5, 2, 1, 3,", "!1 2 3 5, 2, 2000, 1,"]),
    ("max_pool.f32", "planes size window stride padding", ["3 9,8 3,2 2,1 1,0", "2 4,70 2,3 1,1 0,1", "0 4,4 2,2 2,2 0,0", "!1 2,2 3,1 1,1 0,0"]),
    ("avg_pool.f32 stride=5000,", "planes size window", ["2 7, 3,", "1 150000, 5,", "!1 4, 5,"]),
    ("quantized_gemm.i8 a_scale=0.02 b_scale=0.03 c_scale=0.5 a_zero=5 b_zero=3 c_zero=7", "m n k", ["9 33 70", "1 1 1", "3 5 0", "0 5 3", "17 65 300"]),
    ("tensor_contract.f32 contract_dims=0,1", "shape_a shape_b", ["7,5 9,7", "1,1 1,1", "7,0 3,7", "!7,5 9,8", "40,33 35,40"]),
    ("sparse_gemm.f32 part=0.3", "m n k", ["7 33 40", "0 5 5", "1 1 1", "3 300 17", "5 0 4", "600 3 9"]),
    ("fft.f32 n=16 inverse=false", "batch", ["1", "0", "3", "40", "700"]),
    ("all_gather.f32 devices=0,", "n", ["9", "0"]),
]
LONG = [
    ("conv.f16 groups=2 activation=relu", "batch in_channels out_channels size window stride padding padding_end dilation",
     ["2 4 6 5,6,7 2,3,3 1,2,2 1,1,1 1,0,2 2,1,1", "1 2 2 1,1,1 1,1,1 1,1,1 0,0,0 0,0,0 1,1,1", "2 2 70 4,9,33 3,1,2 2,3,1 0,0,0 0,0,0 1,1,2", "!1 2 2 1,4,4 2,1,1 1,1,1 0,0,0 0,0,0 1,1,1"]),
    ("conv_transpose.f32 bias=true", "batch in_channels out_channels groups size window stride padding dilation",
     ["2 4 6 2 3,4,5 2,3,3 1,2,3 1,1,1 2,1,1", "1 1 1 1 1,1,1 1,1,1 1,1,1 0,0,0 1,1,1", "1 3 70 1 2,5,9 2,2,2 2,2,2 0,1,0 1,1,1", "!1 3 2 2 4,4,4 1,1,1 1,1,1 0,0,0 1,1,1"]),
    ("max_pool.f16", "planes size window stride padding dilation", ["2 5,6,7 2,3,3 1,2,2 1,1,1 2,1,1", "3 1,1,1 1,1,1 1,1,1 0,0,0 1,1,1", "1 4,9,70 3,2,5 2,1,3 0,1,2 1,3,2", "!1 2,2,2 3,1,1 1,1,1 0,0,0 1,1,1"]),
    ("mixed_precision_gemm.f16", "m n k", ["9 33 40", "1 2 3"]),
    ("conv2d.f32 kernel_h=3 kernel_w=3 stride=2,2 padding=1,1 groups=2", "batch in_channels out_channels height width",
     ["2 4 6 10 11", "0 2 2 5 5", "1 2 2 1 1", "!1 3 2 5 5", "1 8 10 17 31", "1 0 2 5 5", "2 2 34 9 40"]),
    ("tensor_contract.f64 contract_dims=0,2;2,0", "shape_a shape_b", ["3,5,4 4,7,3", "1,9,2 2,1,1", "13,10,7 7,9,13"]),
    ("gemm.f16 trans_a=true", "m n k", ["3 5 7", "1 97 2", "70 300 65"]),
    ("softmax.bf16", "rows n ld", ["3 40 50", "!3 40 39"]),
    ("attention.f32 causal=true from_start=true seen=true scores=true softcap=2.0", "batch heads seq_len kv_len head_dim value_dim", ["2 2 5 9 8 3", "1 2 40 70 8 8", "0 1 1 1 1 1"]),
    ("avg_pool.f16 counted=true padding=1,0,2", "planes size window dilation", ["3 5,6,7 2,3,3 1,1,2", "2 4,2,40 2,1,3 2,1,1"]),
    ("quantized_gemm.u8 a_scale=0.02 b_scale=0.03 c_scale=0.5 b_scales=true b_zeros=true b_unsigned=true batch=2", "m n k", ["9 33 70", "0 5 3", "17 65 30"]),
    ("layer_norm.f16 eps=0.0009765625", "rows n", ["3 100", "7 13"]),
    ("layer_norm.f16 eps=0.0009765625 mean=true inverse_deviation=true", "rows n", ["3 100", "7 13"]),
    ("rope.f16 sin=true", "batch seq_len heads head_dim rotary_dim", ["2 7 3 30 30", "1 2 3 8 2", "2 1 1 66 64", "!1 1 1 4 3"]),
    ("attention.bf16 causal=true", "batch heads seq_len head_dim kv_heads", ["2 4 5 8 2", "!1 3 5 8 2", "1 2 67 5 1"]),
    ("fft.f32 n=97 inverse=true real=true", "batch", ["1", "5", "33"]),
    ("gemm.f32", "m n k lda ldb ldc", ["64 600 600 600 600 600", "1 1000 33 40 1000 1000", "129 257 300 300 260 257"]),
    ("gemm.bf16 trans_a=true trans_b=true beta=1.0", "m n k", ["65 97 130", "1 1 257"]),
    ("flash_attention.f32 mask=ends block_size=16", "batch heads seq_len kv_len head_dim", ["1 2 11 70 8", "2 1 64 64 64"]),
    ("fft.f64 n=1000 inverse=true real=true", "batch", ["1", "2", "70"]),
    ("fft.f32 n=8192 inverse=false", "batch", ["1", "2", "9"]),
    ("fft.f32 n=360 inverse=false", "batch", ["1", "9", "200"]),
    ("conv2d.f64 bias=true dilation=2,1", "batch in_channels out_channels height width kernel_h kernel_w stride padding",
     ["1 5 8 8 9 3 3 1,1 1,1", "2 3 65 13 40 2 2 2,3 0,1", "3 1 1 9 9 1 1 1,2 0,0"]),
    ("conv2d.bf16 kernel_h=3 kernel_w=3 padding=1,1 stride=1,1", "batch in_channels out_channels height width", ["2 3 4 8 9", "1 17 33 20 70"]),
]


def items(value):
    return value if isinstance(value, tuple) else (value,)


def open_text(operation, problem, values, names):
    """The program with parameters for the operands `names`, and the numbers of this problem for them."""
    text, given, lines = operation.text(problem, values), [], []
    for name in names:
        numbers, start = items(problem.given[name]), text.rindex(f" {name}=") + len(name) + 2
        words = [f"size{len(given) + i}" for i in range(len(numbers))]
        lines += [f".param {word} u64" for word in words]
        given += numbers
        is_tuple = isinstance(problem.given[name], tuple)
        end = text.index(")", start) + 1 if is_tuple else start + len(str(numbers[0]))
        text = text[:start] + ("(" + ", ".join(words) + ")" if is_tuple else words[0]) + text[end:]
    for name, value in values.items():
        text = text.replace(f" [{value.size}]\n", "\n")
    return text.replace(".lanes 1\n", "\n".join([*lines, ".lanes 1", ""])), given


def cases_of(texts, rows, operations, problem_of, start):
    """Of each row its program, and of each of its calls: the function, what it is, arrays, the same with numbers as a file, the numbers."""
    cases, paths = [], []
    for number, (head, names, shapes) in enumerate(rows):
        name, path = f"open{start + number}", None
        for shape in shapes:
            line = " ".join([head, *(f"{key}={value}" for key, value in zip(names.split(), shape.strip("!").split()))])
            problem = problem_of(line, line)
            problem.refused = "" if shape.startswith("!") else None
            operation = operations[problem.name]()
            values = operation.arrays(problem, operation.operands(problem))
            opened, given = open_text(operation, problem, values, names.split())
            path = path or texts.write(name + ".atlas", opened.replace(".program p\n", f".program {name}\n"))
            arrays = {key: (value.tobytes(), True, key in operation.out or key in operation.inout) for key, value in values.items()}
            numeric = texts.write(f"case{start}_{len(cases)}.atlas", operation.text(problem, values))
            cases.append((name, line, arrays, numeric, [ctypes.c_uint64(number) for number in given]))
        paths.append(path)
    return cases, paths


def open_rows(texts, rows, compiler, flags, start=0):
    """texts: arrays.Texts."""
    try:
        import layers  # noqa: F401
        import products
        import transforms
        from operation import Problem
    except ImportError:
        skip("NumPy is not installed (Debian package python3-numpy): no whole-array instructions")
        return
    operations = {**products.OPERATIONS, **layers.OPERATIONS, **transforms.OPERATIONS}
    cases, paths = cases_of(texts, rows, operations, Problem, start)
    status, out, err = texts.run(texts.command, "build", *paths, "-o", "set")
    check(status == 0, f"build of open extents: {out}{err}")
    library = texts.library("set", compiler, *flags) if status == 0 else None
    for name, line, arrays, numeric, given in cases if library else []:
        texts.compare(library, f"set_{name}", f"{line}, open, {compiler}", arrays, texts.ran(numeric, arrays), given, given)
        texts.starve(library, f"set_{name}", arrays, given)
