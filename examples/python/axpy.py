"""A kernel in five lines: y = a x + y over arrays of NumPy, in place."""
import hologram as hg
import numpy as np


@hg.kernel
def axpy(a: hg.f32, x: hg.In[hg.f32, "n"], y: hg.Inout[hg.f32, "n"]):
    i = hg.lane()
    y[i] = a * x[i] + y[i]


x, y = np.arange(8, dtype="float32"), np.ones(8, dtype="float32")
axpy(2.0, x, y)
print(y)
