// What the library made and somebody must free: by dispose(), by `using`, when the object that holds it is collected, or together with
// what it belongs to. Must not know: what the things are.
import { HologramError } from './core.js';

export const DISPOSE = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** What Node prints of an object, in place of the library's memory: text(object) says it. A library that stopped is no reason to throw. */
export function inspected(kind, text) {
  kind.prototype[Symbol.for('nodejs.util.inspect.custom')] = function () {
    try {
      return `${this.constructor.name} ${this.disposed ? '(disposed)' : text(this)}`;
    } catch (error) {
      return `${this.constructor.name} (${error.message})`;
    }
  };
}

/** A thing in the library. It goes before any of those it belongs to. */
class Token {
  constructor(core, address, free, owners) {
    Object.assign(this, { core, address, free, owners, parts: new Set() });
    for (const owner of owners) owner.parts.add(this);
  }

  release() {
    const { address } = this;
    if (!address) return;
    for (const part of [...this.parts].reverse()) part.release();
    this.address = 0;
    for (const owner of this.owners) owner.parts.delete(this);
    if (!this.core.dead) this.free(this.core, address);
  }
}

const collected = new FinalizationRegistry((token) => {
  try {
    token.release();
  } catch (error) {
    if (!token.core.dead) throw error; // who calls next is told
  }
});

/** Of the library itself: everything belongs to it. */
export function rootToken(core) {
  return new Token(core, 1, () => {}, []);
}

/** Frees it when the object is collected. */
export function watch(object, token) {
  collected.register(object, token, token);
  return token;
}

export function makeToken(core, address, free, owners) {
  return new Token(core, address, typeof free === 'string' ? (_, at) => core.call(free, at) : free, owners);
}

/** An object of the library with a life of its own. */
export class Handle {
  constructor(core, address, free, owners) {
    this.core = core;
    Object.defineProperty(this, 'token', { value: watch(this, makeToken(core, address, free, owners)) });
  }

  /** Its address in the library's memory. */
  get address() {
    if (!this.token.address) throw new HologramError(`this ${this.constructor.name} was disposed`);
    return this.token.address;
  }

  get disposed() {
    return !this.token.address;
  }

  /** Frees it. Nothing happens the second time. */
  dispose() {
    collected.unregister(this.token);
    this.token.release();
  }
}
Handle.prototype[DISPOSE] = function () { this.dispose(); };
