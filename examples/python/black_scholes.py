"""Prices of a million European options by Black and Scholes, in f64, with the put-call parity as the check."""
import hologram as hg
import numpy as np


def normal(x):
    return 0.5 * hg.erfc(-x * 0.7071067811865476)


@hg.kernel
def prices(spot: hg.In[hg.f64, "n"], strike: hg.In[hg.f64, "n"], years: hg.In[hg.f64, "n"], rate: hg.f64, volatility: hg.f64,
           call: hg.Out[hg.f64, "n"], put: hg.Out[hg.f64, "n"]):
    i = hg.lane()
    s, k, t = spot[i], strike[i], years[i]
    spread = volatility * hg.sqrt(t)
    d1 = (hg.log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread
    discounted = k * hg.exp(-rate * t)
    call[i] = s * normal(d1) - discounted * normal(d1 - spread)
    put[i] = discounted * normal(spread - d1) - s * normal(-d1)


n = 1_000_000
spot, strike, years = (np.asarray(hg.rand((n,), seed=seed)) * width + least for seed, width, least in ((1, 90, 10), (2, 90, 10), (3, 4.75, 0.25)))
call, put = np.empty(n), np.empty(n)
prices(spot, strike, years, 0.02, 0.3, call, put)
parity = np.abs(call - put - (spot - strike * np.exp(-0.02 * years))).max()
print(f"mean call {call.mean():.6f}, mean put {put.mean():.6f}; call - put is spot - discounted strike within {'1e-12' if parity < 1e-12 else parity}")
