"""hologram.torch beside PyTorch: layers forwards and backwards, whole modules that are converted, a kernel as a custom operator; results against
the module in f64. PyTorch is what `tools/setup bench` installs; without it: skipped."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SOURCE, "tests", "support"), os.path.join(BUILD, "python"), os.path.join(SOURCE, "bindings", "python")]
import checks  # noqa: E402
from checks import check  # noqa: E402

try:
    import torch_windows
except ImportError:
    torch_windows = None
    checks.skip("NumPy is not installed (Debian package python3-numpy): pools against it")

try:
    import torch
    import torch.export  # PyTorch 1 has none
except ImportError:
    peers = os.path.join(SOURCE, "build", "peers", "bin", "python")
    if os.path.exists(peers) and not os.environ.get("HG_TORCH_TRIED"):  # which is the same file as sys.executable, perhaps
        os.environ["HG_TORCH_TRIED"] = "1"
        os.execv(peers, [peers, "-B", *sys.argv])
    if torch_windows:
        torch_windows.run()
    checks.skip("PyTorch 2 is not installed (tools/setup bench)")
    sys.exit(checks.finish())

import hologram as hg  # noqa: E402
import hologram.torch  # noqa: E402
import hologram_torch as hg_torch  # noqa: E402

nn = torch.nn
AXPY = """
.atlas 1
.program cube
.param x buffer f32 in [n]
.param y buffer f32 out [n]
.param n u64
.lanes n
    y[global] = x[global] * x[global] * x[global]
"""


def near(made, module, example, what):
    """Not farther from the module in f64 than three times PyTorch's own f32 result, or 1e-6."""
    with torch.no_grad():
        own = module(*example)
        exact = module.double()(*(one.double() if one.is_floating_point() else one for one in example))
        module.float()
    check(made.shape == own.shape and made.dtype == own.dtype, f"{what}: {made.dtype}{tuple(made.shape)}, PyTorch's {own.dtype}{tuple(own.shape)}")
    far, theirs = ((one.double() - exact).abs().max().item() for one in (made, own))
    check(far <= max(3 * theirs, 1e-6), f"{what}: {far:.3g} from f64, PyTorch {theirs:.3g}")


def linear():
    torch.manual_seed(1)
    for shape in ((16,), (5, 16), (2, 3, 16), (0, 16)):
        for bias in (True, False):
            ours = hg_torch.nn.Linear(16, 4, bias=bias, backend="auto")
            theirs = nn.Linear(16, 4, bias=bias)
            theirs.load_state_dict(ours.state_dict())
            a, b = (torch.randn(shape, generator=torch.Generator().manual_seed(2)).requires_grad_() for _ in range(2))
            made, wanted = ours(a), theirs(b)
            made.square().sum().backward()
            wanted.square().sum().backward()
            pairs = [("value", made, wanted), ("x", a.grad, b.grad), ("weight", ours.weight.grad, theirs.weight.grad)]
            for name, one, other in pairs + ([("bias", ours.bias.grad, theirs.bias.grad)] if bias else []):
                check(one.shape == other.shape and torch.allclose(one, other, rtol=1e-5, atol=1e-5), f"Linear {shape} bias={bias}: {name}")
    check(hologram.torch.Linear is hg_torch.nn.Linear and isinstance(hg_torch.nn.Linear(2, 2), nn.Linear), "one class under both names")
    try:
        hg_torch.nn.Linear(16, 4)(torch.zeros(3, 15))
        check(False, "a wrong extent was taken")
    except hg.ArgumentError as error:
        check("15" in str(error) and "16" in str(error), str(error))
    try:
        hg_torch.nn.Linear(16, 4, backend="metal")
        check(False, "there is no Metal here")
    except hg.BackendUnavailable as error:
        check("metal" in str(error).lower(), str(error))


def modules():
    torch.manual_seed(3)
    encoder = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu")
    before = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True), 2, enable_nested_tensor=False)
    image = torch.randn(3, 1, 12, 12)
    cases = {
        "MLP": (nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 5), nn.Softmax(-1)), torch.randn(4, 20)),
        "CNN": (nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3, stride=2), nn.SiLU(),
                              nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(), nn.Linear(8, 10)), image),
        "pools": (nn.Sequential(nn.MaxPool2d(3, 2, 1, dilation=1, ceil_mode=True), nn.Conv2d(1, 3, 2), nn.AvgPool2d((2, 3), 1, (1, 0), ceil_mode=True, count_include_pad=False),
                                nn.MaxPool2d(2, 1, dilation=2), nn.ConvTranspose2d(3, 2, 3, 2, 1, output_padding=1), nn.AvgPool2d(3, 2, ceil_mode=True, divisor_override=5)), image),
        "groups": (nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.Tanh(), nn.Conv2d(4, 4, 3, groups=4), nn.AvgPool2d(2), nn.Sigmoid()), image),
        "encoder layer": (encoder, torch.randn(3, 7, 32)),
        "encoder": (before, torch.randn(2, 5, 32)),
    }
    for name, (module, example) in cases.items():
        module = module.eval()
        converted = hologram.torch.convert(module, example)
        with torch.no_grad():
            near(converted(example), module, (example,), name)
            other = torch.cat([example, example])[:5] if example.shape[0] < 5 else example[:2]
            near(converted(other), module, (other,), f"{name}: batch of {other.shape[0]}")
            alone = torch.stack([converted(row[None])[0] for row in other])
            if name == "MLP":
                check(torch.equal(alone, converted(other)), f"{name}: a row has the bits that it has alone")
    try:
        hologram.torch.convert(nn.Sequential(nn.Linear(2, 2), nn.LSTM(2, 2)).eval(), torch.zeros(1, 3, 2))
        check(False, "an LSTM was converted")
    except Exception as error:
        check("lstm" in str(error).lower(), f"LSTM: {type(error).__name__}: {str(error)[:200]}")
    try:
        hologram.torch.convert(nn.Linear(2, 2), torch.zeros(1, 2))
        check(False, "a module in training was converted")
    except hg.ArgumentError as error:
        check("eval()" in str(error), str(error))


def trained():
    """What training writes is seen at the next call; results are nobody else's memory; other shapes, threads, inference mode."""
    torch.manual_seed(5)
    module, x = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval(), torch.randn(3, 8)
    converted, optimizer = hologram.torch.convert(module, x), torch.optim.SGD(module.parameters(), lr=0.1)
    first = converted(x)
    kept = first.clone()
    for _ in range(3):
        module(x).square().sum().backward()
        optimizer.step()
        with torch.no_grad():
            near(converted(x), module, (x,), "after a step of training")
    check(torch.equal(first, kept) and not torch.equal(first, converted(x)), "an older result stays what it was")
    module[0].weight.data = module[0].weight.data * 2
    module[2].bias.data.add_(1)
    converted.update()
    with torch.no_grad():
        near(converted(x), module, (x,), "after update()")
        for rows in (1, 2, 7, 8, 9, 10, 2):
            other = torch.randn(rows, 8)
            check(torch.equal(converted(other)[:1], converted(other[:1])), f"a batch of {rows}")
    with torch.inference_mode():
        check(torch.equal(converted(x.clone()), converted(x)), "inference mode")
    import threading
    wanted, wrong = converted(x), []

    def work():
        if not all(torch.equal(converted(x), wanted) for _ in range(20)):
            wrong.append(1)
    several = [threading.Thread(target=work) for _ in range(3)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    check(not wrong, "threads")


def operator():
    cube = hg.assemble(AXPY)
    registered = hologram.torch.register_kernel("hologram_test::cube", lambda x, y: cube(x, y), lambda g, x: 3 * g * x * x, output=lambda x: torch.empty_like(x))
    x = torch.randn(10, requires_grad=True)
    registered(x).sum().backward()
    check(torch.allclose(registered(x), x**3) and torch.allclose(x.grad, 3 * x * x), "a kernel as an operator, and its gradient")


def sharing():
    x = torch.arange(6.0).reshape(2, 3)
    array = hologram.torch.from_torch(x)
    array[0, 0] = 9
    check(x[0, 0].item() == 9, "memory is shared with PyTorch")
    back = hologram.torch.to_torch(array)
    check(back.data_ptr() == x.data_ptr(), "and back")
    check(hg.asarray(torch.ones(3, dtype=torch.bfloat16)).dtype == "bfloat16", "bf16")
    z = torch.tensor([1 + 2j, 3 - 4j])
    for name, one in (("conjugated", z.conj()), ("negative", z.conj().imag), ("both", torch._neg_view(z.conj())), ("neither", z)):
        check(torch.equal(hologram.torch.to_torch(hologram.torch.from_torch(one)), one.resolve_conj().resolve_neg()), f"a tensor that is {name}")
        check(torch.equal(hologram.torch.to_torch(hg.asarray(one)), one.resolve_conj().resolve_neg()), f"asarray of a tensor that is {name}")


def types():
    """Reductions that say the type of their result."""
    class Sums(nn.Module):
        def forward(self, x):
            half = x.half()
            return x.sum(dtype=torch.float64), half.mean(1, dtype=torch.float32), half.cumsum(0, dtype=torch.float32), x.amax(), x.amin((0, 1)), x.sum((), keepdim=True)
    module, x = Sums().eval(), torch.randn(6, 5)
    for made, wanted in zip(hologram.torch.convert(module, x, dynamic_batch=False)(x), module(x)):
        check(made.dtype == wanted.dtype and made.shape == wanted.shape and torch.allclose(made, wanted, rtol=1e-6, atol=1e-6), f"{made.dtype}{tuple(made.shape)}, {wanted.dtype}{tuple(wanted.shape)}")


linear()
modules()
trained()
operator()
sharing()
types()
if torch_windows:
    torch_windows.run()
sys.exit(checks.finish())
