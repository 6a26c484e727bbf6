// Loading hologram.wasm: from an address, bytes or a compiled module, with an error for what can go wrong on the way that says where and
// what to do. Must not know: how the host reads an address (files.js).
import { Core, HologramError, bytesOf, expectOptions, expectSignal, kindOf } from './core.js';
import { Hologram } from './hologram.js';
import { version } from './interface.js';
import { NativeCode } from './native.js';
import { clock } from './serve.js';
import { makeMemory, sharing, startWorkers, threadsFor } from './threads.js';
import { WebGPU } from './webgpu.js';

const OPTIONS = ['wasmUrl', 'bytes', 'module', 'threads', 'progress', 'signal', 'gpu'];
const MAGIC = [0x00, 0x61, 0x73, 0x6D];

// (module (func (result v128) i32.const 0 i8x16.splat)): what an engine without SIMD refuses.
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11]);

function failed(message, cause) {
  return new HologramError(message, { status: 'HG_ERROR_IO', cause });
}

/** Why the engine did not take these bytes. */
function explain(error, bytes, where, file) {
  if (/unsafe-eval|content security policy|\bCSP\b/i.test(error.message))
    return failed(`${where}: the page's Content-Security-Policy does not allow WebAssembly: add 'wasm-unsafe-eval' to script-src`, error);
  if (!WebAssembly.validate(SIMD))
    return failed(`${where}: this engine has no SIMD for WebAssembly: Chrome 91, Firefox 89, Safari 16.4, Node 16.4 and later have`, error);
  return failed(`${where}: ${bytes.length} bytes are no whole WebAssembly module (${error.message}): was the file cut off on its way, ` +
    `or changed by a tool? ${file} of version ${version} is expected`, error);
}

/** The bytes are WebAssembly, as far as their beginning says. */
function check(bytes, where, file) {
  if (MAGIC.every((byte, i) => bytes[i] === byte)) return;
  const text = new TextDecoder().decode(bytes.subarray(0, 40)).replace(/\s+/g, ' ');
  throw failed(`${where}: no WebAssembly: it begins with ${bytes.length ? JSON.stringify(text) : 'nothing, the file is empty'}; ` +
    `copy ${file} beside the module, or tell load() its address: load({ wasmUrl })`);
}

async function compile(bytes, where, file) {
  check(bytes, where, file);
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    throw explain(error, bytes, where, file);
  }
}

/** What a server answered, as bytes; progress(loaded, total) is told while they come. */
async function readResponse(url, response, { signal, progress }) {
  if (!response.ok)
    throw failed(`${url}: the server answered ${response.status} ${response.statusText}: put the file there, or tell load() where it is: ` +
      'load({ wasmUrl })');
  const type = (response.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
  if (type && type !== 'application/wasm' && type !== 'application/octet-stream')
    throw failed(`${url} is served as ${type}: the server must say Content-Type: application/wasm (is it a page that says "not found"?), ` +
      'or load() be given the bytes: load({ bytes })');
  const total = Number(response.headers.get('content-length')) || 0;
  const early = (error) => {
    signal?.throwIfAborted();
    throw failed(`${url}: the connection ended early (${error.message}): is the file cut off?`, error);
  };
  if (!progress || !response.body) return new Uint8Array(await response.arrayBuffer().catch(early));
  const parts = [];
  let loaded = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(early);
    if (done) break;
    parts.push(value);
    loaded += value.length;
    try {
      progress(loaded, Math.max(total, loaded));
    } catch (error) {
      reader.cancel().catch(() => {});
      throw error;
    }
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** fetch, with the address in its error. */
export async function fetchBytes(url, { signal, progress }) {
  let response;
  try {
    response = await fetch(url, { signal, credentials: 'same-origin' });
  } catch (error) {
    signal?.throwIfAborted();
    throw failed(`${url}: cannot be fetched (${error.message}): is the server there, and does it allow this page (CORS, Content-Security-Policy ` +
      'connect-src)?', error);
  }
  return readResponse(url, response, { signal, progress });
}

/** load() of the export /webgpu: it fails where there is none. */
export function needWebGPU(load) {
  return async (options) => {
    const hg = await load(options);
    if (!hg.webgpu.there) throw new HologramError(hg.webgpu.reason, { status: 'HG_ERROR_BACKEND_UNAVAILABLE' });
    return hg;
  };
}

const DOUBLE = '.atlas 1\n.program double\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global] + x[global]\n';

/** run_in_browser() of a package's export: loads, computes something, and gives "Computation complete". */
export function makeRunInBrowser(load, backend) {
  return async function run_in_browser(options) {
    const hg = await load(options);
    const x = Float32Array.from({ length: 256 }, (_, i) => i);
    const { y } = await hg.run(DOUBLE, { x }, { backend });
    if (!y.every((one, i) => one === 2 * i)) throw new HologramError(`${backend} computes ${y}`, { status: 'HG_ERROR_INTERNAL' });
    return 'Computation complete';
  };
}

/**
 * load() of a host. read(url, options) gives the bytes of an address; here: where the module is unless somebody says otherwise;
 * makeWorker: see startWorkers; whole: it is hologram.wasm, not the core, which has no WebGPU.
 */
export function makeLoad(here, read, makeWorker, { whole = true } = {}) {
  const file = whole ? 'hologram.wasm' : 'hologram-core.wasm';
  const known = whole ? OPTIONS : OPTIONS.filter((name) => name !== 'gpu');
  let first = null; // what is loaded or loads: its promise, and how many calls wait that may be aborted
  const compiled = {}; // of the package's own bytes, for a load() after close(): { true: its memory is shared, false: it is not }

  async function moduleOf(options, shared) {
    if (options.module) return options.module;
    const where = options.bytes ? 'load({ bytes })' : String(options.wasmUrl ?? here);
    const make = (bytes) => compile(shared ? sharing(bytes) : bytes, where, file);
    if (options.bytes) return make(bytesOf(options.bytes, 'bytes'));
    if (options.wasmUrl) return make(await read(where, options));
    const making = (compiled[shared] ??= read(where, options).then(make));
    const forget = () => { if (compiled[shared] === making) delete compiled[shared]; };
    options.signal.addEventListener('abort', forget); // who loads next reads it anew
    try {
      return await making;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** { exports, memory } of an instance. A module of another thread may be of either kind. */
  async function instantiate(module, shared, imports, either) {
    try {
      const memory = makeMemory(shared);
      const { exports } = await WebAssembly.instantiate(module, { env: { memory }, ...imports });
      if (!exports.hg_version_text) throw new Error('it is another module, without hg_version_text');
      return { exports: { ...exports, memory }, shared };
    } catch (error) {
      if (either && error instanceof WebAssembly.LinkError) return instantiate(module, !shared, imports, false);
      throw failed(`${file} cannot be started (${error.message}): it must be the one of version ${version}`, error);
    }
  }

  async function begin(options) {
    options.signal.throwIfAborted();
    const threads = threadsFor(options.threads);
    const webgpu = new WebGPU(whole && options.gpu === undefined ? globalThis.navigator?.gpu : options.gpu);
    const [module] = await Promise.all([moduleOf(options, threads.count > 1), webgpu.ask()]);
    options.signal.throwIfAborted();
    const callbacks = {};
    const host = Object.fromEntries(['event_done', 'resolve', 'graph_program'].map((name) => [name, (...args) => callbacks[name](...args)]));
    const native = new NativeCode();
    const imports = { host: { clock_ms: clock, ...native.imports, ...host }, webgpu: webgpu.imports() };
    const { exports, shared } = await instantiate(module, threads.count > 1, imports, Boolean(options.module));
    let end = () => {};
    let codes = 0;
    if (threads.count > 1) {
      try {
        if (!shared) throw new Error('the module is of a load() without threads');
        ({ end, codes } = await startWorkers(threads.count, makeWorker, module, exports.memory, exports));
      } catch (error) {
        Object.assign(threads, { count: 1, reason: `one thread: workers cannot be started (${error.message})` });
      }
    }
    native.started(exports, shared, codes);
    const core = new Core(exports);
    webgpu.attach(core);
    try {
      const found = core.call('hg_version_text');
      if (!found.startsWith(version)) throw failed(`${file} is of version ${found}, the module of ${version}: use files of one package`);
      options.signal.throwIfAborted();
    } catch (error) {
      end();
      throw error;
    }
    return new Hologram(core, module, callbacks, webgpu, native, threads, () => {
      first = null;
      end();
    });
  }

  /** Loading itself ends when all who wait for it have aborted. */
  return async function load(options = {}) {
    expectOptions(options, known, 'load');
    const { signal, progress, wasmUrl, module } = options;
    expectSignal(signal, 'load');
    if (progress != null && typeof progress !== 'function') throw new HologramError(`load, progress: a function is expected, not ${kindOf(progress)}`);
    if (wasmUrl != null && typeof wasmUrl !== 'string' && !(wasmUrl instanceof URL))
      throw new HologramError(`load, wasmUrl: a text or a URL is expected, not ${kindOf(wasmUrl)}`);
    if (module != null && !(module instanceof WebAssembly.Module))
      throw new HologramError(`load, module: the module of another thread is expected, as hg.module, not ${kindOf(module)}`);
    if (!first) {
      const control = new AbortController();
      const mine = { control, waiting: 0, hologram: begin({ ...options, signal: control.signal }) };
      first = mine;
      mine.hologram.catch(() => { if (first === mine) first = null; });
    }
    const mine = first;
    mine.waiting++;
    if (!signal) return mine.hologram;
    return new Promise((done, stop) => {
      const leave = () => {
        stop(signal.reason);
        if (--mine.waiting) return;
        mine.control.abort(signal.reason);
        if (first === mine) first = null;
      };
      signal.addEventListener('abort', leave);
      const over = () => signal.removeEventListener('abort', leave);
      mine.hologram.finally(over).then(done, stop);
    });
  };
}
