// Native code of kernels with a library that is this file: memory that is not there, addresses beyond 2 GiB, a kernel that goes while its code is made.
import { pathToFileURL } from 'node:url';

const DATA = 32;
const text = (name) => [name.length, ...new TextEncoder().encode(name)];
const section = (id, ...content) => [id, content.length, ...content];
const MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0,
  ...section(0, ...text('dylink.0'), 1, 4, DATA, 4, 0, 0),
  ...section(1, 1, 0x60, 3, 0x7f, 0x7e, 0x7e, 0),
  ...section(2, 2, ...text('env'), ...text('memory'), 2, 0, 0, ...text('env'), ...text('__memory_base'), 3, 0x7f, 0),
  ...section(3, 1, 0),
  ...section(7, 1, ...text('hologram_kernel'), 0, 0),
  ...section(10, 1, 2, 0, 0x0b),
  ...section(11, 1, 0, 0x23, 0, 0x0b, DATA, ...new Array(DATA).fill(7))]);

/** The library: memory from `at` on, with a module in front of it. */
function library(at, pages) {
  const memory = new WebAssembly.Memory({ initial: pages });
  let next = at + 1024;
  const made = { free: [], arrived: [], none: false };
  new Uint8Array(memory.buffer).set(MODULE, at);
  made.exports = {
    memory,
    __indirect_function_table: new WebAssembly.Table({ element: 'anyfunc', initial: 1 }),
    hologram_allocate(size) {
      if (made.none) return 0;
      const place = next;
      next += size + 15 & -16;
      return place | 0;
    },
    hologram_free: (place) => made.free.push(place >>> 0),
    hologram_code_arrives: (kernel, index) => made.arrived.push([kernel, index]),
  };
  return made;
}

/** { passed, failed, messages } */
export async function nativeCode(NativeCode) {
  const found = { passed: 0, failed: 0, messages: [] };
  const check = async (name, at, pages, body) => {
    try {
      const lib = library(at, pages);
      const code = new NativeCode();
      code.started(lib.exports, false, 0);
      await body(lib, code, () => code.imports.code_begins(at | 0, MODULE.length, 77));
      found.passed++;
    } catch (error) {
      found.failed++;
      found.messages.push(`${name}: ${error.stack}`);
    }
  };
  const expect = (condition, what) => {
    if (!condition) throw new Error(what);
  };
  const high = 2 ** 31 + 4096;
  await check('memory beyond 2 GiB', high, 2 ** 15 + 4, async (lib, code, begin) => {
    const number = begin();
    await code.settled();
    expect(String(lib.arrived) === '77,1', `arrived: ${lib.arrived}, ${code.error}`);
    const [place] = lib.free.length ? [] : [new Uint8Array(lib.exports.memory.buffer).indexOf(7, high + 1024)];
    code.imports.code_leaves(number);
    expect(place > high && String(lib.free) === String(place), `data at ${place}, freed ${lib.free}`);
  });
  await check('no memory', 4096, 4, async (lib, code, begin) => {
    lib.none = true;
    begin();
    await code.settled();
    expect(!code.arrived && /out of memory/.test(code.error?.message), `${code.arrived} arrived, ${code.error}`);
    lib.none = false;
    begin();
    await code.settled();
    expect(code.arrived === 1, `${code.error}`);
  });
  await check('a kernel that goes while its module is made ready', 4096, 4, async (lib, code, begin) => {
    const { instantiate } = WebAssembly;
    let go, asked;
    const called = new Promise((resolve) => { asked = resolve; });
    WebAssembly.instantiate = async (...given) => {
      asked();
      await new Promise((resolve) => { go = resolve; });
      return instantiate.apply(WebAssembly, given);
    };
    try {
      const number = begin();
      await called;
      code.imports.code_leaves(number);
      expect(!lib.free.length, 'memory is freed that a module will be written to');
      go();
      await code.settled();
      expect(lib.free.length === 1 && !lib.arrived.length && !code.error, `freed ${lib.free}, arrived ${lib.arrived}, ${code.error}`);
    } finally {
      WebAssembly.instantiate = instantiate;
    }
  });
  return found;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) { // node native.mjs FILE: alone, of native.js at this place
  const { NativeCode } = await import(pathToFileURL(process.argv[2]));
  console.log(await nativeCode(NativeCode));
}
