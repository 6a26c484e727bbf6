#!/usr/bin/python3
"""Writes the cases of unit/hlo/test_hlo.c: functions as JAX lowers them to StableHLO, with inputs and what JAX's CPU backend makes of them.

    functions.py FOLDER

FOLDER/NAME.mlir is the text of jax.jit(NAME).lower(...).as_text(); comments behind it have a line for each array: its name, its type, its extents,
its bytes. `bound` is what |got - wanted| / (1 + |wanted|) may be of floats, 0 where only elements move. Written with JAX 0.10.2 (Apache-2.0), whose
printed text and numbers are the only thing of it that is kept here. The list of names and texts is also that of docs/guide/stablehlo.md.
"""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

random = np.random.default_rng(7)
def f(*s): return random.standard_normal(s).astype(np.float32)
def pos(*s): return (random.random(s) + 0.1).astype(np.float32)
def i(lo, hi, *s, t=np.int32): return random.integers(lo, hi, s).astype(t)
def mlp(x, w1, b1, w2, b2): return jax.nn.relu(x @ w1 + b1) @ w2 + b2
def conv(x, w): return lax.conv_general_dilated(x, w, (2, 1), [(1, 1), (0, 2)], dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
def conv_nchw(x, w): return lax.conv(x, w, (1, 1), 'SAME')
def conv_groups(x, w): return lax.conv_general_dilated(x, w, (1,), 'SAME', feature_group_count=2, dimension_numbers=('NCH', 'OIH', 'NCH'))
def conv_transpose(x, w): return lax.conv_transpose(x, w, (2, 2), 'SAME')
def attention(q, k, v):
    s = jnp.einsum('bhqd,bhkd->bhqk', q, k) / np.float32(np.sqrt(q.shape[-1]))
    s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e30)
    return jnp.einsum('bhqk,bhkd->bhqd', jax.nn.softmax(s), v)
def scan(w, xs):
    def step(h, x):
        h = jnp.tanh(w @ h + x); return h, h.sum()
    return lax.scan(step, jnp.zeros(w.shape[0]), xs)
def fori(x): return lax.fori_loop(0, 10, lambda k, v: v * 0.5 + k, x)
def rounds(n, x): return lax.fori_loop(0, n, lambda k, v: v + 1, x)
def newton(x): return lax.while_loop(lambda s: jnp.abs(s[0] * s[0] - x) > 1e-5, lambda s: ((s[0] + x / s[0]) / 2, s[1] + 1), (x, 0))
def cond(x): return lax.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, x)
def switch(k, x): return lax.switch(k, [lambda a: a + 1, lambda a: a * a, lambda a: -a], x)
def layer_norm(x, g, b):
    m = x.mean(-1, keepdims=True); v = x.var(-1, keepdims=True); return (x - m) * lax.rsqrt(v + 1e-5) * g + b
def batch_norm(x, g, b):
    m = x.mean((0, 2, 3), keepdims=True); v = ((x - m) ** 2).mean((0, 2, 3), keepdims=True)
    return (x - m) / jnp.sqrt(v + 1e-5) * g[:, None, None] + b[:, None, None]
def rng(key): return jax.random.uniform(jax.random.wrap_key_data(key), (5, 3))
def rng_normal(key): return jax.random.normal(jax.random.wrap_key_data(key), (7,))
def rng_bits(key): return jax.random.bits(jax.random.wrap_key_data(key), (9,))
def max_pool(x): return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME')
def avg_pool(x): return lax.reduce_window(x, 0., lax.add, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID') / 4
def gelu(x): return jax.nn.gelu(x)
def gelu_exact(x): return jax.nn.gelu(x, approximate=False)
def loss(w, x, y):
    p = jax.nn.log_softmax(x @ w); return -jnp.take_along_axis(p, y[:, None], 1).mean()
def functions(x): return jnp.exp(x), jnp.log1p(jnp.abs(x)), jnp.sin(x), jnp.cos(x), jnp.tanh(x), jnp.arctan2(x, x + 1), jnp.cbrt(x), jnp.expm1(x), jnp.floor(x), jnp.round(x), jnp.sign(x), jnp.tan(x), jnp.power(jnp.abs(x), 1.5), jax.nn.sigmoid(x), jnp.sqrt(jnp.abs(x)), jnp.log(jnp.abs(x)), jnp.ceil(x)
def inverse(x): return jnp.arcsin(x), jnp.arccos(x), jnp.arctan(x), jnp.sinh(x), jnp.cosh(x), jnp.arctanh(x), jnp.arcsinh(x), jnp.arccosh(1 + x * x)
def special(x): return jax.scipy.special.erf(x), jax.scipy.special.erfc(x), jax.lax.erf_inv(x * 0.3), jax.lax.lgamma(jnp.abs(x) + 0.5), jax.lax.digamma(jnp.abs(x) + 0.5)
def integers(a, b): return a // b, a % b, a & b, a | ~b, a ^ b, a << 3, a >> 2, jnp.abs(a), lax.population_count(a), lax.clz(a), lax.shift_right_logical(a, jnp.int32(5)), jnp.minimum(a, b), lax.div(a, b), lax.rem(a, b)
def shapes(x): return jnp.concatenate([x, x[::-1]], 1), jnp.pad(x, ((1, 2), (0, 1)), constant_values=7), lax.pad(x, np.float32(1), ((-1, 2, 1), (0, -1, 2))), x[1:3, ::2], x.T.reshape(2, -1), jnp.flip(x, (0, 1)), jnp.roll(x, 1, 0), jnp.tile(x, (2, 1)), jnp.stack([x, x], 1)
def update(x, k): return lax.dynamic_update_slice(x, jnp.ones((2, 2), x.dtype), (k, 1)), lax.dynamic_slice(x, (k, k), (2, 3)), x.at[1].set(0.)
def widths(x, k): return x.astype(jnp.bfloat16) * 2, x.astype(jnp.float16) + 1, k.astype(jnp.uint8), k.astype(jnp.int8) * jnp.int8(3), x.astype(jnp.int32), k.astype(jnp.float32), x > 0, (k != 0).astype(jnp.float32), lax.bitcast_convert_type(x, jnp.uint32), x.astype(jnp.bfloat16).astype(jnp.float32)
def complexes(x, y):
    z = x + 1j * y; w = z * z + jnp.conj(z); return jnp.abs(w), w.real, jnp.angle(z), w, jnp.exp(z)
def complex_functions(x, y):
    z = x + 1j * y; w = y - 0.5j * x; return jnp.sqrt(z), jnp.sqrt(-z), lax.rsqrt(z), jnp.sin(z), jnp.cos(z), jnp.tan(z), jnp.tanh(z), jnp.sinh(z), jnp.cosh(z), jnp.power(z, w), lax.logistic(z), jnp.expm1(z), jnp.log1p(z), jnp.sign(z), jnp.sign(0 * z), jnp.sqrt(0 * z)
L = [
    (mlp, f(3,5), f(5,8), f(8), f(8,2), f(2)), (conv, f(2,6,5,3), f(3,3,3,4)), (conv_nchw, f(1,2,5,5), f(3,2,3,3)), (conv_groups, f(2,4,7), f(6,2,3)), (conv_transpose, f(1,3,4,2), f(3,3,2,3)),
 (attention, f(2,2,4,3), f(2,2,4,3), f(2,2,4,3)), (scan, f(4,4)*.3, f(6,4)), (fori, f(3)), (newton, np.float32(2)), (cond, f(4)), (switch, np.int32(1), f(3)),
 (layer_norm, f(3,8), f(8), f(8)), (batch_norm, f(2,3,4,4), f(3), f(3)), (rng, np.array([3,9],np.uint32)), (rng_normal, np.array([1,2],np.uint32)), (rng_bits, np.array([1,2],np.uint32)),
 (max_pool, f(1,7,7,2)), (avg_pool, f(1,6,6,2)), (gelu, f(9)), (gelu_exact, f(9)), (loss, f(6,4), f(5,6), i(0,4,5)), (functions, f(8)), (inverse, np.clip(f(8)*.4,-.9,.9)), (special, f(8)),
 (integers, i(-50,50,9), np.array([3,-7,1,5,-2,9,-1,4,8],np.int32)), (shapes, f(4,5)), (update, f(5,6), np.int32(2)), (widths, f(6), i(0,100,6)), (complexes, f(5), f(5)), (complex_functions, np.array([1.5, -0.7, 0.3, -2, 0, 1e-3], np.float32), np.array([0.4, -1.2, 2, 0.1, 1.1, -0.2], np.float32)),
]

def N(name, fn, *inputs):
    fn.__name__ = name
    L.append((fn, *inputs))


N('softmax', lambda x: jax.nn.softmax(x, 1), f(3,7))
N('cumsum', lambda x: jnp.cumsum(x, 1), f(3,8))
N('cumprod', lambda x: jnp.cumprod(x), f(6))
N('cummax', lambda x: lax.cummax(x, 0), f(9,2))
N('sort', lambda x: jnp.sort(x, 0), f(9,3))
N('argsort', lambda x: jnp.argsort(x), np.array([3,1,2,3,0,1],np.float32))
N('sort_descending', lambda x: jnp.sort(x, descending=True), f(8))
N('sort_pairs', lambda k, v: lax.sort((k, v), num_keys=1), i(0,4,7), f(7))
N('top_k', lambda x: lax.top_k(x, 3), f(2,7))
N('argmax', lambda x: (jnp.argmax(x, 1), jnp.argmin(x)), f(3,5))
N('any_all', lambda x: (jnp.any(x > 1, 0), jnp.all(x < 2)), f(3,4))
N('fft', lambda x: jnp.fft.fft(x), f(2,8))
N('rfft', lambda x: jnp.fft.rfft(x), f(2,10))
N('irfft', lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), f(8))
N('fft2', lambda x: jnp.abs(jnp.fft.ifft2(jnp.fft.fft2(x))), f(4,6))
N('gather_rows', lambda x, k: x[k], f(6,3), i(0,6,4))
N('gather_points', lambda x, a, b: x[a, b], f(6,3), i(0,6,4), i(0,3,4))
N('take', lambda x, k: jnp.take(x, k, axis=1, mode='clip'), f(3,6), i(0,6,2,2))
N('scatter_set', lambda x, k, u: x.at[k].set(u), f(6,2), np.array([4,0,2],np.int32), f(3,2))
N('scatter_add', lambda x, k, u: x.at[k].add(u), f(6), i(0,6,9), f(9))
N('scatter_max', lambda x, k, u: x.at[k].max(u), f(6), i(0,6,9), f(9))
N('segment_sum', lambda x, k: jax.ops.segment_sum(x, k, 4), f(9,2), i(0,4,9))
N('one_hot', lambda k: jax.nn.one_hot(k, 5), i(0,5,4))
N('histogram', lambda x: jnp.bincount(x, length=6), i(0,6,20))
N('where', lambda x: jnp.where(x > 0, x, jnp.exp(x) - 1), f(3,4))
N('clip', lambda x: jnp.clip(x, -.5, .5), f(7))
N('outer', lambda a, b: jnp.outer(a, b), f(3), f(4))
N('einsum', lambda a, b, c: jnp.einsum('aij,bjk,ck->aibc', a, b, c), f(2,3,4), f(2,4,5), f(3,5))
N('batched_matmul', lambda a, b: a @ b, f(3,2,4), f(3,4,5))
N('matmul_f64', lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.float32), i(-9,9,3,4,t=np.int8).astype(np.float32), f(4,3))
N('int_matmul', lambda a, b: a @ b, i(-9,9,3,4), i(-9,9,4,3))
N('grad_mlp', jax.grad(lambda w, x: (jnp.tanh(x @ w) ** 2).sum()), f(4,3), f(5,4))
N('grad_pool', jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1,2,2), (1,2,2), 'VALID') ** 2).sum()), f(2,4,4))
N('grad_conv', jax.grad(lambda w, x: (lax.conv(x, w, (1,1), 'VALID') ** 2).sum()), f(2,2,3,3), f(1,2,5,5))
N('linspace', lambda x: jnp.linspace(0., 1., 7) * x, np.float32(3))
N('logsumexp', lambda x: jax.scipy.special.logsumexp(x, 0), f(5,3))
N('variance', lambda x: (x.var(0), x.std()), f(6,2))
N('norm', lambda x: jnp.linalg.norm(x, axis=1), f(3,5))
N('prod_min_max', lambda x: (x.prod(0), x.min(), x.max(1)), f(3,4))
N('searchsorted', lambda a, x: jnp.searchsorted(a, x), np.sort(f(9)), f(5))
N('interp', lambda x, a, b: jnp.interp(x, a, b), f(5), np.sort(f(6)), f(6))
N('polyval', lambda c, x: jnp.polyval(c, x), f(4), f(5))
N('rope', lambda x, c, s: jnp.concatenate([x[..., ::2] * c - x[..., 1::2] * s, x[..., ::2] * s + x[..., 1::2] * c], -1), f(2,3,4), f(3,2), f(3,2))
N('lstm', lambda w, xs: lax.scan(lambda h, x: ((lambda g: (jax.nn.sigmoid(g[3:6]) * jnp.tanh(g[:3])))(w @ jnp.concatenate([h, x])),) * 2, jnp.zeros(3), xs), f(6,5), f(5,2))
N('vmap_scan', jax.vmap(lambda x: lax.associative_scan(jnp.add, x)), f(2,5))
N('cholesky', lambda x: jnp.linalg.cholesky(x @ x.T + 3 * jnp.eye(3)), f(3,3))
N('matrix_power', lambda x: jnp.linalg.matrix_power(x, 5), f(3,3))
N('permutation', lambda k: jax.random.permutation(jax.random.wrap_key_data(k), 6), np.array([4,5],np.uint32))
N('dropout', lambda k, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), .7, x.shape), x / .7, 0), np.array([4,5],np.uint32), f(8))
N('nan_max', lambda x: (jnp.maximum(x, 0.), jnp.nanmax(x), jnp.isnan(x)), np.array([1,np.nan,-2],np.float32))
N('triangle', lambda x: (jnp.triu(x), jnp.trace(x)), f(4,4))
N('dilated', lambda x, w: lax.conv_general_dilated(x, w, (1,1), 'SAME', rhs_dilation=(2,2)), f(1,1,6,6), f(1,1,3,3))
N('moving_average', lambda x: jnp.convolve(x, jnp.ones(3) / 3, mode='same'), f(9))
N('digitize', lambda x: (x * 10).astype(jnp.int32) % 4 == 1, pos(7))
N('long_scan', lambda w, xs: lax.scan(lambda h, x: (jnp.tanh(w @ h + x), h.max()), jnp.zeros(3), xs), f(3, 3) * .3, f(40, 3))
N('long_fori', lambda x: lax.fori_loop(0, 100, lambda k, v: (v[0] * .9 + k, jnp.sort(v[1]) + lax.fori_loop(0, 3, lambda j, t: t + j, k), v[0]), (x, x, x)), f(4))
N('nested_while', lambda x: lax.while_loop(lambda s: s.sum() < 100, lambda s: lax.cond(s[0] > 5, lambda t: t * 2, lambda t: lax.while_loop(lambda q: q[1] < 3, lambda q: q + 1, t) + 3, s), x), f(3))
N('collatz', lambda n: lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)), np.int32(27))
N('rounds', lambda x: (lax.fori_loop(0, 5, lambda k, v: lax.fori_loop(0, k, lambda j, t: t + j, v), x), *(jax.jit(rounds)(jnp.int32(n), x) for n in (3, 7))), f(4))
N('cond_outside', lambda x, k: (lambda t: (lax.cond(k == 0, lambda: t, lambda: lax.sort(t, dimension=0)), t))(x.T), f(3, 4), np.int32(0))
N('complex_edges', lambda x, y, u, v: (lambda z, w: (lax.sqrt(z), lax.rsqrt(z), lax.logistic(z), lax.log1p(z), lax.exp(z), lax.expm1(z), w / z, lax.pow(0 * w, w)))(lax.complex(x, y), lax.complex(u, v)), *(np.array(a, np.float32) for a in ([3e38,-3e38,0,-100,-100,-1,1e20,-1e19,200,1,-np.inf], [0,1,0,1,0,1e-10,1,1e20,0,np.inf,np.inf], [1,-2,1,2,-1,0,0,1,-1,1,1], [0,0,0,0,0,1,0,0,1,0,0])))
N('edges', lambda l, x, h: (lax.clamp(l, x, h), lax.bitcast_convert_type(jnp.sign(l), jnp.uint32)), np.array([np.nan,0,1,-2,-0.,3],np.float32), np.array([1,np.nan,5,0,2,3],np.float32), np.array([2,3,np.nan,4,0,-3],np.float32))


EXACT = ("gather_rows gather_points take sort argsort sort_descending sort_pairs top_k shapes update scatter_set rng rng_bits permutation max_pool "
         "cummax clip cond one_hot triangle widths dropout rounds cond_outside edges").split()
WIDE = {"inverse": 2e-6, "special": 2e-6, "grad_mlp": 2e-6, "matrix_power": 2e-6}


def array_line(name, value):
    value = np.asarray(value)
    kind = {"bool": "u8", "bfloat16": "bf16", "complex64": "f32"}.get(value.dtype.name) or value.dtype.str[1:].replace("u", "u").replace("i", "i")
    if kind[0] in "fiu" and value.dtype.name not in ("bool", "bfloat16", "complex64"):
        kind = kind[0] + str(value.dtype.itemsize * 8)
    shape = value.shape + ((2,) if value.dtype.name == "complex64" else ())
    return f"// {name} {kind} {','.join(map(str, shape)) or '-'} {np.ascontiguousarray(value).tobytes().hex()}\n"


def write(folder, fn, inputs):
    jitted = jax.jit(fn)
    results = jax.tree.leaves(jitted(*inputs))
    text = jitted.lower(*inputs).as_text()
    name = fn.__name__
    text += f"// bound {0 if name in EXACT else WIDE.get(name, 6e-7):g}\n"
    text += "".join(array_line(f"arg{k}", value) for k, value in enumerate(jax.tree.leaves(inputs)))
    text += "".join(array_line("result" if len(results) == 1 else f"result{k}", value) for k, value in enumerate(results))
    with open(os.path.join(folder, name + ".mlir"), "w", encoding="utf-8") as file:
        file.write(text)


for fn, *inputs in L:
    write(sys.argv[1], fn, inputs)
