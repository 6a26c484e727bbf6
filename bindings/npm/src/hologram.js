// The library as JavaScript has it: what load() gives.
import { Backend } from './backend.js';
import { Circuit } from './circuit.js';
import { HologramError, expectText, plain, values } from './core.js';
import { Graph } from './graph.js';
import { DISPOSE, inspected, rootToken } from './handles.js';
import { backendName, isDevice, nativeName } from './names.js';
import { Program } from './program.js';
import { Tensor, makeOperations } from './tensor.js';
import { TYPES, toNumbers, typeOf } from './types.js';

const KEPT = 32; // sources that run() remembers

export class Hologram {
  #root;
  #backends = new Map();
  #opening = new Map(); // names of backends that open → their promises
  #sources = new Map();
  #gpu = null; // hasDevice(), once it was asked
  #closed;

  /** Made by load(). */
  constructor(core, module, callbacks, webgpu, native, threads, closed) {
    this.core = core;
    this.webgpu = webgpu;
    this.module = module;
    this.callbacks = callbacks;
    this.native = native;
    /** { count, reason }: threads that launches use, and why they are not as many as load({ threads }) was asked for, or ''. */
    this.threads = Object.freeze(threads);
    this.#root = rootToken(core);
    this.#closed = closed;
    this.#answerCalls();
    this.ops = makeOperations(this);
  }

  get token() {
    if (!this.#root.address) throw new HologramError('the library was closed: load() begins anew');
    return this.#root;
  }

  get disposed() {
    return !this.#root.address;
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

  /** All backends of this build with their devices, or the reason why there is none; of wasm why there is but one thread. */
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
        const info = plain(core.read('hg_device_info', list + i * size));
        const name = backendName(info.backend);
        const { exact, capabilities } = this.#kept(name)?.describe() ?? info; // as its numbers were found when it was opened
        const reason = name === 'wasm' && info.available ? this.threads.reason : info.reason; // why there is but one thread
        return { ...info, exact, capabilities, reason, backend: name };
      });
    });
  }

  /** Names of backends that can be opened here, the best first. */
  backends() {
    const found = this.devices().filter((one) => one.available && one.backend !== 'null').map((one) => one.backend);
    return [...new Set(this.#hasDevice() ? ['webgpu', ...found] : found)];
  }

  /** A device that is no software: quicker than WebAssembly, where work is large. Its adapter stays the one that load() found. */
  #hasDevice() {
    return (this.#gpu ??= this.devices().some((one) => one.backend === 'webgpu' && one.available && !one.software));
  }

  /**
   * Opens a backend of its own: "wasm", "webgpu", "auto". settings: fields of hg_config, { timeout_ms: 5000, deterministic: true }, and
   * for webgpu device: a GPUDevice of the page, which stays open.
   */
  async open(name = 'auto', settings = {}) {
    const { device = null, ...config } = settings;
    expectText(name, 'backend');
    if (name === 'auto') return this.#openAuto((native) => Backend.open(this, native, config, device), settings);
    if (device && !isDevice(nativeName(name))) throw new HologramError(`open: device is for webgpu, not for ${name}`);
    return Backend.open(this, nativeName(name), config, device);
  }

  /** WebGPU where it has a device whose numbers are right, else WebAssembly: from then on, unless settings may be the reason. */
  async #openAuto(open, settings = null) {
    if (!this.#hasDevice()) return open('cpu');
    try {
      const found = await open('webgpu');
      if (found.describe().exact) return found;
      if (found !== this.#kept('webgpu')) found.dispose();
    } catch { /* what is wrong with the device open('webgpu') says, what is wrong with the settings the next line */ }
    if (!settings) this.#gpu = false;
    return open('cpu');
  }

  /** One that is open, of those that run() uses. */
  #kept(name) {
    const found = this.#backends.get(name);
    return found && !found.disposed && !found.stuck ? found : null;
  }

  /**
   * The one of that name that run() uses; a Backend is itself. This call cannot wait: webgpu is given once run() or opened() has opened
   * it, and auto is wasm.
   */
  backend(name = 'auto') {
    if (name instanceof Backend) return name.use();
    const known = backendName(nativeName(expectText(name, 'backend') === 'auto' ? 'wasm' : name));
    const found = this.#kept(known) ?? Backend.create(this, nativeName(known), {});
    this.#backends.set(known, found);
    return found;
  }

  /** A promise of the same: webgpu is opened, and auto is the best. */
  async opened(name = 'auto') {
    if (name instanceof Backend) return name.use();
    if (expectText(name, 'backend') === 'auto') return this.#openAuto((native) => this.opened(native));
    const native = nativeName(name);
    const known = backendName(native);
    if (!isDevice(native)) return this.backend(known);
    if (this.#kept(known)) return this.#kept(known);
    let opening = this.#opening.get(known);
    if (!opening) {
      opening = Backend.open(this, native, {}, null).finally(() => this.#opening.delete(known));
      this.#opening.set(known, opening);
    }
    const found = await opening;
    this.#backends.set(known, found);
    return found;
  }

  /** A run has failed: of a device that is gone, or is left alone with its work, the next one opens another. It goes when it is collected. */
  note(error, backend) {
    if (!backend.stuck && error.status !== 'HG_ERROR_BACKEND_UNAVAILABLE') return;
    for (const [name, found] of this.#backends) if (found === backend) this.#backends.delete(name);
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
    if (this.webgpu.busy) this.core.dead = 'the library was closed'; // what a device works on cannot be freed
    this.#root.release();
    this.webgpu.end();
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
inspected(Hologram, (hg) => `${hg.version} on ${hg.backends().join(', ')}`);
