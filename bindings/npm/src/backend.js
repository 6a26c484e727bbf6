// Backends and their buffers. Must not know: programs.
import { HologramError, expectText, layout, values } from './core.js';
import { Handle, makeToken, watch } from './handles.js';
import { backendName } from './names.js';
import { fromBytes, toBytes, typeOf, typeOfArray } from './types.js';

/** A device with its memory. */
export class Backend extends Handle {
  constructor(hg, native, settings) {
    const { core } = hg;
    expectText(native, 'backend');
    const address = core.scope((scope) => {
      const config = scope.zeros(layout('hg_config').size);
      core.try('hg_config_init', config, layout('hg_config').size);
      for (const [field, value] of Object.entries({ ...settings, backend: native }))
        scope.set('hg_config', config, field, value);
      return core.made('hg_executor_create_from_config', config);
    });
    super(core, address, 'hg_executor_destroy', [hg.token]);
    this.hg = hg;
  }

  /** The hg_backend; this.address is the hg_executor. */
  get backend() {
    return this.core.call('hg_executor_backend', this.address);
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
      return { ...core.read('hg_device_info', info), backend: this.name };
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

/** Elements in memory of a device. */
export class Buffer {
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
    else this.core.scope((scope) => this.core.try('hg_buffer_write', this.backend.backend, this.handle, 0, scope.bytes(bytes), bytes.length));
  }

  /** Writes all elements. */
  write(data) {
    this.writeBytes(this.core.stable(toBytes(typeOf(this.type), data, 'write')));
  }

  /** A copy of all elements. */
  read() {
    const { core, byteLength } = this;
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

// ---- work that runs ----

/** The next turn of the host's loop: what waits there, an abort too, comes first. */
const turn = typeof setImmediate === 'function' ? () => new Promise((go) => setImmediate(go))
  : () => new Promise((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); go(); };
    port2.postMessage(0);
  });

/** Before work that a signal may end: what aborts it in this turn of the loop is seen before it begins. */
export async function mayBegin(signal) {
  if (!signal) return;
  await turn();
  signal.throwIfAborted();
}

/** Waits for an event and frees it. signal: an AbortSignal that ends its work. */
export async function finish(backend, event, signal) {
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
      }
      backend.progress();
      await turn();
    }
  } finally {
    token.release();
  }
}
