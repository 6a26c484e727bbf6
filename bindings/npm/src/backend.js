// Backends and their buffers. Must not know: programs.
import { HologramError, expectText, layout, plain, values } from './core.js';
import { Handle, inspected, makeToken, watch } from './handles.js';
import { backendName, isDevice } from './names.js';
import { Queue } from './queue.js';
import { fromBytes, toBytes, typeOf, typeOfArray } from './types.js';

/** Calls body with a hg_config. */
function configured(core, native, settings, body) {
  expectText(native, 'backend');
  return core.scope((scope) => {
    const config = scope.zeros(layout('hg_config').size);
    core.try('hg_config_init', config, layout('hg_config').size);
    for (const [field, value] of Object.entries({ ...settings, backend: native }))
      scope.set('hg_config', config, field, value);
    return body(config, scope);
  });
}

/** A device with its memory. */
export class Backend extends Handle {
  #queue = null;
  #executor = null; // token of the one over the queue
  #work = 0;
  #closing = false;

  /** address: of a hg_executor, or of a hg_backend where nothing can be waited for. */
  constructor(hg, address, free, waits) {
    super(hg.core, address, free, [hg.token]);
    this.hg = hg;
    this.waits = waits;
    this.stuck = false; // with work that nobody wants any more
  }

  /** Work begins that cannot be waited for: until left() nothing that it uses may be destroyed. */
  enter() {
    this.#work++;
  }

  left() {
    if (--this.#work === 0 && this.#closing) super.dispose();
  }

  /** Itself, unless it was disposed. */
  use() {
    if (this.disposed) throw new HologramError('this Backend was disposed');
    return this;
  }

  get disposed() {
    return this.#closing || super.disposed;
  }

  dispose() {
    if (this.#work) this.#closing = true; // when it is over
    else super.dispose();
  }

  static create(hg, native, settings) {
    if (isDevice(native))
      throw new HologramError(`${native} opens while the page goes on, and this call cannot wait: await hg.open('${native}') gives a Backend, and run() opens it by itself`,
        { status: 'HG_ERROR_WOULD_BLOCK' });
    return new Backend(hg, configured(hg.core, native, settings, (config) => hg.core.made('hg_executor_create_from_config', config)), 'hg_executor_destroy', true);
  }

  /** Opens one whose device is asked for; device: a GPUDevice of the page, which stays open. */
  static async open(hg, native, settings, device) {
    if (!isDevice(native)) return Backend.create(hg, native, settings);
    const { core, webgpu } = hg;
    const host = device && webgpu.adopt(device);
    const free = (_, address) => {
      core.call('hg_backend_destroy', address);
      if (host) webgpu.forget(host);
    };
    let opening = null;
    let made = 0;
    try {
      opening = makeToken(core, configured(core, native, settings, (config, scope) => (host
        ? core.made('hg_backend_open_with', config, scope.structure('hg_host_device', { context: host.instance, device: host.device }))
        : core.made('hg_backend_open_start', config))), 'hg_opening_destroy', [hg.token]);
      while (!made) {
        if (!opening.address) throw new HologramError('the library was closed before the backend was open');
        made = core.scope((scope) => {
          const out = scope.zeros(8);
          core.try('hg_opening_poll', opening.address, out, out + 4);
          return core.view.getUint32(out + 4, true);
        });
        if (!made) await rest(hg);
      }
    } finally {
      opening?.release();
      if (!made && host) webgpu.forget(host);
    }
    return new Backend(hg, made, free, false);
  }

  /** The hg_backend. */
  get backend() {
    return this.waits ? this.core.call('hg_executor_backend', this.address) : this.address;
  }

  /** Token of the hg_executor, of which tensors are: where nothing can be waited for, one that appends to the queue. */
  get executor() {
    if (this.waits) return this.use().token;
    this.#executor ??= makeToken(this.core, this.core.made('hg_executor_create_on_queue', this.queue.address), 'hg_executor_destroy', [this.queue.token]);
    return this.#executor;
  }

  /** Work of tensors has failed: those that there are have no elements any more, new ones are of another executor. */
  dropTensors(executor) {
    if (this.#executor !== executor) return;
    executor.release();
    this.#executor = null;
  }

  /** For copies of Buffers, where they cannot be waited for. */
  get queue() {
    return (this.#queue ??= new Queue(this));
  }

  get name() {
    return backendName(this.core.call('hg_backend_name', this.backend));
  }

  /** What the device is: { name, memory_bytes, exact, capabilities, … } */
  describe() {
    const { core } = this;
    return core.scope((scope) => {
      const { size } = layout('hg_device_info');
      const info = scope.structure('hg_device_info');
      core.try('hg_backend_describe', this.backend, info, size);
      return { ...plain(core.read('hg_device_info', info)), backend: this.name };
    });
  }

  /** A buffer of elements: buffer('f32', 1024) of zeros, buffer(new Float32Array(…)), buffer('i128', [1n, 2n]). */
  buffer(type, data) {
    if (typeof type !== 'string') {
      const own = typeOfArray(type);
      if (!own) throw new HologramError('buffer: a typed array is expected, or the name of a type and elements or their number');
      return this.buffer(own.name, type);
    }
    const found = typeOf(type);
    if (typeof data === 'number') return new Buffer(this, found, data);
    const bytes = this.core.stable(toBytes(found, data, 'buffer'));
    const made = new Buffer(this, found, bytes.length / found.bytes);
    made.writeBytes(bytes);
    return made;
  }

  /** Whether its device takes no work any more, which then fails at once. */
  async isLost() {
    try {
      const buffer = this.buffer('u8', 1);
      const read = buffer.readAsync().finally(() => buffer.dispose());
      return await Promise.race([read, turn()]).then(() => false);
    } catch {
      return true;
    }
  }

  /** Goes on with what was started; true: something is left. */
  progress() {
    const { core } = this;
    return core.scope((scope) => {
      const left = scope.zeros(1);
      core.try('hg_backend_progress', this.backend, left);
      return core.bytes[left] !== 0;
    });
  }
}

inspected(Backend, (backend) => backend.name);

/** Elements in memory of a device. */
export class Buffer {
  #written = null; // what is on its way, where it cannot be waited for

  constructor(backend, type, length) {
    const { core } = backend;
    if (!Number.isSafeInteger(length) || length < 0) throw new HologramError(`a buffer of ${type.name}: a number of elements is expected, not ${length}`);
    Object.assign(this, { backend, core, type: type.name, length });
    const handle = core.scope((scope) => {
      const made = scope.structure('hg_buffer');
      core.try('hg_backend_allocate_buffer', backend.backend, length * type.bytes, made);
      return core.view.getBigUint64(made, true);
    });
    const owner = backend.backend;
    this.token = watch(this, makeToken(core, handle, (_, at) => core.call('hg_backend_free_buffer', owner, at), [backend.token]));
  }

  get handle() {
    if (!this.token.address) throw new HologramError('this Buffer was disposed');
    return this.token.address;
  }

  get byteLength() {
    return this.length * typeOf(this.type).bytes;
  }

  /** Where it lies in the library's memory; 0: on a device of its own. */
  #place() {
    const { core } = this;
    return core.scope((scope) => {
      const native = scope.structure('hg_native_buffer');
      if (core.call('hg_buffer_native', this.backend.backend, this.handle, native) !== values.HG_OK) return 0;
      const { kind, memory } = core.read('hg_native_buffer', native);
      return kind === values.HG_MEMORY_HOST ? Number(memory) : 0;
    });
  }

  writeBytes(bytes) {
    if (bytes.length !== this.byteLength)
      throw new HologramError(`a buffer of ${this.length} ${this.type} takes ${this.byteLength} bytes, not ${bytes.length}`);
    const at = this.#place();
    if (at) this.core.bytes.set(bytes, at);
    else if (!this.backend.waits) this.follow(this.backend.queue.write(this, bytes));
    else this.core.scope((scope) => this.core.try('hg_buffer_write', this.backend.backend, this.handle, 0, scope.bytes(bytes), bytes.length));
  }

  /** Writes all elements. */
  write(data) {
    this.writeBytes(this.core.stable(toBytes(typeOf(this.type), data, 'write')));
  }

  /** What follows must come behind a write. */
  follow(written) {
    const all = this.#written ? Promise.all([this.#written, written]) : written;
    this.#written = all;
    const over = () => { if (this.#written === all) this.#written = null; };
    all.then(over, () => {}); // who reads or runs next is told of an error
  }

  /** All writes are over. */
  async settled() {
    const written = this.#written;
    try {
      await written;
    } finally {
      if (this.#written === written) this.#written = null;
    }
  }

  /** A promise of a copy of all elements, on every backend. */
  async readAsync() {
    if (this.backend.waits) return this.read();
    await this.settled();
    const [elements] = await this.backend.queue.read([this]);
    return elements;
  }

  /** A copy of all elements. */
  read() {
    const { core, byteLength } = this;
    if (!this.backend.waits)
      throw new HologramError(`a buffer on ${this.backend.name} cannot be read without waiting: await readAsync()`, { status: 'HG_ERROR_WOULD_BLOCK' });
    const type = typeOf(this.type);
    const at = this.#place();
    if (at) return fromBytes(type, core.bytes.subarray(at, at + byteLength));
    return core.scope((scope) => {
      const to = scope.zeros(byteLength);
      core.try('hg_buffer_read', this.backend.backend, this.handle, 0, to, byteLength);
      return fromBytes(type, core.bytes.subarray(to, to + byteLength));
    });
  }

  /** The elements where they lie, of backends in this memory. The view is empty as soon as memory grows: use it at once. */
  view() {
    const type = typeOf(this.type);
    const at = this.#place();
    if (!at || !type.array) throw new HologramError(`a buffer of ${this.type} on ${this.backend.name} cannot be seen in place: read() copies it`);
    return new type.array(this.core.memory.buffer, at, this.length);
  }

  dispose() {
    this.token.release();
  }
}
Buffer.prototype[Symbol.dispose ?? Symbol.for('Symbol.dispose')] = Buffer.prototype.dispose;
inspected(Buffer, ({ type, length, token, backend }) => (token.address ? `${type}[${length}] on ${backend.name}` : '(disposed)'));

// ---- work that runs ----

/** The next turn of the host's loop: what waits there, an abort too, comes first. */
const turn = typeof setImmediate === 'function' ? () => new Promise((go) => setImmediate(go))
  : () => new Promise((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); go(); };
    port2.postMessage(0);
  });

const LOOK_MS = 20;

/** Until something may have changed: an answer of the browser, or the next turn. */
function rest(hg) {
  return hg.webgpu.busy ? hg.webgpu.next(LOOK_MS) : turn();
}

/** A promise that the signal breaks, where it comes first; what was promised goes on. */
export function unlessAborted(promise, signal) {
  if (!signal) return promise;
  return new Promise((done, stop) => {
    const leave = () => stop(signal.reason);
    signal.addEventListener('abort', leave);
    promise.then(done, stop).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** Before work that a signal may end: what aborts it in this turn of the loop is seen before it begins. */
export async function mayBegin(signal) {
  if (!signal) return;
  await turn();
  signal.throwIfAborted();
}

/** Waits for an event and frees it. signal: an AbortSignal that ends its work; left() is told when it does. */
export async function finish(backend, event, signal, left = () => {}) {
  const { core } = backend;
  const token = makeToken(core, event, 'hg_event_destroy', [backend.token]);
  let cancelled = false;
  try {
    for (;;) {
      if (!token.address) throw new HologramError(`the ${backend.constructor.name} was disposed before this was over`);
      const [status, done] = core.scope((scope) => {
        const over = scope.zeros(1);
        const found = core.call('hg_event_query', event, over);
        return [found, core.bytes[over] !== 0];
      });
      if (done) {
        if (status === values.HG_OK) return;
        const error = core.error(status);
        if (cancelled) signal.throwIfAborted();
        throw error;
      }
      if (status !== values.HG_OK) throw core.error(status);
      if (signal?.aborted && !cancelled) {
        cancelled = true;
        core.call('hg_event_cancel', event);
        left();
      }
      backend.progress();
      await (backend.waits ? turn() : rest(backend.hg));
    }
  } finally {
    token.release();
  }
}
