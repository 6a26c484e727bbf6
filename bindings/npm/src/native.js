// Native code of kernels: modules of WebAssembly that the library writes, over its own memory, stack and table of functions. The host compiles
// them behind the page's back; a kernel is interpreted until its code arrives. Must not know: programs, devices.

const STACK_BYTES = 65536; // a kernel takes at most 16384 of it, and what it calls in its own module a few hundred
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

export class NativeCode {
  #alone = true;
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
    };
  }

  /** alone: its memory is not shared. Workers have tables of their own, which code would have to come to: with them kernels are interpreted. */
  started(exports, alone) {
    this.#library = exports;
    this.#alone = alone;
  }

  /** Resolves when all that was begun has arrived, or failed. */
  async settled() {
    while (this.#waiting.size) await Promise.all(this.#waiting);
  }

  #begin(bytes, kernel) {
    if (!this.#alone) return 0;
    const number = ++this.#last;
    this.#modules.set(number, { kernel, data: 0, index: -1, starts: false });
    const made = this.#make(bytes, number).catch((error) => { this.error = error; }); // the kernel stays interpreted
    this.#waiting.add(made);
    made.finally(() => this.#waiting.delete(made));
    return number;
  }

  async #make(bytes, number) {
    const { memory, __indirect_function_table: table, fma, hologram_code_arrives } = this.#library;
    const module = await WebAssembly.compile(bytes);
    const record = this.#modules.get(number);
    if (!record) return; // its kernel has gone
    this.#stack ??= new WebAssembly.Global({ value: 'i32', mutable: true }, (this.#allocate(STACK_BYTES) + STACK_BYTES) & ~15);
    const size = dataBytes(module);
    if (size) record.data = this.#allocate(size);
    const env = { memory, __indirect_function_table: table, __stack_pointer: this.#stack, __memory_base: record.data, fma };
    record.starts = true;
    const instance = await WebAssembly.instantiate(module, { env }).finally(() => {
      record.starts = false;
      if (!this.#modules.has(number)) this.#forget(record);
    });
    if (!this.#modules.has(number)) return;
    const index = this.#free.length ? this.#free.pop() : table.grow(1);
    table.set(index, instance.exports.hologram_kernel);
    record.index = index;
    hologram_code_arrives(record.kernel, index);
    this.arrived++;
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

  #forget({ data, index }) {
    if (data) this.#library.hologram_free(data);
    if (index < 0) return;
    this.#library.__indirect_function_table.set(index, null);
    this.#free.push(index);
  }
}
