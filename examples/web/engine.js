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

let compiled = null; // the module, a promise: the first worker compiles it for all; null where that worker was ended before

export class Engine {
  #worker = null;
  #ready = null;
  #waiting = new Map();
  #last = 0;

  /** Starts its worker, which a call does too. */
  begin() {
    this.#begun().catch(() => {}); // the call that follows says it
    return this;
  }

  /** Calls one of worker.js: call('run', text, values, backend). */
  async call(name, ...args) {
    return this.#ask(await this.#begun(), name, args);
  }

  /** Ends what runs, at once: calls fail with Stopped, the next one has a new worker. */
  stop() {
    this.#end(new Stopped('stopped'));
  }

  #end(error) {
    this.#worker?.terminate();
    this.#worker = this.#ready = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { fail } of waiting) fail(error);
  }

  /** A promise of its worker, which has loaded the library. */
  #begun() {
    if (this.#ready) return this.#ready;
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    this.#worker = worker;
    worker.addEventListener('message', ({ data: { id, value, failed } }) => {
      const call = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failed) call?.fail(new Failure(failed));
      else call?.done(value);
    });
    worker.addEventListener('error', (event) => {
      const message = `the worker ended: ${event.message ?? 'worker.js or ./package/index.js cannot be loaded'}`;
      if (worker === this.#worker) this.#end(new Failure({ message }));
    });
    const ready = this.#load(worker).then(() => worker);
    ready.catch(() => { if (worker === this.#worker) this.stop(); });
    this.#ready = ready;
    return ready;
  }

  async #load(worker) {
    const module = compiled && (await compiled);
    if (module) return this.#ask(worker, 'start', [module]);
    const first = this.#ask(worker, 'start', []);
    const mine = first.then((started) => started.module, () => {
      if (compiled === mine) compiled = null;
      return null;
    });
    compiled = mine;
    return first;
  }

  #ask(worker, call, args) {
    const id = ++this.#last;
    return new Promise((done, fail) => {
      if (worker !== this.#worker) {
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
