// Native code of kernels: modules of WebAssembly that the library writes, over its own memory, stack and table of functions. The host compiles
// them behind the page's back; a kernel is interpreted until its code arrives. Must not know: programs, devices.

export const STACK_BYTES = 65536; // a kernel takes at most 16384 of it, and what it calls in its own module a few hundred
// The import of memory, env.memory, in a module's bytes, up to its flags: 1, it has a maximum, and 2, it is shared.
export const IMPORT = [3, ...new TextEncoder().encode('env'), 6, ...new TextEncoder().encode('memory'), 2];
const NEEDS = 1; // of the section dylink.0: memory that a module takes

/** Bytes of data that a module has: the first number of its needs. */
function dataBytes(module) {
  const [section] = WebAssembly.Module.customSections(module, 'dylink.0');
  const bytes = new Uint8Array(section);
  let value = 0;
  if (bytes[0] !== NEEDS) return 0;
  for (let i = 2, shift = 0; i < bytes.length; i++, shift += 7) {
    value |= (bytes[i] & 127) << shift;
    if (bytes[i] < 128) break;
  }
  return value;
}

/** The module over shared memory: its import of memory has a maximum then, and says so. */
function overShared(bytes) {
  const IMPORTS = 2;
  for (let at = 8; at < bytes.length;) {
    let size = 0;
    let from = at + 1;
    for (let shift = 0, more = true; more; shift += 7) {
      size |= (bytes[from] & 127) << shift;
      more = bytes[from++] > 127;
    }
    const content = Array.from(bytes.subarray(from, from + size));
    const flags = content.findIndex((_, i) => IMPORT.every((byte, k) => content[i + k] === byte)) + IMPORT.length;
    if (bytes[at] === IMPORTS) {
      content.splice(flags, 2, 3, 0, 0x80, 0x80, 4); // 3: shared, with a maximum, of 65536 pages
      const length = [];
      for (let left = content.length; left || !length.length; left >>= 7) length.push((left & 127) | (left > 127 ? 128 : 0));
      return Uint8Array.from([...bytes.subarray(0, at + 1), ...length, ...content, ...bytes.subarray(from + size)]);
    }
    at = from + size;
  }
  return bytes;
}

/**
 * Of code that came at run time workers have instances of their own. Where they find it: records of four words in shared memory, by the place
 * in the table, of those behind the library's own functions: the module's number, its bytes, how many, its data. In front of them, how many
 * instances workers have made.
 */
export const CODE_RECORDS = 4096;
export const CODE_BYTES = 16;
const WORDS = CODE_BYTES / 4;

/** code_here(place) of a worker: whether its table has the code of that place, which it makes if need be. A worker may compile at once. */
export function codeOfWorker(memory, { __indirect_function_table: table }, codes, stack) {
  const records = new Uint32Array(memory.buffer, codes, CODE_RECORDS * WORDS);
  const own = table.length - 1;
  const made = []; // numbers, by place
  const pointer = new WebAssembly.Global({ value: 'i32', mutable: true }, stack);
  return (place) => {
    const [number, at, size, data] = records.subarray(WORDS * (place - own), WORDS * (place - own + 1));
    if (made[place] === number) return 1;
    try {
      const module = new WebAssembly.Module(new Uint8Array(memory.buffer, at, size).slice());
      const env = { memory, __indirect_function_table: table, __stack_pointer: pointer, __memory_base: data };
      const { exports } = new WebAssembly.Instance(module, { env });
      if (table.length <= place) table.grow(place + 1 - table.length);
      table.set(place, exports.hologram_kernel);
      made[place] = number;
      Atomics.add(records, 0, 1);
      return 1;
    } catch {
      return 0; // this worker interprets the kernel
    }
  };
}

export class NativeCode {
  #shared = false;
  #codes = 0; // records for workers; 0: there are none
  #own = 0; // the last place of the library's own functions
  #library; // exports of hologram.wasm
  #stack; // of modules alone: its pointer, a global
  #modules = new Map(); // number -> { kernel, data, index, starts }: starts, its data is being written
  #free = []; // places in the table
  #last = 0;
  /** Modules that kernels have got. */
  arrived = 0;
  /** Why the last one that failed did. */
  error = null;
  #waiting = new Set(); // promises of modules that are being compiled

  /** What the library imports. */
  get imports() {
    return {
      code_begins: (at, size, kernel) => this.#begin(new Uint8Array(this.#library.memory.buffer, at >>> 0, size).slice(), kernel),
      code_leaves: (number) => this.#leave(number),
      code_here: () => 1, // on this thread it always is
    };
  }

  /** codes: of startWorkers, 0 where there are no workers. */
  started(exports, shared, codes) {
    this.#library = exports;
    this.#shared = shared;
    this.#codes = codes;
    this.#own = exports.__indirect_function_table.length - 1;
  }

  /** Instances of modules that workers have made. */
  get inWorkers() {
    return this.#codes ? Atomics.load(new Uint32Array(this.#library.memory.buffer, this.#codes, 1), 0) : 0;
  }

  /** Resolves when all that was begun has arrived, or failed. */
  async settled() {
    while (this.#waiting.size) await Promise.all(this.#waiting);
  }

  #begin(bytes, kernel) {
    const number = ++this.#last;
    this.#modules.set(number, { kernel, data: 0, bytes: 0, index: -1, starts: false });
    const made = this.#make(bytes, number).catch((error) => { this.error = error; }); // the kernel stays interpreted
    this.#waiting.add(made);
    made.finally(() => this.#waiting.delete(made));
    return number;
  }

  async #make(given, number) {
    const bytes = this.#shared ? overShared(given) : given;
    const { memory, __indirect_function_table: table, hologram_code_arrives } = this.#library;
    const module = await WebAssembly.compile(bytes);
    const record = this.#modules.get(number);
    if (!record) return; // its kernel has gone
    this.#stack ??= new WebAssembly.Global({ value: 'i32', mutable: true }, (this.#allocate(STACK_BYTES) + STACK_BYTES) & ~15);
    const size = dataBytes(module);
    if (size) record.data = this.#allocate(size);
    const env = { memory, __indirect_function_table: table, __stack_pointer: this.#stack, __memory_base: record.data };
    record.starts = true;
    const instance = await WebAssembly.instantiate(module, { env }).finally(() => {
      record.starts = false;
      if (!this.#modules.has(number)) this.#forget(record);
    });
    if (!this.#modules.has(number)) return;
    const index = this.#free.length ? this.#free.pop() : table.grow(1);
    table.set(index, instance.exports.hologram_kernel);
    record.index = index;
    if (this.#codes) this.#tellWorkers(record, number, bytes);
    hologram_code_arrives(record.kernel, index);
    this.arrived++;
  }

  #tellWorkers(record, number, bytes) {
    const { memory } = this.#library;
    const at = record.index - this.#own;
    if (at >= CODE_RECORDS) throw new Error(`more than ${CODE_RECORDS - 1} kernels at once have native code`);
    record.bytes = this.#allocate(bytes.length) >>> 0;
    new Uint8Array(memory.buffer, record.bytes, bytes.length).set(bytes);
    new Uint32Array(memory.buffer, this.#codes + CODE_BYTES * at, WORDS).set([number, record.bytes, bytes.length, record.data]);
  }

  #allocate(size) {
    const at = this.#library.hologram_allocate(size);
    if (!at) throw new Error(`out of memory: ${size} bytes for native code`);
    return at;
  }

  #leave(number) {
    const record = this.#modules.get(number);
    this.#modules.delete(number);
    if (!record.starts) this.#forget(record); // else when that is over
  }

  #forget({ data, bytes, index }) {
    if (data) this.#library.hologram_free(data);
    if (bytes) this.#library.hologram_free(bytes);
    if (index < 0) return;
    this.#library.__indirect_function_table.set(index, null);
    this.#free.push(index);
  }
}
