"""Heat in a plate that is hot on the left edge: a stencil over two arrays, which take turns. heat.py PICTURE.png"""
import sys

import hologram as hg
import numpy as np


@hg.kernel
def step(now: hg.In[hg.f32, "h", "w"], after: hg.Out[hg.f32, "h", "w"]):
    j, i = hg.grid(2)
    h, w = now.shape
    if j == 0 or i == 0 or j == h - 1 or i == w - 1:
        after[j, i] = now[j, i]
    else:
        after[j, i] = (now[j - 1, i] + now[j + 1, i] + now[j, i - 1] + now[j, i + 1]) * 0.25


now = np.zeros((120, 160), np.float32)
now[:, 0] = 100
after = now.copy()
for _ in range(1000):
    step[120, 160](now, after)
    step[120, 160](after, now)
print(f"in the middle {now[60, 80]:.3f} degrees, at a quarter {now[60, 40]:.3f}")
hot = np.minimum(now / 100, 1)
picture = (255 * np.stack([hot, hot**2, 0.3 + 0.2 * (1 - hot)], axis=2)).astype(np.uint8)
hg.write_png(sys.argv[1] if len(sys.argv) > 1 else "heat.png", picture)
