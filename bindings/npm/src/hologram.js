// The library as JavaScript has it: what load() gives.
import { Backend } from './backend.js';
import { Circuit } from './circuit.js';
import { HologramError, expectText, values } from './core.js';
import { Graph } from './graph.js';
import { DISPOSE, rootToken } from './handles.js';
import { backendName, nativeName } from './names.js';
import { Program } from './program.js';
import { Tensor, makeOperations } from './tensor.js';
import { TYPES, toNumbers, typeOf } from './types.js';

const KEPT = 32; // sources that run() remembers

export class Hologram {
  #root;
  #backends = new Map();
  #sources = new Map();
  #closed;

  /** Made by load(). */
  constructor(core, module, callbacks, closed) {
    this.core = core;
    this.module = module;
    this.callbacks = callbacks;
    this.#root = rootToken(core);
    this.#closed = closed;
    this.#answerCalls();
    this.ops = makeOperations(this);
  }

  get token() {
    if (!this.#root.address) throw new HologramError('the library was closed: load() begins anew');
    return this.#root;
  }

  /** "0.1.0". */
  get version() {
    return this.core.call('hg_version_text');
  }

  /** Every function of the C interface by its name; docs/guide/web.md says how. */
  call(name, ...args) {
    return this.core.call(name, ...args);
  }

  /** The values of all enums of the C interface. */
  get values() {
    return values;
  }

  /** Names of the 24 types of elements. */
  get types() {
    return [...TYPES.keys()];
  }

  /** Elements as numbers: the bits of halves become what they stand for. */
  toNumbers(type, elements) {
    return toNumbers(typeOf(type), elements);
  }

  // ---- devices ----

  /** All backends of this build with their devices, or the reason why there is none. */
  devices() {
    const { core } = this;
    return core.scope((scope) => {
      const count = scope.zeros(4);
      const size = core.view.getUint32(scope.structure('hg_device_info'), true);
      core.try('hg_devices_list', 0, size, 0, count);
      const most = core.view.getUint32(count, true);
      const list = scope.zeros(size * most);
      core.try('hg_devices_list', list, size, most, count);
      return Array.from({ length: Math.min(most, core.view.getUint32(count, true)) }, (_, i) => {
        const info = core.read('hg_device_info', list + i * size);
        return { ...info, backend: backendName(info.backend) };
      });
    });
  }

  /** Names of backends that can be opened here, the best first. */
  backends() {
    return [...new Set(this.devices().filter((one) => one.available && one.backend !== 'null').map((one) => one.backend))];
  }

  /** Opens a backend of its own: "wasm", "auto". settings: fields of hg_config, { timeout_ms: 5000, deterministic: true }. */
  async open(name = 'auto', settings = {}) {
    return new Backend(this, nativeName(expectText(name, 'backend')), settings);
  }

  /** The one of that name that run() uses; a Backend is itself. */
  backend(name = 'auto') {
    if (name instanceof Backend) return name;
    expectText(name, 'backend');
    let found = this.#backends.get(name);
    if (!found || found.disposed) {
      found = name === 'auto' ? this.backend(this.backends()[0] ?? 'wasm') : new Backend(this, nativeName(name), {});
      this.#backends.set(name, found);
    }
    return found;
  }

  // ---- front ends ----

  /** A program of its text. { defines: { NAME: value }, program: 'name', name: 'file.atlas', resolve: (name) => text or bytes } */
  assemble(text, options = {}) {
    return Program.assemble(this, text, options);
  }

  /** A program of the bytes of an .atlasb file. */
  decode(bytes) {
    return Program.decode(this, bytes);
  }

  /** A program of a JSON kernel, its text or the object. */
  jsonKernel(kernel, name = null) {
    return Program.jsonKernel(this, kernel, name);
  }

  /** A named kernel of the library: "atlas_add_f32"; kernels() lists them. */
  kernel(name) {
    return Program.named(this, name);
  }

  /** [{ name, about }] */
  kernels() {
    const found = [];
    for (let i = 0, name; (name = this.core.call('hg_kernel_name', i)); i++) found.push({ name, about: this.core.call('hg_kernel_about', i) });
    return found;
  }

  /** A circuit of its text. */
  circuit(text, options = {}) {
    return new Circuit(this, text, options);
  }

  /** An array graph of its text. { programs: (file) => Program } */
  graph(text, options = {}) {
    return new Graph(this, text, options);
  }

  /** A tensor of elements. { type: 'f32', shape: [2, 3], backend: 'wasm' } */
  tensor(data, options = {}) {
    return Tensor.of(this, data, options);
  }

  /**
   * Runs a program (its text, a JSON kernel, an array graph, or the object) with arrays and numbers by the names of its parameters.
   * Gives what it wrote: { y: Float32Array }. What was given is not changed.
   */
  async run(source, given = {}, options = {}) {
    return this.#program(source).run(given, options);
  }

  #program(source) {
    if (source instanceof Program || source instanceof Graph) return source;
    const text = typeof source === 'string' ? source : JSON.stringify(source);
    let found = this.#sources.get(text);
    this.#sources.delete(text);
    if (!found || found.disposed) {
      const first = /^(?:\s|;.*)*(\S)(\S*)/.exec(text) ?? [];
      found = first[1] === '{' || first[1] === '[' ? this.jsonKernel(text) : first[1] + first[2] === '.graph' ? this.graph(text) : this.assemble(text);
    }
    this.#sources.set(text, found); // the youngest is the last
    if (this.#sources.size > KEPT) {
      const [oldest, program] = this.#sources.entries().next().value;
      this.#sources.delete(oldest);
      if (!program.busy) program.dispose();
    }
    return found;
  }

  /** Frees everything: programs, backends, buffers. The next load() begins anew. */
  close() {
    this.#root.release();
    this.#backends.clear();
    this.#sources.clear();
    this.#closed();
    this.#closed = () => {};
  }

  // What the library calls back for, by the number that it was given (entry.c).
  #answerCalls() {
    const waiting = new Map();
    let last = 0;
    this.answer = (call) => {
      waiting.set(++last, call);
      return last;
    };
    this.answered = (number) => waiting.delete(number);
    for (const name of ['event_done', 'resolve', 'graph_program'])
      this.callbacks[name] = (number, ...args) => waiting.get(number)?.(...args.map((at) => at >>> 0)) ?? values.HG_ERROR_IO;
  }
}
Hologram.prototype[DISPOSE] = Hologram.prototype.close;
