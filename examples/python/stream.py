"""A low-pass filter over a stream without an end: a generator gives blocks, a bound launch filters each in the same memory."""
import hologram as hg
import numpy as np

BLOCK, TAPS = 1024, 33


@hg.kernel
def filtered(taps: hg.In[hg.f32, "t"], samples: hg.In[hg.f32, "m"], out: hg.Out[hg.f32, "n"]):
    i = hg.lane()
    total = hg.f32(0.0)
    for k in range(taps.shape[0]):
        total += taps[k] * samples[i + k]
    out[i] = total


def readings(blocks):
    """A slow wave, and a fast one that is noise."""
    for block in range(blocks):
        t = (np.arange(BLOCK) + block * BLOCK) / 8000
        yield (np.sin(2 * np.pi * 20 * t) + 0.5 * np.sin(2 * np.pi * 2000 * t)).astype(np.float32)


def low_pass(stream):
    taps = np.hamming(TAPS).astype(np.float32)
    taps /= taps.sum()
    window, out = np.zeros(BLOCK + TAPS - 1, np.float32), np.empty(BLOCK, np.float32)
    for block in stream:
        window[:TAPS - 1] = window[BLOCK:]
        window[TAPS - 1:] = block
        filtered[BLOCK](taps, window, out)
        yield out


rough = smooth = 0.0
for before, after in zip(readings(100), low_pass(readings(100))):
    rough = max(rough, float(np.abs(np.diff(before)).max()))
    smooth = max(smooth, float(np.abs(np.diff(after))[TAPS:].max()))
print(f"largest step from sample to sample: {rough:.3f} before, {smooth:.3f} after")
