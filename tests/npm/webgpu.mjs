// The package on the browser's WebGPU: programs, graphs, buffers, faults, what cannot be waited for, a device that is lost. Bits are
// compared with those of wasm, which the recorded cases of the native library hold.
import { ENDLESS, GRAPH, contains, failure, runChecks, same } from './checks.mjs';
import { finish } from './node_modules/hologram/backend.js';
import { values } from './node_modules/hologram/core.js';

const AXPY = '.atlas 1\n.program axpy\n.param x buffer f32 in [n]\n.param y buffer f32 inout [n]\n.param alpha f32\n.param n u64\n.lanes n\n    y[global] = alpha * x[global] + y[global]\n';
const MIX = (type) => `.atlas 1
.program mix
.param x buffer ${type} in [n]
.param y buffer ${type} out [n]
.param n u64
.lanes n
    y[global] = x[global] * x[(global + 1) % n] + x[(global * 7 + 3) % n]
`;
const FAULT = '.atlas 1\n.program f\n.param x buffer u32 in [n]\n.param y buffer u32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global + 2]\n';

/** Bytes of elements, hashed. */
async function hash(elements) {
  const digest = await crypto.subtle.digest('SHA-256', elements.buffer ? new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength) : new TextEncoder().encode(String(elements)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const GPU = { backend: 'webgpu' };

export const checks = {
  async 'it is listed, opened once, and its numbers are found exact'(hg) {
    const listed = hg.devices().find((one) => one.backend === 'webgpu');
    same([listed.available, hg.backends().includes('webgpu')], [true, true]);
    contains((await failure(() => hg.backend('webgpu'))).message, 'webgpu', "await hg.open('webgpu')");
    const [one, two] = await Promise.all([hg.opened('webgpu'), hg.opened('wgpu')]);
    same([one === two, hg.backend('webgpu') === one, one.name, one.waits, one.describe().exact], [true, true, 'webgpu', false, true]);
  },

  async 'programs and graphs run'(hg) {
    const given = { x: [1, 2, 3], y: [10, 20, 30], alpha: 2 };
    same(await hg.run(AXPY, given, GPU), { y: Float32Array.of(12, 24, 36) });
    same(await hg.run(GRAPH, { x: [1, 2, 3, 4, 5, 6], w: [1, 0, 0, 1, 1, -1] }, GPU), { y: Float32Array.of(4, 0, 10, 0) });
    const together = await Promise.all([1, 2, 3, 4].map((alpha) => hg.run(AXPY, { ...given, alpha }, GPU)));
    same(together.map(({ y }) => y[0]), [11, 12, 13, 14]);
  },

  async 'the same hashes as on wasm'(hg) {
    for (const type of ['f32', 'f64', 'i64', 'u8']) {
      const x = Array.from({ length: 777 }, (_, i) => (type[0] === 'f' ? Math.sin(i) * 100 : type[0] === 'i' ? i - 300 : i % 251));
      const [gpu, wasm] = await Promise.all(['webgpu', 'wasm'].map(async (backend) => hash((await hg.run(MIX(type), { x }, { backend })).y)));
      same(gpu, wasm, type);
    }
  },

  async 'bindings and buffers'(hg) {
    const backend = await hg.opened('webgpu');
    const program = hg.assemble(AXPY);
    const y = backend.buffer(Float32Array.of(1, 1, 1));
    const binding = program.bind({ x: [1, 2, 3], y, alpha: 1 }, { backend });
    await binding.run();
    await binding.run();
    same([await y.readAsync(), await binding.resultsAsync()], [Float32Array.of(3, 5, 7), { y: Float32Array.of(3, 5, 7) }]);
    y.write([0, 0, 0]);
    await binding.run();
    same(await y.readAsync(), Float32Array.of(1, 2, 3));
    for (const call of [() => y.read(), () => binding.launch(), () => binding.results(), () => hg.tensor([1], { backend }).data(),
      () => hg.circuit('merge@c00[c01,c02]').run({ 0: [1], 1: [2] }, [2], { backend })])
      same((await failure(call)).status, 'HG_ERROR_WOULD_BLOCK', String(call));
    contains((await failure(() => y.view())).message, 'readAsync' in y ? 'in place' : '');
    for (const one of [binding, program, y]) one.dispose();
  },

  async 'tensors are what they are on wasm'(hg) {
    const chains = {
      sums: ({ tensor, ops }) => ops.add(ops.mul(tensor([[1, 2, 3], [4, 5, 6]]), tensor([0.1, 0.2, 0.3])), tensor([7])),
      product: ({ tensor, ops }) => ops.matmul(tensor([[1, 2], [3, 4.5]]), tensor([[0.5, -1], [2, 3]])),
      rows: ({ tensor, ops }) => ops.softmax(tensor([[1, 2, 3], [-1, 0, 1]]), { axes: [1] }),
      transposed: ({ tensor, ops }) => ops.exp(tensor([[0, 1], [2, 3]]).transpose()),
      part: ({ tensor }) => tensor(new Float32Array(100).map((_, i) => i)).slice(0, 3, 90, 7),
      integers: ({ tensor, ops }) => ops.sum(tensor(new Int32Array(1000).map((_, i) => i * i))),
      wide: ({ tensor, ops }) => ops.add(tensor(BigInt64Array.of(2n ** 60n, -5n)), tensor(BigInt64Array.of(1n, 5n))),
      none: ({ tensor, ops }) => ops.neg(tensor(new Float32Array())),
    };
    const gpu = await hg.opened('webgpu');
    for (const [name, chain] of Object.entries(chains)) {
      const [there, here] = [gpu, hg.backend('wasm')].map((backend) => chain({ tensor: (data) => hg.tensor(data, { backend }), ops: hg.ops }));
      same([there.shape, there.type], [here.shape, here.type], name);
      same(await there.dataAsync(), here.data(), name);
      same(await here.dataAsync(), here.data(), name);
    }
    const one = hg.ops.sum(hg.tensor([1, 2, 3.5], { backend: gpu }));
    same([await one.itemAsync(), (await failure(() => one.item())).status], [6.5, 'HG_ERROR_WOULD_BLOCK']);
    contains((await failure(() => hg.tensor([1, 2], { shape: [3], backend: gpu }))).message, 'Tensor shape mismatch');
    const x = hg.ops.mul(hg.tensor([1, 2, 3], { backend: gpu }), hg.tensor([2], { backend: gpu }));
    same(await hg.run(AXPY, { x, y: [10, 20, 30], alpha: 1 }, { backend: gpu }), { y: Float32Array.of(12, 24, 36) });
    const last = Array.from({ length: 200 }).reduce((sum) => hg.ops.add(sum, x), x); // recorded, many at once
    same(await last.dataAsync(), Float32Array.of(402, 804, 1206));
  },

  async 'a tensor that goes while it is sent takes no others with it'(hg) {
    const backend = await hg.open('webgpu', { pooling: false });
    const x = hg.tensor([1, 2, 3], { backend });
    const first = hg.ops.add(x, x).dataAsync(); // what is sent next waits until its kernel is made
    hg.tensor([4, 5], { backend }).dispose();
    same(await first, Float32Array.of(2, 4, 6));
    await new Promise((go) => setTimeout(go, 100));
    same(await hg.ops.add(x, x).dataAsync(), Float32Array.of(2, 4, 6));
    backend.dispose();
  },

  async 'circuits'(hg) {
    const circuit = hg.circuit('merge@c00[c01,c02]');
    const x = Float32Array.from({ length: 5000 }, (_, i) => i / 3); // more than a class
    const here = circuit.run({ 0: x, 1: x }, [2], { backend: 'wasm' });
    same([here[2].length, here[2][4998]], [5000, 3332]);
    same(await circuit.runAsync({ 0: x, 1: x }, [2], GPU), here);
    same(await circuit.runAsync({ 0: x, 1: x }, [2], { backend: 'wasm' }), here);
    contains((await failure(() => circuit.runAsync({ 7: x }, [0], GPU))).message, 'c07');
    circuit.dispose();
  },

  async 'a fault says where'(hg) {
    const error = await failure(() => hg.run(FAULT, { x: [1, 2, 3, 4] }, GPU));
    same([error.status, error.lane, error.code], ['HG_ERROR_EXECUTION_FAILED', 2, 'F01']);
    const own = await hg.open('webgpu');
    let entered = 0; // the copy of x, the read of y, the launch
    own.enter = function () {
      Object.getPrototypeOf(this).enter.call(this);
      if (++entered === 3) this.dispose();
    };
    same((await failure(() => hg.run(FAULT, { x: [1, 2, 3, 4] }, { backend: own }))).code, 'F01');
  },

  async 'an endless program ends, and the page goes on'(hg) {
    let turns = 0;
    const ticks = setInterval(() => turns++, 5);
    const program = hg.assemble(ENDLESS);
    const binding = program.bind({ y: [0] }, { ...GPU, timeoutMs: 10 });
    const bound = failure(() => binding.run());
    await new Promise((go) => setTimeout(go, 20));
    for (const one of [binding, binding, program]) one.dispose(); // its work goes on
    const error = await bound;
    clearInterval(ticks);
    same(error.status, 'HG_ERROR_EXECUTION_FAILED');
    if (turns < 5) throw new Error(`the page had ${turns} turns meanwhile`);
    const control = new AbortController();
    const running = hg.run(ENDLESS, { y: [0] }, { ...GPU, signal: control.signal, timeoutMs: 10 }); // else it runs for long
    setTimeout(() => control.abort(new Error('not wanted')), 20);
    same((await failure(() => running)).message, 'not wanted');
  },

  async 'a device whose lanes have stopped at the time-out is kept'(hg) {
    const first = await hg.opened('webgpu');
    const x = first.buffer(Float32Array.of(1));
    const error = await failure(() => hg.run(ENDLESS, { y: [0] }, { ...GPU, timeoutMs: 10 }));
    same([error.status, error.code], ['HG_ERROR_EXECUTION_FAILED', 'F08']);
    const works = await x.readAsync().then(() => true, () => false); // a machine that is slow has given it up
    same(await hg.opened('webgpu') === first, works);
    if (works) same(await hg.run(AXPY, { x, y: [2], alpha: 3 }, GPU), { y: Float32Array.of(5) });
  },

  async 'a short time-out behind the work of others takes no device from them'(hg) {
    const backend = await hg.open('webgpu');
    const program = hg.assemble(AXPY);
    const [before, behind] = [60000, 300].map((timeoutMs) => program.bind({ x: [1], y: [2], alpha: 3 }, { backend, timeoutMs }));
    await before.run();
    await behind.run(); // all of it is compiled
    const { mapAsync } = GPUBuffer.prototype;
    const held = new Promise((begun) => {
      GPUBuffer.prototype.mapAsync = async function (...range) {
        GPUBuffer.prototype.mapAsync = mapAsync;
        begun();
        await mapAsync.call(this, ...range);
        await new Promise((go) => setTimeout(go, 2000)); // longer than the time-out and the second that lanes have to stop
      };
    });
    const first = before.resultsAsync();
    await held;
    const looks = setInterval(() => backend.progress(), 100); // as while others' windows end
    await behind.run();
    clearInterval(looks);
    same([await first, await behind.resultsAsync()], [{ y: Float32Array.of(5) }, { y: Float32Array.of(8) }]);
    backend.dispose();
  },

  async 'a device whose lanes go on after the time-out is left alone with them'(hg) {
    const first = await hg.opened('webgpu');
    const binding = hg.assemble(ENDLESS).bind({ y: [0] }, { ...GPU, timeoutMs: 200 }); // by their count they go on for seconds
    const error = await failure(() => binding.run());
    same([error.status, error.code], ['HG_ERROR_EXECUTION_FAILED', 'F08']);
    contains(error.message, '200 ms');
    const lost = await failure(() => hg.run(AXPY, { x: [1], y: [2], alpha: 3 }, { backend: first }));
    same(lost.status, 'HG_ERROR_BACKEND_UNAVAILABLE', lost.message);
    contains(lost.message, 'time-out', 'new backend');
    same(await hg.run(AXPY, { x: [1], y: [2], alpha: 3 }, GPU), { y: Float32Array.of(5) }); // on another
    same(await hg.opened('webgpu') === first, false);
  },

  async 'a queue with a read under way stays until that is over'(hg) {
    const backend = await hg.open('webgpu');
    const { core } = backend;
    const buffer = backend.buffer('u8', Uint8Array.of(1, 2, 3, 4));
    await buffer.settled();
    const queue = core.made('hg_queue_create', backend.backend, 0);
    const host = core.allocate(4);
    const event = core.scope((scope) => {
      const copy = scope.structure('hg_command', { kind: values.HG_COMMAND_COPY_OUT, buffer: { handle: buffer.handle }, length: 4, host });
      return core.made('hg_queue_submit', queue, copy, 1, 0, 0);
    });
    core.call('hg_queue_destroy', queue); // it would have to wait, and the answer comes when this has returned
    contains(core.error(values.HG_ERROR_WOULD_BLOCK).message, 'destroy it when its events are done');
    await finish(backend, event);
    same([...core.bytes.subarray(host, host + 4)], [1, 2, 3, 4]);
    core.call('hg_queue_destroy', queue);
    core.free(host);
    buffer.dispose();
    backend.dispose();
  },

  async 'a device of the page is used and left open'(hg) {
    const adapter = await navigator.gpu.requestAdapter();
    const device = await adapter.requestDevice();
    const backend = await hg.open('webgpu', { device });
    same(await hg.run(AXPY, { x: [1], y: [2], alpha: 3 }, { backend }), { y: Float32Array.of(5) });
    backend.dispose();
    const buffer = device.createBuffer({ size: 16, usage: GPUBufferUsage.COPY_DST });
    device.queue.writeBuffer(buffer, 0, new Uint8Array(16));
    await device.queue.onSubmittedWorkDone();
    device.destroy();
  },

  async 'memory that cannot be had, then a device that is lost'(hg) {
    contains((await failure(async () => (await hg.opened('webgpu')).buffer('u8', 2 ** 32))).message, '4294967296', 'largest');
    const { createBuffer, popErrorScope } = GPUDevice.prototype;
    const { requestDevice } = GPUAdapter.prototype;
    let device;
    GPUAdapter.prototype.requestDevice = async function (wanted) {
      device = await requestDevice.call(this, wanted);
      return device;
    };
    const backend = await hg.open('webgpu');
    GPUAdapter.prototype.requestDevice = requestDevice;
    let full = 0;
    GPUDevice.prototype.createBuffer = function (wanted) {
      full = 2;
      return createBuffer.call(this, wanted);
    };
    GPUDevice.prototype.popErrorScope = function () {
      const found = popErrorScope.call(this);
      return full-- === 2 ? found.then(() => new GPUOutOfMemoryError('no memory here')) : found;
    };
    const error = await failure(() => hg.run(AXPY, { x: new Float32Array(2 ** 23), y: new Float32Array(2 ** 23), alpha: 1 }, { backend }));
    Object.assign(GPUDevice.prototype, { createBuffer, popErrorScope });
    same(error.status, 'HG_ERROR_ALLOCATION_FAILED', error.message);
    contains(error.message, 'no memory here');
    await hg.run(AXPY, { x: [1], y: [2], alpha: 3 }, { backend }).catch(() => {}); // the other buffer's error may come late

    const running = hg.run(ENDLESS, { y: [0] }, { backend, timeoutMs: 10 });
    setTimeout(() => device.destroy(), 100);
    const lost = await failure(() => running);
    same(lost.status, 'HG_ERROR_BACKEND_UNAVAILABLE', lost.message);
    contains(lost.message, 'lost');
    backend.dispose();
    same(await hg.run(AXPY, { x: [1], y: [2], alpha: 3 }, GPU), { y: Float32Array.of(5) });
  },

  async 'a read that an error has ended stands in nobody\'s way'(hg) {
    const backend = await hg.open('webgpu');
    const [small, large] = [16, 2 ** 25].map((length) => backend.buffer('u8', length));
    await small.readAsync();
    const { mapAsync } = GPUBuffer.prototype;
    const { popErrorScope } = GPUDevice.prototype;
    GPUBuffer.prototype.mapAsync = async function (...range) {
      await mapAsync.call(this, ...range);
      await new Promise((go) => setTimeout(go, this.size < 2 ** 25 ? 50 : 300));
    };
    const reads = [small, large].map((one) => failure(() => one.readAsync()));
    await new Promise((go) => setTimeout(go)); // they are under way
    GPUDevice.prototype.popErrorScope = function () {
      popErrorScope.call(this);
      return Promise.resolve(new GPUOutOfMemoryError('no memory here'));
    };
    backend.buffer('u8', 2 ** 24).dispose();
    Object.assign(GPUDevice.prototype, { popErrorScope });
    same((await reads[0]).status, 'HG_ERROR_ALLOCATION_FAILED');
    GPUBuffer.prototype.mapAsync = mapAsync;
    small.write([7, ...Array(15).fill(0)]);
    same((await small.readAsync())[0], 7);
    await reads[1];
    backend.dispose();
  },

  async 'the function of the guide'() {
    const { load, run_in_browser } = await import('./node_modules/hologram/index-webgpu.js');
    same([await run_in_browser(), (await load()).webgpu.there], ['Computation complete', true]);
  },
};

/** 1,000 launches, of new bindings and of one: memory and objects are as many as before. */
export async function launches(hg) {
  const backend = await hg.opened('webgpu');
  const given = { x: new Float32Array(1000), y: new Float32Array(1000), alpha: 1 };
  const program = hg.assemble(AXPY);
  const binding = program.bind(given, { backend });
  const round = async (count) => {
    for (let i = 0; i < count; i++) {
      await binding.run();
      await hg.run(AXPY, given, { backend });
    }
    return [hg.core.memory.buffer.byteLength, hg.webgpu.objects];
  };
  same(await round(400), await round(100), 'bytes of memory, and objects of WebGPU,');
  binding.dispose();
  program.dispose();
  return {};
}

/** { passed, failed, messages } of all checks. */
export const run = (hg, only) => runChecks(checks, [hg], only);
