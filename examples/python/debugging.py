"""A walk through what goes wrong: a fault with its line, a race, a lane looked at step by step, and two devices compared."""
import hologram as hg
import numpy as np


@hg.kernel
def beyond(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"]):
    i = hg.lane()
    y[i] = x[i + 1]


@hg.kernel
def histogram(x: hg.In[hg.u32, "n"], counts: hg.Inout[hg.u32, "m"]):
    i = hg.lane()
    counts[x[i] % 4] += 1  # lanes of the same bin overwrite each other: hg.atomic_add(counts, x[i] % 4, 1) is right


@hg.kernel
def norm(x: hg.In[hg.f64, "n"], y: hg.Out[hg.f64, "n"]):
    i = hg.lane()
    s = 0.0
    for k in range(4):
        s += x[(i + k) % x.shape[0]] * x[(i + k) % x.shape[0]]
    y[i] = hg.sqrt(s)


x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)

print("1. A fault says which line, and which lane:")
try:
    beyond(x, y)
except hg.ExecutionError as error:
    print(error)

print("\n2. A race is found by an executor that looks for them:")
careful = hg.Executor("cpu", check_races=True)
counts = hg.zeros(4, dtype="uint32", device=careful)
try:
    histogram[64](hg.asarray(np.arange(64, dtype=np.uint32), device=careful), counts)
except hg.ExecutionError as error:
    print(error)

print("\n3. One lane as plain Python, with the kernel's own bits; pdb, print and coverage work in it:")
plain, compiled = np.zeros(8), np.zeros(8)
hg.interpret(norm)(x.astype(float), plain)
norm(x.astype(float), compiled)
print(f"lane 7: {plain[7]!r} by Python, {compiled[7]!r} compiled")

print("\n4. Two devices, bit for bit:")
results = {"cpu": compiled.tobytes()}
for device in ("opencl", "vulkan"):
    try:
        other = np.zeros(8)
        hg.kernel(norm.function, device=device)(x.astype(float), other)
        results[device] = other.tobytes()
    except hg.BackendUnavailable as error:
        print(f"{device}: {str(error).splitlines()[0]}")
print(f"{', '.join(results)}: {'equal' if len(set(results.values())) == 1 else 'different'}")
