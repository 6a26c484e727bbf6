"""StableHLO modules in Python: the texts of tests/hlo against what JAX made of them, what is refused, and hg.from_jax where JAX is installed."""
import glob
import os
import sys

from package import SOURCE, check, checks, hg, numpy

np = numpy()

FOLDER = os.path.join(SOURCE, "tests", "hlo", "functions")


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        check(text in str(error), f"expected {text!r}, got {error}")
    else:
        check(False, f"no {kind.__name__}")


def arrays_of(text):
    found, bound = {}, 0
    for line in text.splitlines():
        words = line.split()
        if line.startswith("// bound"):
            bound = float(words[2])
        elif line.startswith(("// arg", "// result")) and len(words) >= 4:
            _, name, kind, shape = words[:4]
            data = bytes.fromhex(words[4] if len(words) > 4 else "")
            kind = "u16" if kind == "bf16" else kind
            dtype = np.dtype(kind[0] + str(int(kind[1:]) // 8))
            found[name] = np.frombuffer(data, dtype).reshape([] if shape == "-" else [int(one) for one in shape.split(",")])
    return found, bound


for path in sorted(glob.glob(os.path.join(FOLDER, "*.mlir"))):
    name = os.path.basename(path)
    if name in ("cholesky.mlir", "widths.mlir"):  # LAPACK's; bf16, which NumPy has not
        continue
    with open(path, encoding="utf-8") as file:
        text = file.read()
    arrays, bound = arrays_of(text)
    results = hg.from_stablehlo(text, name=name)(*[value for key, value in arrays.items() if key.startswith("arg")])
    results = results if isinstance(results, tuple) else (results,)
    wanted = [value for key, value in arrays.items() if key.startswith("result")]
    check(len(results) == len(wanted), f"{name}: {len(results)} results")
    for got, want in zip(results, wanted):
        got = np.asarray(got)
        check(got.shape == want.shape and got.dtype == want.dtype, f"{name}: {got.dtype}{got.shape}, expected {want.dtype}{want.shape}")
        with np.errstate(invalid="ignore"):
            same = (got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= bound * (1 + np.abs(want))) if want.dtype.kind == "f" else got == want
        check(bool(np.all(same)), f"{name}: {got} for {want}")

with open(os.path.join(FOLDER, "mlp.mlir"), encoding="utf-8") as file:
    MLP = file.read()
raises(TypeError, "the module takes 5 arrays, got 1", lambda: hg.from_stablehlo(MLP)(np.zeros((3, 5), np.float32)))
X = np.array([1, 2], np.float32)
for text in ("func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n",  # not @main
             "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }",  # one line
             "// @main(x)\nfunc.func @main(%a: tensor<2xf32> {jax.arg_info = \"x['(']\"})\n    -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n",
             "func.func @main(%a: tensor<1x2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n"):
    made = hg.from_stablehlo(text)(X.reshape(1, 2) if "1x2" in text else X)
    check(np.array_equal(np.asarray(made), X), f"{made} of {text}")
raises(ValueError, "arg0: expected the shape (2), got (3,)", lambda: hg.from_stablehlo(text.replace("1x2x", "2x"))(np.zeros(3, np.float32)))
check(hg.from_stablehlo("func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n}")(2.5).tolist() == 2.5, "a number for a scalar")
raises(hg.ProgramError, "expected module, func.func", lambda: hg.from_stablehlo("nothing"))
raises(hg.ProgramError, "custom_call @lapack_spotrf_ffi", lambda: hg.from_stablehlo(open(os.path.join(FOLDER, "cholesky.mlir"), encoding="utf-8").read()))


def one(line, result, kinds, *arrays, constants=""):
    """The result of one operation."""
    args = ", ".join(f"%{name}: {kind}" for name, kind in zip("abc", kinds))
    made = hg.from_stablehlo(f"func.func @main({args}) -> {result} {{\n{constants}  %r = stablehlo.{line}\n  return %r : {result}\n}}\n")(*arrays)
    return np.asarray(made)


def numbers(**lists):
    return "".join(f"  %{name} = stablehlo.constant dense<{list(n)}> : tensor<{len(n)}xi64>\n" for name, n in lists.items())


# Shapes and places that constants say.
A, Z = np.arange(20, dtype=np.int32).reshape(5, 4), np.int32(-1)
PADS = numbers(low=(1, -1), high=(1, -1), interior=(0, 1))
padded = one("dynamic_pad %a, %b, %low, %high, %interior : (tensor<5x4xi32>, tensor<i32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<7x5xi32>",
             "tensor<7x5xi32>", ("tensor<5x4xi32>", "tensor<i32>"), A, Z, constants=PADS)
wide = np.full((5, 7), -1, np.int32)
wide[:, ::2] = A
check(np.array_equal(padded, np.pad(wide[:, 1:-1], ((1, 1), (0, 0)), constant_values=-1)), f"dynamic_pad: {padded}")
at = np.array([[1], [9], [-3]], np.int32)
GATHER = """func.func @main(%a: tensor<5x4xi32>, %b: tensor<3x1xi32>) -> tensor<3x2x4xi32> {
  %sizes = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  %r = "stablehlo.dynamic_gather"(%a, %b, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>}>
    : (tensor<5x4xi32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x2x4xi32>
  return %r : tensor<3x2x4xi32>
}
"""
gathered = hg.from_stablehlo(GATHER)(A, at)
check(np.array_equal(np.asarray(gathered), np.stack([A[1:3], A[3:5], A[0:2]])), f"dynamic_gather: {gathered}")
raises(hg.ProgramError, "numbers that the text says",
       lambda: one("dynamic_pad %a, %b, %c, %c, %c : (tensor<4xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi32>", "tensor<4xi32>",
                   ("tensor<4xi32>", "tensor<i32>", "tensor<1xi64>")))
# Bits of other widths: of i1 one, of complex elements as they are.
x = np.array([-5, 1 << 60, 7], np.int64)
bits = one("bitcast_convert %a : (tensor<3xi64>) -> tensor<3x64xi1>", "tensor<3x64xi1>", ("tensor<3xi64>",), x)
check(np.array_equal(bits, (x[:, None] >> np.arange(64)) & 1), "i64 as i1")
check(np.array_equal(one("bitcast_convert %a : (tensor<3x64xi1>) -> tensor<3xi64>", "tensor<3xi64>", ("tensor<3x64xi1>",), bits.astype(np.uint8)), x), "i1 as i64")
empty = one("fft %a, type = RFFT, length = [4] : (tensor<0x4xf32>) -> tensor<0x3xcomplex<f32>>", "tensor<0x3xcomplex<f32>>", ("tensor<0x4xf32>",), np.zeros((0, 4), np.float32))
check(empty.shape == (0, 3, 2), f"a transform of nothing: {empty.shape}")

try:
    import jax.numpy as jnp
except ImportError:
    raises(ImportError, "hg.from_jax needs JAX, which is not installed: pip install jax", lambda: hg.from_jax(abs, (3,)))
    checks.skip("JAX is not installed: hg.from_jax is not run")
else:
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    f = hg.from_jax(lambda a, b: {"sum": a + b, "pair": (jnp.tanh(a), b.T)}, (2, 3), x)
    made = f(x, x)
    check(sorted(made) == ["pair", "sum"] and np.array_equal(np.asarray(made["sum"]), x + x), "the structure of a result")
    check(np.array_equal(np.asarray(made["pair"][1]), x.T), "a result in a pair")
    check(np.array_equal(np.asarray(hg.from_jax(lambda k: k + 1, ((2,), "int32"))(np.array([1, 2], np.int32))), [2, 3]), "a shape with a dtype")
sys.exit(checks.finish())
