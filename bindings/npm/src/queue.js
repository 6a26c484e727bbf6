// Work on a device that cannot be waited for: copies and launches are commands of a queue, and a promise is fulfilled when one is over.
// Must not know: programs, graphs.
import { finish } from './backend.js';
import { layout, values } from './core.js';
import { makeToken } from './handles.js';
import { fromBytes, typeOf } from './types.js';

/** A queue of a backend; its commands are in order. */
export class Queue {
  #users = 0;

  constructor(backend) {
    const { core } = backend;
    Object.assign(this, { backend, core });
    this.token = makeToken(core, core.made('hg_queue_create', backend.backend, 0), 'hg_queue_destroy', [backend.token]);
    this.release = this.hold();
  }

  get address() {
    return this.token.address;
  }

  /** An event of commands, fields of hg_command, that begin when the events `waits` are over. */
  submit(commands, waits = []) {
    const { core } = this;
    return core.scope((scope) => {
      const width = layout('hg_command').size;
      const list = scope.zeros(width * Math.max(commands.length, 1));
      commands.forEach((fields, i) => {
        core.set('hg_command', list + i * width, 'size', width);
        for (const [field, value] of Object.entries(fields)) core.set('hg_command', list + i * width, field, value);
      });
      return core.made('hg_queue_submit', this.address, list, commands.length, scope.array('ptr', waits), waits.length);
    });
  }

  /**
   * Waits for an event of its work and frees it. signal: an AbortSignal that ends it. Lanes of a device may go on until they look at the
   * time: who aborts does not wait for that, and the device is left alone with them. So it is where they went on after a time-out.
   */
  over(event, signal) {
    const { backend } = this;
    const release = this.hold();
    if (!backend.waits) backend.enter();
    return new Promise((done, stop) => {
      const aborted = () => {
        if (backend.waits) return;
        backend.stuck = true;
        stop(signal.reason);
      };
      const failed = async (error) => {
        if (!backend.waits && error.code === 'F08' && await backend.isLost()) backend.stuck = true;
        stop(error);
      };
      finish(backend, event, signal, aborted).then(done, failed).finally(() => {
        release();
        if (!backend.waits) backend.left();
      });
    });
  }

  /** Copies bytes into a Buffer; they are taken at once. */
  async write(buffer, bytes) {
    const { core } = this;
    const host = core.allocate(bytes.length);
    try {
      core.bytes.set(bytes, host);
      await this.over(this.submit([{ kind: values.HG_COMMAND_COPY_IN, buffer: { handle: buffer.handle }, length: bytes.length, host }]));
    } finally {
      core.free(host);
    }
  }

  /**
   * Copies of the elements of Buffers, or of { type, handle, offset, byteLength }, in their order, as they are when the events `waits` are
   * over.
   */
  async read(buffers, waits = []) {
    const { core } = this;
    const hosts = [];
    try {
      for (const { byteLength } of buffers) hosts.push(core.allocate(byteLength));
      await this.over(this.submit(buffers.map(({ handle, offset = 0n, byteLength }, i) =>
        ({ kind: values.HG_COMMAND_COPY_OUT, buffer: { handle }, offset, length: byteLength, host: hosts[i] })), waits));
      return buffers.map((buffer, i) => fromBytes(typeOf(buffer.type), core.bytes.subarray(hosts[i], hosts[i] + buffer.byteLength)));
    } finally {
      for (const host of hosts) core.free(host);
    }
  }

  /** The event of a launch. */
  launch(binding) {
    return this.submit([{ kind: values.HG_COMMAND_LAUNCH, binding }]);
  }

  /** It stays until the function that this gives was called, which a second time does nothing; who made it calls release(). */
  hold() {
    let held = 1;
    this.#users++;
    return () => {
      this.#users -= held;
      held = 0;
      if (!this.#users) this.token.release();
    };
  }
}
