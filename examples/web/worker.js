// The library in a worker: what a page asks for by engine.js. Must not know: what the page shows.
import { load } from './package/index.js';

const KEPT = 24; // programs
const programs = new Map(); // text → Program, the youngest last
let hg;

function programOf(text) {
  const found = programs.get(text) ?? (/^\s*[{[]/.test(text) ? hg.jsonKernel(text) : hg.assemble(text));
  programs.delete(text);
  programs.set(text, found);
  if (programs.size > KEPT) {
    const [oldest, program] = programs.entries().next().value;
    programs.delete(oldest);
    program.dispose();
  }
  return found;
}

/** The extents of an array of so many elements, as numbers: names are scalars of the launch, one more follows from the length. */
function shapeOf(dims, numbers, length) {
  const known = (dims ?? []).map((dim) => (/^\d+$/.test(dim) ? Number(dim) : numbers.get(dim)));
  const product = known.reduce((all, one) => all * (one ?? 1), 1);
  const open = known.filter((one) => one === undefined).length;
  if (!known.length || open > 1 || (open ? length % product : product !== length)) return [length];
  return known.map((one) => one ?? length / product);
}

const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The bytes of elements, little-endian, as the command writes them; integers above 64 bits come as BigInt. */
function bytesOf(type, data) {
  if (ArrayBuffer.isView(data)) return data;
  const size = Number(type.slice(1)) / 8;
  const bytes = new Uint8Array(size * data.length);
  data.forEach((value, i) => {
    let rest = BigInt.asUintN(size * 8, value);
    for (let k = 0; k < size; k++, rest >>= 8n) bytes[i * size + k] = Number(rest & 255n);
  });
  return bytes;
}

const calls = {
  /** Loads the library; module: that of another worker, which saves the compiler. */
  async start(module) {
    hg ??= await load(module ? { module } : {});
    return { module: hg.module, version: hg.version };
  },

  /** Whether WebGPU computes here; reason: why not. */
  async webgpu() {
    try {
      await hg.opened('webgpu');
      return { available: true };
    } catch (error) {
      const reason = hg.devices().find((one) => one.backend === 'webgpu')?.reason || error.message;
      return { available: false, reason };
    }
  },

  /** What a program wants; throws with diagnostics where it is wrong. */
  check(text) {
    const program = programOf(text);
    const { lanes, grid } = program.describe();
    return { params: program.params, lanes: lanes.length + grid.length > 0 };
  },

  emit: (text, target) => programOf(text).emit(target),

  /** Runs it: { arrays: [{ name, type, shape, data }], ms }. */
  async run(text, values, backend, lanes) {
    const program = programOf(text);
    const start = performance.now();
    const found = await program.run(values, { backend, lanes });
    const ms = performance.now() - start;
    const scalars = program.params.filter((p) => p.kind === 'scalar');
    const numbers = new Map(scalars.flatMap((p) => {
      const value = values[p.name] ?? p.default;
      return value === null || Number.isNaN(Number(value)) ? [] : [[p.name, Number(value)]];
    }));
    const arrays = program.params.flatMap(({ name, type, dims }) => {
      if (!(name in found)) return [];
      const elements = found[name];
      const data = type === 'f16' || type === 'bf16' ? Float32Array.from(hg.toNumbers(type, elements)) : elements;
      return [{ name, type, shape: shapeOf(dims, numbers, elements.length), data }];
    });
    return { arrays, ms };
  },

  /** Has it compiled for a backend, by a run of one lane whose results nobody wants: a run that follows begins at once. */
  async prepare(text, values, backend) {
    const program = programOf(text);
    const sizes = new Set(program.params.flatMap(({ dims }) => dims ?? []));
    const small = ({ name }) => [name, sizes.has(name) ? 1 : ArrayBuffer.isView(values[name]) ? values[name].slice(0, 1) : values[name]];
    const one = program.params.filter(({ name }) => name in values || sizes.has(name)).map(small);
    await program.run(Object.fromEntries(one), { backend, ...(calls.check(text).lanes ? {} : { lanes: 1 }) });
  },

  /** Runs programs one after another: { text, values, takes }, takes: its arrays by names, which the one before wrote. What each wrote. */
  async chain(steps, backend) {
    const written = [];
    for (const { text, values, takes = {} } of steps) {
      const taken = Object.entries(takes).map(([name, from]) => [name, written.at(-1)[from]]);
      written.push(await programOf(text).run({ ...values, ...Object.fromEntries(taken) }, { backend }));
    }
    return written;
  },

  /** SHA-256 of what it writes. */
  async digest(text, backend) {
    const { arrays, ms } = await calls.run(text, {}, backend);
    const parts = arrays.map(({ type, data }) => bytesOf(type, data));
    return { digest: hex(await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer())), ms };
  },
};

addEventListener('message', async ({ data: { id, call, args } }) => {
  try {
    const value = await calls[call](...args);
    const moved = (value?.arrays ?? []).flatMap(({ data }) => (ArrayBuffer.isView(data) ? [data.buffer] : []));
    postMessage({ id, value }, moved);
  } catch (error) {
    const { message, status, diagnostics, line, column } = error;
    postMessage({ id, failed: { message, status, diagnostics, line, column } });
  }
});
