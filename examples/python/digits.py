"""The digits network as arrays, and as a module of PyTorch that is converted, where PyTorch is installed. digits.py FOLDER (examples/digits)"""
import os
import sys

import hologram as hg

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "digits")
images, labels = (hg.load(os.path.join(FOLDER, "data", f"{name}.npy")) for name in ("images", "labels"))
w1, b1, w2, b2 = (hg.load(os.path.join(FOLDER, "weights", f"{name}.npy")) for name in ("w1", "b1", "w2", "b2"))


@hg.jit
def network(pixels):
    x = pixels.reshape((-1, 64)).astype("float32") * 0.0625
    return hg.relu(x @ w1 + b1) @ w2 + b2


right = hg.argmax(network(images), axis=1) == labels
print(f"{int(right.sum())} of {labels.size} digits right, {int(right[3::4].sum())} of {right[3::4].size} unseen ones")

try:
    import torch.export
except ImportError:
    print("PyTorch 2 is not installed")
else:
    import hologram.torch
    module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).eval()
    with torch.no_grad():
        for layer, w, b in ((module[0], w1, b1), (module[2], w2, b2)):
            layer.weight.copy_(torch.from_dlpack(w.T.contiguous()))
            layer.bias.copy_(torch.from_dlpack(b))
        pixels = torch.from_dlpack((images.reshape((-1, 64)).astype("float32") * 0.0625).contiguous())
        scores = hologram.torch.convert(module, pixels)(pixels)
    print(f"converted from PyTorch: {int((scores.argmax(1) == torch.from_dlpack(labels)).sum())} right")
