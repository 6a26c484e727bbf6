// Workers that compute: calls are promises, and one that takes too long is ended with its worker. Must not know: what is computed.

/** What a call of the worker threw: { message, status, diagnostics, line, column } of the library's error. */
export class Failure extends Error {
  constructor(said) {
    super(said.message);
    Object.assign(this, said);
  }
}

/** A call that stop() ended. */
export class Stopped extends Error {}

let compiled = null; // the module, a promise: the first worker compiles it for all

export class Engine {
  #worker = null;
  #ready = null;
  #waiting = new Map();
  #last = 0;

  /** Starts its worker, which a call does too. */
  begin() {
    (this.#ready ??= this.#start()).catch(() => {}); // the call that follows says it
    return this;
  }

  /** Calls one of worker.js: call('run', text, values, backend). */
  async call(name, ...args) {
    await (this.#ready ??= this.#start());
    return this.#ask(name, args);
  }

  /** Ends what runs, at once: calls fail with Stopped, the next one has a new worker. */
  stop() {
    this.#worker?.terminate();
    this.#worker = this.#ready = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { fail } of waiting) fail(new Stopped('stopped'));
  }

  async #start() {
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    this.#worker.addEventListener('message', ({ data: { id, value, failed } }) => {
      const call = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failed) call?.fail(new Failure(failed));
      else call?.done(value);
    });
    this.#worker.addEventListener('error', (event) => {
      const message = `the worker ended: ${event.message ?? 'worker.js or ./package/index.js cannot be loaded'}`;
      const waiting = [...this.#waiting.values()];
      this.stop();
      for (const { fail } of waiting) fail(new Failure({ message }));
    });
    try {
      if (compiled) return await this.#ask('start', [await compiled]);
      const first = this.#ask('start', []);
      compiled = first.then(({ module }) => module);
      return await first;
    } catch (error) {
      compiled = this.#ready = null;
      throw error;
    }
  }

  #ask(call, args) {
    const id = ++this.#last;
    const worker = this.#worker;
    return new Promise((done, fail) => {
      if (!worker) {
        fail(new Stopped('stopped'));
        return;
      }
      this.#waiting.set(id, { done, fail });
      worker.postMessage({ id, call, args });
    });
  }
}

/** The one that the page computes with first: it is under way before the page is read. */
export const first = new Engine().begin();
