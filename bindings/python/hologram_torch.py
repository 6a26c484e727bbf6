"""Layers of PyTorch that run on Hologram, under the name that the specification has for them: `import hologram_torch as hg_torch`, then
`hg_torch.nn.Linear(512, 256, backend="auto")`. It is hologram.torch."""
from hologram import torch as _torch
from hologram.torch import *

nn = _torch.nn
__all__ = [*_torch.__all__, "nn"]
