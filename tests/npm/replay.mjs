// Runs recorded conformance cases (the layout is in tests/reference/record.c) through the package's low layer, and compares.
import { Queue } from './node_modules/hologram/queue.js';

const UNCHECKED = 0x7FFFFFFF;
const MOST_FAILURES = 20;
const NONE = 0xFFFFFFFFFFFFFFFFn;

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
  }
  take(n) {
    if (this.at + n > this.bytes.length) throw new Error('the file of cases ends early');
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }
  u32() { this.at += 4; return this.view.getUint32(this.at - 4, true); }
  u64() { this.at += 8; return this.view.getBigUint64(this.at - 8, true); }
  text(n) {
    const bytes = this.take(n);
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  }
  list(one) { return Array.from({ length: this.u32() }, one); }
}

function readCase(r) {
  const c = { name: r.text(r.u32()), text: r.text(r.u32()), cleared: r.u32() };
  c.grid = [r.u32(), r.u32(), r.u32()];
  c.block = [r.u32(), r.u32(), r.u32()];
  Object.assign(c, { lanes: r.u64(), shared: r.u64(), maxSteps: r.u64() });
  c.arrays = r.list(() => ({ name: r.text(32), pool: r.u32(), type: r.u32(), bytes: r.take(Number(r.u64())) }));
  c.scalars = r.list(() => ({ name: r.text(32), type: r.u32(), bits: r.take(8) }));
  c.kind = r.u32();
  if (c.kind === 2) return { ...c, code: r.text(4), instruction: r.u64(), lane: r.u64() };
  c.expected = (c.kind === 0 ? c.arrays.slice(0, 1) : c.arrays).map((array) => {
    const bytes = r.take(array.bytes.length);
    const ulps = c.kind === 0 ? r.list(() => r.u32()) : [];
    const stride = c.kind === 1 ? r.u32() : 0;
    const fields = c.kind === 1 ? r.list(() => ({ offset: r.u32(), type: r.u32() })) : [];
    return { bytes, ulps, stride, fields };
  });
  return c;
}

const INFINITIES = [0x7C00n, 0x7F80n, 0x7F800000n, 0x7FFn << 52n]; // f16 bf16 f32 f64

function number(bytes) {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]);
  return value;
}

/** Equal bits, both NaN, or at most ulp representable values apart. */
function agrees(type, ulp, expected, actual) {
  if (ulp === UNCHECKED || expected.every((byte, i) => byte === actual[i])) return true;
  if (type > 3) return false;
  const sign = 1n << BigInt(8 * expected.length - 1);
  const [e, a] = [number(expected), number(actual)];
  const [es, as] = [e & (sign - 1n), a & (sign - 1n)];
  if (es > INFINITIES[type] || as > INFINITIES[type]) return es > INFINITIES[type] && as > INFINITIES[type];
  const [ev, av] = [e & sign ? -es : es, a & sign ? -as : as];
  return (ev > av ? ev - av : av - ev) <= BigInt(ulp);
}

/** Runs a case: its arrays afterwards, or the error. */
function runCase(hg, backend, program, c) {
  const { core } = hg;
  const device = backend.backend;
  const names = program.params.map((p) => p.name);
  return core.scope((scope) => {
    const params = core.call('hg_params_create');
    const live = [];
    try {
      core.try('hg_backend_reset_state', device);
      if (c.cleared < 96) core.try('hg_backend_copy_to_buffer', device, NONE - 95n + BigInt(c.cleared), scope.zeros(12288), 12288);
      for (const a of c.arrays) {
        if (!names.includes(a.name)) continue;
        const kind = a.pool ? 'pool' : 'buffer';
        const made = scope.zeros(8);
        core.try(`hg_backend_allocate_${kind}`, device, a.bytes.length, made);
        const handle = core.view.getBigUint64(made, true);
        live.push({ a, kind, handle });
        const data = scope.bytes(a.bytes);
        if (a.pool) core.try('hg_backend_copy_to_pool', device, handle, 0, data, a.bytes.length);
        else core.try('hg_backend_copy_to_buffer', device, handle, data, a.bytes.length);
        core.try(`hg_params_set_${kind}`, params, a.name, handle);
      }
      for (const s of c.scalars) if (names.includes(s.name)) core.try('hg_params_set_scalar', params, s.name, s.type, scope.bytes(s.bits));
      const launch = scope.structure('hg_launch', { grid: c.grid, block: c.block, lanes: c.lanes, shared_memory: c.shared, max_steps: c.maxSteps });
      let error = null;
      try {
        core.try('hg_backend_execute_program_with_params', device, program.address, launch, params);
      } catch (caught) {
        error = caught;
      }
      const after = c.arrays.map((a) => {
        const one = live.find((entry) => entry.a === a);
        if (!one || error) return a.bytes;
        const to = scope.zeros(a.bytes.length);
        if (a.pool) core.try('hg_backend_copy_from_pool', device, one.handle, 0, to, a.bytes.length);
        else core.try('hg_backend_copy_from_buffer', device, one.handle, to, a.bytes.length);
        return core.bytes.slice(to, to + a.bytes.length);
      });
      return { after, error };
    } finally {
      for (const { kind, handle } of live) core.call(`hg_backend_free_${kind}`, device, handle);
      core.call('hg_params_destroy', params);
    }
  });
}

/** The same on a device that cannot be waited for: copies and the launch are one submission to a queue of its own. */
async function runQueued(hg, backend, program, c) {
  const { core } = hg;
  const { backend: device } = backend;
  const queue = new Queue(backend);
  const names = program.params.map((p) => p.name);
  const held = [];
  const keep = (free, ...args) => { held.unshift([free, ...args]); return args.at(-1); };
  const memory = (bytes) => {
    const at = core.allocate(bytes.length);
    core.bytes.set(bytes, at);
    held.unshift([() => core.free(at)]);
    return at;
  };
  const { HG_COMMAND_COPY_IN: IN, HG_COMMAND_COPY_OUT: OUT, HG_COMMAND_LAUNCH: LAUNCH } = hg.values;
  try {
    const params = keep('hg_params_destroy', core.call('hg_params_create'));
    const [before, after] = [[], []];
    if (c.cleared < 96) before.push({ kind: IN, buffer: { handle: NONE - 95n + BigInt(c.cleared) }, length: 12288, host: memory(new Uint8Array(12288)) });
    for (const a of c.arrays) {
      if (!names.includes(a.name)) continue;
      const handle = core.scope((scope) => {
        const made = scope.zeros(8);
        core.try('hg_backend_allocate_buffer', device, a.bytes.length, made);
        return core.view.getBigUint64(made, true);
      });
      keep('hg_backend_free_buffer', device, handle);
      before.push({ kind: IN, buffer: { handle }, length: a.bytes.length, host: memory(a.bytes) });
      after.push({ a, kind: OUT, buffer: { handle }, length: a.bytes.length, host: memory(a.bytes) });
      core.try('hg_params_set_buffer', params, a.name, handle);
    }
    const binding = core.scope((scope) => {
      for (const s of c.scalars) if (names.includes(s.name)) core.try('hg_params_set_scalar', params, s.name, s.type, scope.bytes(s.bits));
      const launch = scope.structure('hg_launch', { grid: c.grid, block: c.block, lanes: c.lanes, shared_memory: c.shared, max_steps: c.maxSteps });
      const executable = keep('hg_executable_destroy', core.made('hg_executable_create_for', device, program.address, launch, params));
      return keep('hg_binding_destroy', core.made('hg_binding_create', executable, launch, params));
    });
    let error = null;
    try {
      await queue.over(queue.submit([...before, { kind: LAUNCH, binding }, ...after.map(({ a, ...command }) => command)]));
    } catch (caught) {
      error = caught;
    }
    const found = c.arrays.map((a) => {
      const one = after.find((entry) => entry.a === a);
      return one && !error ? core.bytes.slice(one.host, one.host + one.length) : a.bytes;
    });
    return { after: found, error };
  } finally {
    queue.release();
    for (const [free, ...args] of held) {
      if (typeof free === 'string') core.call(free, ...args);
      else free();
    }
  }
}

/** What is wrong with a case, or null. */
function judge(c, { after, error }, count) {
  if (c.kind === 2) {
    const got = error ? `${error.code} at instruction ${error.instruction}, lane ${error.lane}` : 'success';
    const same = error && error.code === c.code && BigInt(error.instruction ?? -1) === c.instruction &&
      (c.lane === NONE || BigInt(error.lane ?? -1) === c.lane);
    return same ? null : `expected ${c.code} at instruction ${c.instruction}, lane ${c.lane}; got ${got} (${error?.message})`;
  }
  if (error) return error.message;
  for (const [i, { bytes, ulps, stride, fields }] of c.expected.entries()) {
    const { type, name } = c.arrays[i];
    const step = stride || count.size(type);
    for (let start = 0, element = 0; start < bytes.length; start += step, element++) {
      for (const one of stride ? fields : [{ offset: 0, type }]) {
        const size = count.size(one.type);
        const at = start + one.offset;
        if (at + size > bytes.length) continue;
        if (ulps[element] !== UNCHECKED) count.values++;
        const [expected, got] = [bytes.subarray(at, at + size), after[i].subarray(at, at + size)];
        if (agrees(one.type, ulps[element] ?? 0, expected, got)) continue;
        const text = (data) => number(data).toString(16).padStart(2 * size, '0');
        return `${name}, element ${element}${stride && `, byte ${one.offset}`}: expected ${text(expected)}, got ${text(got)}`;
      }
    }
  }
  return null;
}

/** { passed, failed, values, native, messages } of every so many of the cases of a file. pretend: '' or 'poor'. On webgpu those without pools.
 *  compiled: by native code, as far as kernels have some; `native` counts them. */
export async function replay(hg, bytes, { pretend = '', name = 'wasm', every = 1, compiled = false } = {}) {
  const r = new Reader(bytes);
  if (r.text(8) !== 'HGCASES1') throw new Error('not a file of cases');
  const backend = await hg.open(name, { pretend, timeout_ms: 60000, ...(name === 'wasm' ? { jit: compiled ? 'on' : 'off' } : {}) });
  const count = { passed: 0, failed: 0, values: 0, native: 0, messages: [], size: (type) => Number(hg.call('hg_type_size_bytes', type)) };
  let index = 0;
  while (r.at < bytes.length) {
    const c = readCase(r);
    if (index++ % every || (!backend.waits && c.arrays.some((a) => a.pool))) continue;
    let wrong = null;
    let program = null;
    try {
      program = hg.assemble(c.text);
      program.verify();
      if (compiled) { // the first launch makes the kernels, and runs by the interpreter
        const before = hg.native.arrived;
        runCase(hg, backend, program, c);
        await hg.native.settled();
        count.native += hg.native.arrived - before;
      }
      wrong = judge(c, await (backend.waits ? runCase : runQueued)(hg, backend, program, c), count);
    } catch (error) {
      wrong = error.message;
    }
    program?.dispose();
    if (!backend.waits && /this device's compiler takes|buffers, the device binds at most/.test(wrong)) continue; // it says so itself
    if (wrong) count.failed++;
    else count.passed++;
    if (wrong && count.failed <= MOST_FAILURES) count.messages.push(`${c.name}${pretend && ` --pretend ${pretend}`}${compiled ? ', compiled' : ''}: ${wrong}`);
  }
  backend.dispose();
  return count;
}
