// What programs and graphs share: they are compiled for a backend, bound to arrays, and run. Must not know: what their parameters are.
import { Buffer, finish, mayBegin, unlessAborted } from './backend.js';
import { HologramError, expectOptions, expectSignal, kindOf } from './core.js';
import { Handle, inspected, makeToken, watch } from './handles.js';
import { Queue } from './queue.js';
import { Tensor } from './tensor.js';
import { storeElement, toBytes } from './types.js';

/** Values of parameters: hg_params, and the buffers that were made for them. */
class Values {
  constructor(backend) {
    this.backend = backend;
    this.core = backend.core;
    this.address = this.core.call('hg_params_create');
    if (!this.address) throw new HologramError('out of memory', { status: 'HG_ERROR_OUT_OF_MEMORY' });
    this.buffers = new Map(); // name → Buffer or Tensor: alive as long as they are bound
    this.own = [];
    this.queue = backend.waits ? null : new Queue(backend); // of the copies and launches of a device
  }

  scalar(name, type, value) {
    if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean')
      throw new HologramError(`${name}: a number of ${type.name} is expected, not ${value === null ? 'null' : typeof value}`);
    const bytes = new Uint8Array(type.bytes);
    try {
      storeElement(type, typeof value === 'boolean' ? Number(value) : value, bytes, 0);
    } catch (error) {
      throw new HologramError(`${name}: ${error.message}`);
    }
    this.core.scope((scope) => this.core.try('hg_params_set_scalar', this.address, name, type.code, scope.bytes(bytes)));
  }

  /** A Buffer or Tensor as it is; of elements a Buffer of the values' own. Gives the number of elements. */
  array(name, type, data) {
    let buffer = data;
    if (!(data instanceof Buffer) && !(data instanceof Tensor)) {
      const bytes = this.core.stable(toBytes(type, data, name));
      buffer = this.zeros(type, bytes.length / type.bytes);
      if (this.queue) buffer.follow(this.queue.write(buffer, bytes));
      else buffer.writeBytes(bytes);
    } else if (buffer.type !== type.name) {
      throw new HologramError(`${name}: a ${kindOf(buffer)} of ${type.name} is expected, not of ${buffer.type}`);
    } else if (buffer.backend !== this.backend) {
      throw new HologramError(`${name}: the ${kindOf(buffer)} lies on another backend than the program runs on`);
    }
    this.buffers.set(name, buffer);
    this.#set(name, data instanceof Tensor ? data.bufferHandle() : buffer.handle);
    return buffer.length;
  }

  zeros(type, length) {
    const buffer = new Buffer(this.backend, type, length);
    this.own.push(buffer);
    return buffer;
  }

  #set(name, handle) {
    this.core.try('hg_params_set_buffer', this.address, name, handle);
  }

  freeParams() {
    if (this.address) this.core.call('hg_params_destroy', this.address);
    this.address = 0;
  }

  dispose() {
    if (!this.core.dead) this.freeParams();
    this.queue?.release();
    for (const buffer of this.own) buffer.dispose();
  }
}

/** Numbers and arrays that were given for parameters, in one form: { data, shape } of an array. */
export function arrayOf(value) {
  const shaped = value && typeof value === 'object' && 'data' in value && !(value instanceof Buffer) && !(value instanceof Tensor);
  const data = shaped ? value.data : value;
  const shape = shaped ? value.shape : value instanceof Tensor ? value.shape : undefined;
  return { data, shape };
}

/**
 * A program or a graph. Its own are compile(backend), which gives an address and the name of what frees it, setValues(held, given), which
 * sets all values that a launch needs, and bound(executable, held, options), which makes a Bound of them.
 */
export class Runnable extends Handle {
  #options;
  #executables = new WeakMap(); // token of a backend → token
  busy = 0; // runs that are under way

  constructor(hg, address, free, options) {
    super(hg.core, address, free, [hg.token]);
    this.hg = hg;
    this.#options = options;
  }

  /** The text that a function prints of it. */
  printed(name) {
    const { core } = this;
    return core.scope((scope) => {
      const out = scope.zeros(4);
      core.try(name, this.address, out, 0);
      return core.takeText(core.view.getUint32(out, true));
    });
  }

  /** What it is compiled to for a backend, made once. */
  executable(backend) {
    let found = this.#executables.get(backend.token);
    if (!found?.address) {
      found = makeToken(this.core, ...this.compile(backend), [this.token, backend.token]);
      this.#executables.set(backend.token, found);
    }
    return found;
  }

  /** A launch with these arrays and numbers, checked once. Arrays are copied to buffers of the binding; a Buffer or Tensor is used itself. */
  bind(given = {}, options = {}) {
    expectOptions(options, this.#options, 'bind');
    const backend = this.hg.backend(options.backend);
    const held = new Values(backend);
    try {
      this.setValues(held, given);
      const made = this.bound(this.executable(backend), held, options);
      held.freeParams();
      return made;
    } catch (error) {
      held.dispose();
      throw error;
    }
  }

  /** Runs it once. Gives what it wrote: { y: Float32Array }. The options of bind, and signal: an AbortSignal. */
  async run(given = {}, options = {}) {
    expectOptions(options, this.#options, 'run');
    expectSignal(options.signal, 'run');
    this.busy++;
    let binding = null;
    let backend = null;
    try {
      backend = await unlessAborted(this.hg.opened(options.backend), options.signal);
      binding = this.bind(given, { ...options, backend });
      return await binding.runForResults(options);
    } catch (error) {
      if (backend) this.hg.note(error, backend);
      throw error;
    } finally {
      this.busy--;
      binding?.dispose();
    }
  }
}

/**
 * A program or a graph with its arrays. Its own are launch(), which runs it and waits, for workers and Node, and start(), which gives the
 * event of a launch.
 */
export class Bound extends Handle {
  /** source: the program or graph, which lives as long: with it go its executables. written: names of the arrays that it writes. */
  constructor(source, held, address, free, executable, written) {
    super(held.core, address, free, [executable]);
    if (held.queue) watch(this, held.queue); // it stays as long as its work goes on
    Object.assign(this, { source, backend: held.backend, queue: held.queue, buffers: held.buffers, own: held.own, written });
  }

  /** Runs it. The promise is fulfilled when it is over; the signal ends it where the device can. */
  async run({ signal } = {}) {
    expectSignal(signal, 'run');
    await mayBegin(signal);
    if (!this.backend.waits) await this.#settled();
    const event = this.start();
    await (this.queue ? this.queue.over(event, signal) : finish(this.backend, event, signal));
  }

  /** Runs it, and gives what it wrote. */
  async runForResults(options) {
    if (this.backend.waits) {
      await this.run(options);
      return this.results();
    }
    await mayBegin(options.signal);
    await this.#settled();
    const event = this.start();
    const results = this.#read([event]); // asked for at once: one way to the device less
    results.catch(() => {});
    await this.queue.over(event, options.signal);
    return results;
  }

  async #settled() {
    for (const buffer of this.buffers.values()) await buffer.settled();
  }

  async #read(waits) {
    const found = this.#results();
    const elements = await this.queue.read(found.map(([, buffer]) => buffer), waits);
    return Object.fromEntries(found.map(([name], i) => [name, elements[i]]));
  }

  #results() {
    return this.written.map((name) => [name, this.buffers.get(name)]).filter(([, buffer]) => buffer instanceof Buffer);
  }

  /** A promise of the results, on every backend. */
  async resultsAsync() {
    return this.backend.waits ? this.results() : this.#read([]);
  }

  /** Copies of the arrays that it writes, but not of Tensors. */
  results() {
    return Object.fromEntries(this.#results().map(([name, buffer]) => [name, buffer.read()]));
  }

  dispose() {
    super.dispose();
    this.queue?.release();
    for (const buffer of this.own) buffer.dispose();
  }
}
inspected(Bound, ({ source, buffers }) => `of ${source.disposed ? 'what was disposed' : source.name ?? 'a graph'}: ${[...buffers.keys()].join(', ')}`);
