// The package in Node, as it was installed beside this file: node node.mjs [CASES CASES...]
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import * as hologram from 'hologram';
import { run } from './checks.mjs';
import { nativeCode } from './native.mjs';
import { NativeCode } from './node_modules/hologram/native.js';
import { replay } from './replay.mjs';
import { threads } from './threads.mjs';

const [casesFile, ...compiledFiles] = process.argv.slice(2); // cases for the interpreter, and for compiled kernels
let passed = 0;
let failed = 0;

async function check(name, body) {
  try {
    await body();
    passed++;
  } catch (error) {
    failed++;
    console.log(`${name}: ${error.stack ?? error}`);
  }
}

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

async function failure(body) {
  try {
    await body();
  } catch (error) {
    return error.message;
  }
  throw new Error('an error is expected');
}

const { load } = hologram;
const wasm = await readFile(new URL(import.meta.resolve('hologram/hologram.wasm')));

// A server whose answers are wrong in one way each.
const answers = {
  '/good.wasm': [200, 'application/wasm', wasm],
  '/page.wasm': [200, 'text/html', Buffer.from('<!doctype html><title>not found</title>')],
  '/text.wasm': [200, 'application/octet-stream', Buffer.from('<!doctype html>')],
  '/cut.wasm': [200, 'application/wasm', wasm.subarray(0, wasm.length / 2)],
  '/empty.wasm': [200, 'application/wasm', Buffer.alloc(0)],
};
let finish;
const server = createServer((request, response) => {
  if (request.url === '/slow.wasm') {
    response.writeHead(200, { 'content-type': 'application/wasm' });
    response.write(wasm.subarray(0, 1000));
    finish = () => response.end(wasm.subarray(1000));
    return;
  }
  const [status, type, body] = answers[request.url] ?? [404, 'text/plain', Buffer.from('no such file')];
  response.writeHead(status, { 'content-type': type, 'content-length': body.length });
  response.end(body);
});
await new Promise((go) => server.listen(0, '127.0.0.1', go));
const at = `http://127.0.0.1:${server.address().port}`;

for (const [name, ...parts] of [['missing', '/missing.wasm', '404', 'wasmUrl'], ['page', '/page.wasm', 'text/html', 'application/wasm'],
  ['text', '/text.wasm', 'no WebAssembly', 'wasmUrl'], ['cut', '/cut.wasm', 'cut off'], ['empty', '/empty.wasm', 'empty']])
  await check(`load: ${name}`, async () => {
    const message = await failure(() => load({ wasmUrl: `${at}/${name}.wasm` }));
    for (const part of parts) expect(message.includes(part), `'${part}' is expected in '${message}'`);
  });
await check('load: options that are wrong', async () => {
  for (const [options, ...parts] of [[{ wasmurl: 'x' }, "'wasmurl'", 'wasmUrl'], [null, 'options', 'null'], [3, 'options', 'number'], [{ wasmUrl: 5 }, 'wasmUrl', 'number'],
    [{ progress: 3 }, 'progress', 'function'], [{ signal: 3 }, 'signal', 'AbortSignal'], [{ module: 3 }, 'module', 'number'], [{ bytes: 'x' }, 'bytes', 'string'],
    [{ bytes: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) }, 'another module'], [{ threads: 1.5 }, 'threads', '1.5']]) {
    const message = await failure(() => load(options));
    for (const part of parts) expect(message.includes(part), `'${part}' is expected in '${message}'`);
  }
});
await check('load: no server', async () => {
  const message = await failure(() => load({ wasmUrl: 'http://127.0.0.1:9/x.wasm' }));
  expect(message.includes('http://127.0.0.1:9/x.wasm') && message.includes('cannot be fetched'), message);
});
await check('load: no file', async () => {
  const message = await failure(() => load({ wasmUrl: './nothing.wasm' }));
  expect(message.includes('nothing.wasm') && message.includes('wasmUrl'), message);
});
await check('load: from an address, with progress', async () => {
  const told = [];
  const hg = await load({ wasmUrl: `${at}/good.wasm`, progress: (loaded, total) => told.push([loaded, total]) });
  expect(told.length && told.at(-1)[0] === wasm.length && told.at(-1)[1] === wasm.length, JSON.stringify(told.slice(-2)));
  hg.close();
});
await check('load: bytes in a view, and what progress throws', async () => {
  expect(await failure(() => load({ wasmUrl: `${at}/good.wasm`, progress: () => { throw new Error('mine'); } })) === 'mine', 'progress');
  (await load({ bytes: new DataView(wasm.buffer, wasm.byteOffset, wasm.length) })).close();
});
await check('load: one of two who wait aborts, then both', async () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const slow = { wasmUrl: `${at}/slow.wasm` };
  const first = failure(() => load({ ...slow, signal: one.signal }));
  const second = load({ signal: two.signal });
  while (!finish) await new Promise((go) => setTimeout(go, 5));
  one.abort(new Error('not I'));
  expect(await first === 'not I', await first);
  finish();
  (await second).close();
  const third = failure(() => load({ ...slow, signal: two.signal }));
  await new Promise((go) => setTimeout(go, 50));
  two.abort(new Error('nor I'));
  expect(await third === 'nor I', await third);
});
server.closeAllConnections();
server.close();

const hg = await load();
const shared = await run(hg, hologram);
passed += shared.passed;
failed += shared.failed;
for (const message of shared.messages) console.log(message);

await check('a load() that is aborted', async () => {
  const { load: other } = await import('./node_modules/hologram/index.js'); // has loaded nothing yet
  const message = await failure(() => other({ signal: AbortSignal.abort(new Error('not now')) }));
  expect(message === 'not now', message);
});

await check('a load() after one that was aborted', async () => {
  const { load: other } = await import('./node_modules/hologram/node.js?anew');
  const control = new AbortController();
  const first = failure(() => other({ signal: control.signal }));
  control.abort(new Error('not now'));
  (await other()).close();
  expect(await first === 'not now', await first);
});

/** A provider whose devices never answer; bytes: of a buffer, at most. */
function silent(bytes) {
  const never = new Promise(() => {});
  const limits = new Proxy({}, { get: () => bytes });
  const device = { limits, lost: never, queue: {}, destroy() {}, addEventListener() {}, pushErrorScope() {}, popErrorScope: () => never, createBuffer: () => ({ destroy() {} }),
    createShaderModule: () => ({}), createBindGroupLayout: () => ({}), createPipelineLayout: () => ({}), createComputePipelineAsync: () => never };
  return { device, requestAdapter: async () => ({ limits, info: { vendor: 'silent' }, requestDevice: async () => device }) };
}

await check('a device that does not open', async () => {
  const { load: other } = await import('./node_modules/hologram/node.js?anew');
  const gpu = silent(2 ** 28);
  const text = '.atlas 1\n.program p\n.param y buffer u32 out [1]\n.lanes 1\n    y[0] = 1\n';
  let one = await other({ gpu });
  const objects = [one.webgpu.objects];
  const wrong = await failure(() => one.open('webgpu', { device: gpu.device, nonsense: 1 }));
  expect(wrong.includes('no field nonsense'), wrong);
  objects.push(one.webgpu.objects);
  expect(objects[0] === objects[1], `${objects} objects`);
  const run = failure(() => one.run(text, {}, { backend: 'webgpu', signal: AbortSignal.timeout(50) }));
  expect((await run).includes('timeout'), await run);
  const opening = failure(() => one.open('webgpu', { device: gpu.device }));
  await new Promise((go) => setTimeout(go, 20));
  one.close();
  expect((await opening).includes('closed before the backend was open'), await opening);
  const least = silent(2 ** 28);
  const { requestAdapter } = least;
  let asked = 0;
  least.requestAdapter = async () => {
    const adapter = await requestAdapter();
    return { ...adapter, requestDevice: async () => { asked++; throw new Error('65536 bytes are not available'); } };
  };
  one = await other({ gpu: least });
  const small = await failure(() => one.run(text, {}, { backend: 'webgpu' }));
  expect(small.includes('bytes are not available'), small);
  asked = 0;
  for (let i = 0; i < 3; i++) expect((await one.run(text)).y[0] === 1, 'auto is wasm where webgpu does not open');
  expect(asked === 1, `a device that does not open was asked for ${asked} times`);
  one.close();
});

await check('the module of the guide', async () => {
  const file = fileURLToPath(new URL('./guide/squares.mjs', import.meta.url));
  const said = execFileSync(process.execPath, [file], { encoding: 'utf8' });
  expect(said.includes('[ 1, 4, 9 ]'), said);
});

await check('hologram.d.ts declares what there is', async () => {
  const types = await readFile(new URL('./node_modules/hologram/hologram.d.ts', import.meta.url), 'utf8');
  const program = hg.kernel('atlas_add_f32');
  const there = { Hologram: hg, Backend: hg.backend(), Buffer: hg.backend().buffer('f32', 1), Program: program, Tensor: hg.tensor([1]),
    Circuit: hg.circuit('copy@c01->c02'), Graph: hg.graph('.graph 1\n.input x f32 [1]\ny = parallel_map relu, in=x\n.output y\n'),
    Binding: program.bind({ a: [1], b: [2] }) };
  for (const [name, object] of Object.entries(there)) {
    const body = new RegExp(`export class ${name} [^{]*{\\n([^]*?)\\n}`).exec(types)?.[1] ?? '';
    const declared = new Set(body.split('\n').flatMap((line) => /^ {2}(?:readonly )?(\w+)[(:?]/.exec(line)?.[1] ?? []));
    expect(declared.size > 3, `${name} is not declared`);
    for (const member of declared) expect(member in object, `${name} has no ${member}`);
    const known = ['constructor', 'core', 'token', 'address', 'hg', 'callbacks', 'answer', 'answered', 'handle', 'writeBytes', 'executable', 'bufferHandle', 'backend',
      'compile', 'setValues', 'bound', 'printed', 'executor', 'queue', 'follow', 'settled', 'start', 'runForResults', 'note', 'enter', 'left', 'use', 'dropTensors', 'isLost'];
    for (let kind = Object.getPrototypeOf(object); kind !== Object.prototype; kind = Object.getPrototypeOf(kind))
      for (const member of Object.getOwnPropertyNames(kind))
        expect(declared.has(member) || known.includes(member), `${name}.${member} is not declared`);
  }
});

await check('what Node prints of objects', async () => {
  const program = hg.kernel('atlas_add_f32');
  const binding = program.bind({ a: [1], b: [2] });
  const backend = hg.backend('wasm');
  for (const [object, text] of [[hg, `Hologram ${hg.version} on wasm`], [backend, 'Backend wasm'], [backend.buffer('f32', 3), 'Buffer f32[3] on wasm'],
    [program, 'Program atlas_add_f32(a, b, c, n)'], [binding, 'Binding of atlas_add_f32: a, b, c'], [hg.tensor([[1, 2]]), 'Tensor f32 [1, 2] = [[1, 2]]'],
    [hg.circuit('copy@c01->c02'), 'Circuit copy@c01->c02'], [hg.graph('.graph 1\n.input x f32 [1]\ny = parallel_map relu, in=x\n.output y\n'), 'Graph (x) → (y)']])
    expect(inspect(object) === text, `${inspect(object)}, expected ${text}`);
  binding.dispose();
  program.dispose();
  expect(inspect(program) === 'Program (disposed)' && inspect(binding) === 'Binding (disposed)', `${inspect(program)}, ${inspect(binding)}`);
  const { dead } = hg.core;
  hg.core.dead = 'it stopped';
  expect(inspect(hg).startsWith('Hologram (') && inspect(backend).includes('it stopped'), `${inspect(hg)}, ${inspect(backend)}`);
  hg.core.dead = dead;
});

await check('what is bound keeps its program or graph', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const bound = [() => hg.assemble('.atlas 1\n.program f\n.param y buffer u32 out [n]\n.param n u64\n.lanes n\n    y[global] = 7\n').bind({ n: 1 }),
    () => hg.graph('.graph 1\n.input x f32 [1]\ny = parallel_map relu, in=x\n.output y\n').bind({ x: [7] })].map((make) => make());
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((go) => setTimeout(go, 1));
  }
  for (const one of bound) {
    one.launch();
    expect(one.results().y[0] === 7, one.results().y);
    one.dispose();
  }
});

await check('tensors of a backend that nobody waits for do not take others with them', async () => {
  const opened = await hg.open('wasm');
  const backend = new opened.constructor(hg, hg.call('hg_executor_backend', opened.address), () => opened.dispose(), false);
  const x = hg.tensor([1, 2, 3], { backend });
  const sum = () => hg.ops.add(x, x);
  const program = hg.assemble('.atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global]\n');
  const [gone, stays] = [sum(), sum()];
  const binding = program.bind({ x: gone }, { backend });
  gone.dispose();
  const message = await failure(() => binding.run());
  expect(message.includes('was disposed'), message);
  expect((await stays.dataAsync()).join() === '2,4,6', 'one that was disposed');
  expect((await sum().dataAsync()).join() === '2,4,6', 'one that was disposed, then another');
  const [old, view] = [stays, stays.reshape([3, 1])];
  const index = hg.tensor(BigInt64Array.of(9n), { backend });
  await failure(() => hg.ops.take(x, index, { axes: [0] }).dataAsync()); // a fault: all tensors that there are go
  const fresh = hg.tensor([1, 2], { backend });
  for (const one of [old, view, view.reshape([3])])
    expect((await failure(() => one.dataAsync())).includes('executor is destroyed'), 'a tensor of before');
  expect((await fresh.dataAsync()).join() === '1,2', 'a tensor of before takes new ones with it');
  const pair = hg.tensor(Float32Array.of(1, 2), { type: 'complex64', shape: [1], backend });
  expect((await failure(() => pair.itemAsync())).includes('complex64'), 'item of a complex tensor');
  for (const one of [binding, program, backend]) one.dispose();
});

await check('a host without WebGPU', async () => {
  const message = 'WebGPU not supported in this browser';
  const listed = hg.devices().find((one) => one.backend === 'webgpu');
  expect(!listed.available && listed.reason === message, listed.reason);
  for (const call of [() => hg.open('webgpu'), () => hg.run('.atlas 1\n.program p\n.param y buffer u32 out [1]\n.lanes 1\n    y[0] = 1\n', {}, { backend: 'wgpu' }),
    async () => (await import('hologram/webgpu')).load(), async () => (await import('hologram/webgpu')).run_in_browser()]) {
    const said = await failure(call);
    expect(said.includes(message), `${call}: ${said}`);
  }
  expect(await hologram.run_in_browser() === 'Computation complete', 'run_in_browser');
});

await check('the module starts in a worker', async () => {
  const worker = new Worker(new URL('./thread.mjs', import.meta.url), { workerData: hg.module });
  const sum = await new Promise((go, stop) => { worker.once('message', go); worker.once('error', stop); });
  await worker.terminate();
  expect(sum === '4,6', `got ${sum}`);
});

if (casesFile) {
  const cases = new Uint8Array(await readFile(casesFile));
  for (const pretend of ['', 'poor']) {
    const start = performance.now();
    const found = await replay(hg, cases, { pretend });
    console.log(`wasm${pretend && ` ${pretend}`}: ${found.values} values checked in ${((performance.now() - start) / 1000).toFixed(1)} s`);
    passed += found.passed;
    failed += found.failed;
    for (const message of found.messages) console.log(message);
  }
}

for (const file of compiledFiles) {
  const start = performance.now();
  const found = await replay(hg, new Uint8Array(await readFile(file)), { compiled: true });
  console.log(`wasm, compiled: ${found.values} values checked, ${found.native} kernels, in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  passed += found.passed;
  failed += found.failed;
  for (const message of found.messages) console.log(message);
  await check('compiled: kernels came', () => expect(found.native > found.passed / 2, `${found.native} kernels for ${found.passed} cases`));
}

hg.close();
for (const [name, found] of [['native code', await nativeCode(NativeCode)], ['threads', await threads(load, 3)]]) {
  passed += found.passed;
  failed += found.failed;
  for (const message of found.messages) console.log(`${name}: ${message}`);
}
await check('threads that cannot be', async () => {
  for (const wrong of [0, 33, 1.5, '2', null]) {
    const message = await failure(() => load({ threads: wrong }));
    expect(message.includes('threads: a number from 1 to 32 is expected'), message);
  }
  globalThis.crossOriginIsolated = false; // as a page without the headers is
  const one = await load({ threads: 2 });
  delete globalThis.crossOriginIsolated;
  expect(one.threads.count === 1 && one.threads.reason.includes('Cross-Origin-Opener-Policy'), JSON.stringify(one.threads));
  expect(one.devices().find(({ backend }) => backend === 'wasm').reason === one.threads.reason, 'devices() does not say why');
  const unshared = one.module;
  one.close();
  const two = await load({ module: unshared, threads: 2 });
  expect(two.threads.count === 1 && two.threads.reason.includes('load() without threads'), JSON.stringify(two.threads));
  two.close();
  const many = await load({ threads: 2 });
  const worker = new Worker(new URL('./thread.mjs', import.meta.url), { workerData: many.module });
  const sum = await new Promise((go, stop) => { worker.once('message', go); worker.once('error', stop); });
  await worker.terminate();
  expect(sum === '4,6', `a shared module in a worker gives ${sum}`);
  many.close();
});

await check('atomics on shared memory that lives across steps: every block begins where they may', async () => {
  const steps = await load();
  const backend = await steps.open('wasm', { jit: 'on' });
  const text = '.atlas 1\n.program kept\n.param x buffer u64 inout [n]\n.param y buffer i32 inout [n]\n.param n u64\n.shared 12\n.block 4\n' +
    '.lanes n\n    let one u64 = 1\n    .reg old u64\n    .reg sum i32\n    atom.add.u64 old, [shared + 0], one\n' +
    '    parallel_reduce.i32 sum, y, sum, n\n    lds.u64 old, [shared + 0]\n    x[global] = old + x[global]\n';
  for (let i = 0; i < 2; i++) { // by the interpreter, and compiled, where atomics trap at other addresses
    const { x } = await steps.run(text, { x: new BigUint64Array(12), y: new Int32Array(12) }, { backend });
    expect(x.every((one) => one === 4n), `got ${x}`);
    await steps.native.settled();
  }
  expect(steps.native.arrived, `${steps.native.error}`);
  steps.close();
});

await check('an array that is too large', async () => {
  const wasm = (await load()).backend('wasm');
  for (const bytes of [2 ** 31, 2 ** 40]) {
    const message = await failure(() => wasm.buffer('u8', bytes));
    expect(message.includes(`${bytes} bytes are not available: one array has at most 2143289343 here`), message);
  }
});
await check('memory beyond 2 GiB', async () => {
  if (process.env.HG_SLICE !== 'long') return; // it takes 4 GiB of the machine's
  const big = await load();
  const wasm = big.backend('wasm');
  const buffers = [];
  const refused = [await failure(() => wasm.buffer('u8', 2 ** 31)), await failure(() => wasm.buffer('f64', 2 ** 40))];
  try {
    for (let i = 0; i < 5; i++) buffers.push(wasm.buffer('u8', 2 ** 30 - 2 ** 16));
  } catch (error) {
    refused.push(error.message);
  }
  expect(buffers.length === 3, `${buffers.length} buffers of 1 GiB`);
  expect(refused.length === 3 && refused.every((message) => / bytes are not available/.test(message)), refused.join('; '));
  const text = '.atlas 1\n.program p\n.param x buffer u8 inout [n]\n.param n u64\n.lanes 2\n    let at u64 = global * (n - 1)\n    x[at] += 7\n';
  for (const x of buffers) await big.run(text, { x });
  for (const x of buffers) expect(x.view().at(0) === 7 && x.view().at(-1) === 7 && x.view().at(1) === 0, 'the ends of a buffer');
  big.close();
});

await check('memory is the same after many runs and loads', async () => {
  const text = '.atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global] + 1.0\n';
  let first = 0;
  for (let i = 0; i < 100; i++) {
    const fresh = await load();
    for (let k = 0; k < 3; k++) await fresh.run(text, { x: new Float32Array(10000) });
    const size = fresh.core.memory.buffer.byteLength;
    first ||= size;
    expect(size === first, `memory of ${size} bytes after ${i} loads, ${first} at first`);
    fresh.close();
  }
  const steady = await load();
  for (let size = 1000; size < 5e7; size *= 1.25) steady.backend().buffer('u8', Math.floor(size)).dispose();
  const grown = steady.core.memory.buffer.byteLength;
  expect(grown < 1.5e8, `${grown} bytes for one buffer at a time of at most 50 MB`);
  for (let k = 0; k < 20; k++) await steady.run(text, { x: new Float32Array(10000) });
  const before = steady.core.memory.buffer.byteLength;
  for (let k = 0; k < 1000; k++) await steady.run(text, { x: new Float32Array(10000) });
  expect(steady.core.memory.buffer.byteLength === before, `memory grew from ${before} to ${steady.core.memory.buffer.byteLength}`);
  steady.close();
  const message = await failure(() => steady.run(text, { x: [1] }));
  expect(message.includes('closed'), message);
});

console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed || !passed ? 1 : 0);
