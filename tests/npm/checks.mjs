// What the package must do wherever it runs: Node, a page, a worker. Uses its public interface alone.

const AXPY = `.atlas 1
.program axpy
.param x buffer f32 in [n]
.param y buffer f32 inout [n]
.param alpha f32
.param n u64
.lanes n
    y[global] = fma(alpha, x[global], y[global])
`;
const COPY = (type) => `.atlas 1
.program copy
.param x buffer ${type} in [n]
.param y buffer ${type} out [n]
.param n u64
.lanes n
    y[global] = x[global]
`;
export const ENDLESS = `.atlas 1
.program endless
.param y buffer u32 inout [1]
.lanes 1
    while y[0] < 1 {
        y[0] = 0
    }
`;
export const GRAPH = '.graph 1\n.extent b\n.input x f32 [b, 3]\n.constant w f32 [3, 2]\nh = gemm a=x, b=w\ny = parallel_map relu, in=h\n.output y\n';

export function same(actual, expected, what = '') {
  const show = (value) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : ArrayBuffer.isView(one) ? [one.constructor.name, ...one] : one));
  if (show(actual) !== show(expected)) throw new Error(`${what} expected ${show(expected)}, got ${show(actual)}`);
}

export function contains(text, ...parts) {
  for (const part of parts) if (!String(text).includes(part)) throw new Error(`'${part}' is expected in '${text}'`);
}

/** The error of a call or promise. */
export async function failure(body) {
  try {
    await body();
  } catch (error) {
    return error;
  }
  throw new Error('an error is expected');
}

export const checks = {
  async 'a second load() gives the first'(hg, { load }) {
    if (await load() !== hg) throw new Error('another object');
  },

  async 'devices and backends'(hg) {
    same(hg.backends(), hg.webgpu.there ? ['wasm', 'webgpu'] : ['wasm']);
    const wasm = hg.devices().find((one) => one.backend === 'wasm');
    same([wasm.available, wasm.exact], [true, true]);
    same(JSON.parse(JSON.stringify(wasm)), wasm);
    same([typeof wasm.memory_bytes, typeof hg.backend('wasm').describe().memory_bytes], ['number', 'number']);
    const said = hg.kernel('atlas_add_f32').describe();
    same([JSON.parse(JSON.stringify(said)), said.instructions > 0], [said, true]);
    contains(hg.devices().find((one) => one.backend === 'metal').reason, 'Metal');
    contains((await failure(() => hg.open('metal'))).message, 'Metal backend only available on Apple platforms');
  },

  async 'a program runs, what was given stays'(hg) {
    const x = Float32Array.of(1, 2, 3);
    const y = Float32Array.of(10, 20, 30);
    same(await hg.run(AXPY, { x, y, alpha: 2 }, { backend: 'wasm' }), { y: Float32Array.of(12, 24, 36) });
    same(y, Float32Array.of(10, 20, 30));
    same(await hg.run(AXPY, { x: [1, 2], y: [0, 1], alpha: -1 }), { y: Float32Array.of(-1, -1) });
  },

  async 'a default of an extent gives way to an array, and stands where there is none'(hg) {
    const text = COPY('f32').replace('.param n u64', '.param n u64 = 2').replace('in [n]', 'inout [n]');
    same((await hg.run(text, { x: [1, 2, 3] })).y, Float32Array.of(1, 2, 3));
    const two = '.atlas 1\n.program two\n.param y buffer u64 out [h, w]\n.param h u64 = 2\n.param w u64 = 1\n.lanes h * w\n    y[global] = h * 10 + w\n';
    same([...(await hg.run(two)).y], [21n, 21n]);
    same([...(await hg.run(two, { w: 2 })).y], [22n, 22n, 22n, 22n]);
  },

  async 'all types in and out'(hg) {
    const arrays = { f32: Float32Array, f64: Float64Array, i8: Int8Array, i16: Int16Array, i32: Int32Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array };
    for (const [type, array] of Object.entries(arrays)) {
      const x = array.from([0, 1, 100, type[0] === 'u' ? 255 : -7]);
      same((await hg.run(COPY(type), { x })).y, x, type);
    }
    for (const type of hg.types.filter((name) => /^[iu]\d{2,}/.test(name) && Number(name.slice(1)) >= 64)) {
      const bits = BigInt(type.slice(1));
      const x = type[0] === 'i' ? [-1n, -(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, 1n, (1n << bits) - 1n];
      same(Array.from((await hg.run(COPY(type), { x })).y), x, type);
      contains((await failure(() => hg.run(COPY(type), { x: [1n << bits] }))).message, 'does not fit');
    }
    for (const [type, numbers] of [['f16', [1, -2.5, 65504, 6e-8, 1 / 3, Infinity]], ['bf16', [1, -2.5, 3e38, 1e-40, 1 / 3, -Infinity]]]) {
      const found = hg.toNumbers(type, (await hg.run(COPY(type), { x: numbers })).y);
      const narrow = await hg.run(`.atlas 1\n.program narrow\n.param x buffer f64 in [n]\n.param y buffer ${type} out [n]\n.param n u64\n.lanes n\n    y[global] = ${type}(x[global])\n`,
        { x: Float64Array.from(numbers) });
      same(found, hg.toNumbers(type, narrow.y), type);
    }
    same(hg.types.length, 24);
  },

  async 'diagnostics are objects'(hg) {
    const error = await failure(() => hg.assemble('.atlas 1\n.program p\n.param y buffer f32 out [4]\n.lanes 4\n    y[global] = nothing\n'));
    same([error.name, error.status, error.line], ['HologramError', 'HG_ERROR_ISA', 5]);
    same([error.diagnostics[0].severity, error.diagnostics[0].line], ['error', 5]);
    contains(error.message, 'program.atlas:5', '^');
  },

  async 'arguments that do not fit are named'(hg) {
    const x = Float32Array.of(1);
    contains((await failure(() => hg.run(AXPY, { x, y: x, alpha: 1, z: 2 }))).message, "'z'", 'x, y, alpha, n');
    contains((await failure(() => hg.run(AXPY, { x, alpha: 1 }))).message, 'y is missing', 'f32[n]');
    contains((await failure(() => hg.run(AXPY, { x: Float64Array.of(1), y: x, alpha: 1 }))).message, 'x:', 'Float32Array', 'Float64Array');
    contains((await failure(() => hg.run(AXPY, { x, y: x, alpha: 'much' }))).message, 'alpha', 'string');
    contains((await failure(() => hg.run(AXPY, { x, y: x, alpha: 1 }, { backend: 'nothing' }))).message, 'nothing');
  },

  async 'wrong calls are refused'(hg) {
    const backend = hg.backend();
    for (const [call, ...parts] of [[() => backend.buffer('q7', 3), 'q7', 'f32'], [() => backend.buffer('f32', 1.5), '1.5'], [() => backend.buffer('f32', -1), '-1'],
      [() => backend.buffer(null), 'typed array'], [() => backend.buffer('u8', 2 ** 33), '8589934592'], [() => hg.tensor(null), 'null'],
      [() => hg.ops.add(1, 2), 'tensors'], [() => hg.ops.add(hg.tensor([1])), '2 expected'], [() => hg.open('wasm', { nothing: 1 }), 'nothing', 'timeout_ms'],
      [() => hg.open('wasm', { timeout_ms: 'x' }), 'timeout_ms', 'x'], [() => hg.decode(new Uint8Array(3)), 'magic'], [() => hg.run(null), '.atlas 1'],
      [() => hg.kernel('x'), "'x'"], [() => hg.call('hg_nothing'), 'hg_nothing'], [() => hg.call('hg_comm_run'), 'hg_comm_run: WebAssembly is without it'], [() => hg.tensor([1, 2]).reshape([3]), '[3]'],
      [() => hg.kernel(2 ** 31), 'text', 'number'], [() => hg.assemble('', { name: 5 }), 'name', 'number'], [() => hg.kernel('atlas_add_f32\0x'), 'NUL'],
      [() => hg.backend(null), 'null'], [() => hg.open('wasm', { timeout_ms: -5 }), 'timeout_ms', '-5'], [() => hg.open('wasm', { cache_dir: 5 }), 'cache_dir'],
      [() => hg.tensor([[1, 2], [3], [4, 5, 6]]), 'rows'], [() => hg.tensor(['a']), 'string'], [() => hg.tensor([1, 2, 3], { type: 'complex64' }), 'pairs'],
      [() => hg.ops.sum(hg.tensor([1]), { axis: 0 }), "'axis'", 'axes'], [() => hg.decode(null), 'null'], [() => backend.buffer('f32', new ArrayBuffer(5)), '5 bytes'],
      [() => hg.circuit('merge@c00[c01,c02]').run({ 0: [1], 1: [2] }, [2], { elements: 2 ** 30 }), 'out of memory', '4294967296'],
      [() => hg.circuit('merge@c00[c01,c02]').run({ 0.5: [1] }, [2]), '0.5'],
      [() => hg.circuit('merge@c00[c01,c02]').run({ 0: [1], 1: [2] }, [2], { elements: -1 }), 'elements: their number is expected, not -1'],
      [() => hg.circuit('merge@c00[c01,c02]').run(null, [2]), 'not null and Array'], [() => hg.tensor([1], { shape: '1' }), 'shape: an array of extents'], [() => hg.graph(GRAPH).bind({ b: 'x' }), 'b:']])
      contains((await failure(call)).message, ...parts);
    const square = hg.assemble(COPY('f32'));
    for (const [options, ...parts] of [[{ timeoutMs: -1 }, 'timeoutMs', '-1'], [{ maxSteps: 2 ** 64 }, 'maxSteps'], [{ lanes: 2 ** 64 }, 'lanes'], [{ lanes: 1.5 }, '1.5'],
      [{ grid: 2 ** 32 }, 'grid'], [{ grid: [1, 1, 1, 1] }, 'grid', '4'], [{ grid: 1, block: 1.5 }, 'block', '1.5'], [{ timeout: 1 }, "'timeout'", 'timeoutMs']])
      contains((await failure(() => square.run({ x: [1] }, options))).message, ...parts);
    for (const [x, ...parts] of [[[1, 'a'], 'x[1]', 'number', 'string'], [[[1, 2], [3, 4]], 'x[0]', '{ data, shape }'], [[1, , 3], 'x[1]', 'undefined']])
      contains((await failure(() => square.run({ x }))).message, ...parts);
    for (const [options, ...parts] of [[{ signal: 3 }, 'signal', 'AbortSignal', 'number'], [{ timeout: 1 }, 'run', "'timeout'"], [null, 'run', 'options', 'null']])
      contains((await failure(() => hg.run(COPY('f32'), { x: [1] }, options))).message, ...parts);
    contains((await failure(() => square.bind({ x: [1] }).run({ signal: {} }))).message, 'AbortSignal', 'Object');
    same((await square.run({ x: [1] }, { signal: null })).y, Float32Array.of(1));
    const view = hg.tensor([[1, 2], [3, 4]]).transpose();
    for (const [x, ...parts] of [[view, 'contiguous'], [hg.tensor([1], { type: 'i32' }), 'Tensor of f32', 'i32'],
      [hg.tensor([1], { backend: await hg.open('wasm') }), 'another backend']])
      contains((await failure(() => square.run({ x }))).message, ...parts);
    same((await square.run({ x: view.contiguous() })).y, Float32Array.of(1, 3, 2, 4));
    same((await square.run({ x: Float32Array.of(1, 2).buffer })).y, Float32Array.of(1, 2));
    same((await square.run({ x: new Set([1, true]) })).y, Float32Array.of(1, 1));
  },

  async 'what lies in memory of the library is given while it grows'(hg) {
    const buffer = hg.backend().buffer('f32', 3e6);
    for (const make of [() => hg.tensor(buffer.view()).data(), () => hg.backend().buffer(buffer.view()).read()]) {
      buffer.view().fill(3);
      const found = make();
      same([found.length, found[0], found.at(-1)], [3e6, 3, 3]);
    }
    const gone = buffer.view();
    for (let length = 1e6; gone.length; length *= 2) hg.backend().buffer('f32', length).dispose();
    contains((await failure(() => buffer.write(gone))).message, 'write', 'gone');
    buffer.dispose();
  },

  async 'what is disposed while it runs'(hg) {
    const backend = await hg.open('wasm');
    const graph = hg.graph(GRAPH);
    const given = { x: new Float32Array(300), w: [1, 0, 0, 1, 1, -1] };
    const binding = graph.bind(given, { backend });
    const running = binding.run();
    await null;
    binding.dispose();
    await running;
    const late = graph.bind(given, { backend }).run();
    backend.dispose();
    contains((await failure(() => late)).message, 'disposed');
    graph.dispose();
    same((await hg.run(COPY('f32'), { x: [1] })).y, Float32Array.of(1));
  },

  async 'numbers are printed'(hg) {
    contains(String(hg.tensor([0.5, -1.25, 1e10])), '0.5', '-1.25', '1e+10');
    same((await hg.run('.atlas 1\n.program p\n.param y buffer u32 out [n]\n.param n u64 = 3\n.lanes n\n    y[global] = 1\n')).y, Uint32Array.of(1, 1, 1));
  },

  async 'a fault says where'(hg) {
    const text = '.atlas 1\n.program f\n.param x buffer u32 in [n]\n.param y buffer u32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global + 2]\n';
    const error = await failure(() => hg.run(text, { x: [1, 2, 3, 4] }));
    same([error.status, error.lane, error.code], ['HG_ERROR_EXECUTION_FAILED', 2, 'F01']);
  },

  async 'an endless program ends'(hg) {
    const error = await failure(() => hg.run(ENDLESS, { y: [0] }, { timeoutMs: 50 }));
    same(error.status, 'HG_ERROR_EXECUTION_FAILED');
    const control = new AbortController();
    const running = hg.run(ENDLESS, { y: [0] }, { signal: control.signal });
    control.abort(new Error('not wanted'));
    same((await failure(() => running)).message, 'not wanted');
    same((await failure(() => hg.run(AXPY, { x: [1], y: [1], alpha: 1 }, { signal: control.signal }))).message, 'not wanted');
  },

  async 'programs, bindings and buffers'(hg) {
    const program = hg.assemble(AXPY);
    same(program.params.map((p) => [p.name, p.kind, p.type, p.direction]),
      [['x', 'buffer', 'f32', 'in'], ['y', 'buffer', 'f32', 'inout'], ['alpha', 'scalar', 'f32', null], ['n', 'scalar', 'u64', null]]);
    const backend = hg.backend('wasm');
    const y = backend.buffer(Float32Array.of(1, 1));
    const binding = program.bind({ x: [1, 2], y, alpha: 1 });
    binding.launch();
    await binding.run();
    same(y.read(), Float32Array.of(3, 5));
    same(backend.buffer(Uint8ClampedArray.of(1, 255)).read(), Uint8Array.of(1, 255));
    y.view()[0] = 7;
    same(Array.from(y.read()), [7, 5]);
    binding.dispose();
    y.dispose();
    contains((await failure(() => y.read())).message, 'disposed');
    const bytes = program.encode();
    const again = hg.decode(bytes);
    same(again.hash, program.hash);
    contains(again.text, '.program axpy');
    const said = again.describe();
    same([said.name, said.lanes, said.grid, said.params, said.relaxed], ['axpy', ['n'], [], 4, false]);
    contains(program.emit('wgsl'), '@compute');
    contains((await failure(() => program.emit('spirv'))).message, 'target: expected kir', "got 'spirv'"); // compilers for it are not there
    again.dispose();
    program.dispose();
    contains((await failure(() => program.bind())).message, 'disposed');
  },

  async 'included files and definitions'(hg) {
    const text = '.atlas 1\n.program p\n.const SIZE 3\n.param y buffer u32 out [SIZE]\n.lanes SIZE\n.include "part.atlas"\n';
    const part = '    y[global] = SIZE\n';
    const program = hg.assemble(text, { defines: { SIZE: 4 }, resolve: (name) => (name === 'part.atlas' ? part : null) });
    same((await program.run()).y, Uint32Array.of(4, 4, 4, 4));
    contains((await failure(() => hg.assemble(text, { resolve: () => { throw new Error('no such file'); } }))).message, 'no such file');
    contains((await failure(() => hg.assemble(text, { resolve: async () => part }))).message, 'part.atlas', 'Promise');
    program.dispose();
  },

  async 'JSON kernels and named kernels'(hg) {
    const y = await hg.run(hg.kernel('atlas_add_f32'), { a: [1, 2], b: [3, 4] });
    same(Object.values(y), [Float32Array.of(4, 6)]);
    if (hg.kernels().length < 10) throw new Error('few kernels');
    const error = await failure(() => hg.jsonKernel({ name: 1 }));
    same(error.status, 'HG_ERROR_ISA');
    if (!error.diagnostics.length) throw new Error('no diagnostics');
  },

  async 'a circuit runs over arrays'(hg) {
    const circuit = hg.circuit('merge@c00[c01,c02]');
    same(circuit.run({ 0: [1, 2], 1: [10, 20] }, [2]), { 2: Float32Array.of(11, 22) });
    circuit.dispose();
    same((await failure(() => hg.circuit('merge@'))).status, 'HG_ERROR_ISA');
  },

  async 'an array graph runs'(hg) {
    const given = { x: [1, 2, 3, 4, 5, 6], w: [1, 0, 0, 1, 1, -1] };
    same(await hg.run(GRAPH, given), { y: Float32Array.of(4, 0, 10, 0) });
    same(await hg.run(GRAPH, { ...given, y: new Float32Array(4) }), { y: Float32Array.of(4, 0, 10, 0) });
    contains((await failure(() => hg.run(GRAPH, { ...given, x: [1, 2] }))).message, 'output y f32 [b, 2] is missing', 'numbers for b');
    contains((await failure(() => hg.graph('.graph 1\n.input x f32 [4]\n.program p "a"\ny = launch p, x\n.output y\n', { programs: () => ({}) }))).message, 'Program', 'Object');
  },

  async 'tensors and operations'(hg) {
    const a = hg.tensor([[1, 2], [3, 4]]);
    const b = hg.ops.matmul(a, a.transpose());
    same([b.shape, Array.from(b.data())], [[2, 2], [5, 11, 11, 25]]);
    same(hg.ops.sum(b, { axes: [0] }).data(), Float32Array.of(16, 36));
    same(hg.tensor([1n, 2n, 3n], { type: 'i128' }).data(), [1n, 2n, 3n]);
    same(Array.from(hg.ops.less(a, hg.tensor(3)).data()), [1, 1, 0, 0]);
    contains((await failure(() => hg.tensor([[1], [2, 3]]))).message, 'rows');
  },
};

/** Those that hologram/wasm must fail. */
export const WHOLE = ['wrong calls are refused', 'what lies in memory of the library is given while it grows', 'what is disposed while it runs', 'numbers are printed',
  'programs, bindings and buffers', 'an array graph runs', 'tensors and operations'];

/** { passed, failed, messages } of checks by their names, each called with what is given. only: those whose names have it. */
export async function runChecks(checks, given, only = null) {
  const count = { passed: 0, failed: 0, messages: [] };
  for (const [name, check] of Object.entries(checks)) {
    if (only && !name.includes(only)) continue;
    try {
      await check(...given);
      count.passed++;
    } catch (error) {
      count.failed++;
      count.messages.push(`${name}: ${error.stack ?? error}`);
    }
  }
  return count;
}

/** The same of all of this file. */
export const run = (hg, hologram, only) => runChecks(checks, [hg, hologram], only);
