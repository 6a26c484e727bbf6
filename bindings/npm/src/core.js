// The low layer: hologram.wasm's functions by their C names, its memory, and structures in it.
// Must not know: programs, buffers, devices.
import { functions, structures, values } from './interface.js';

export { values };

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** What the library reports. `status` is its name of the kind; what does not apply is undefined. */
export class HologramError extends Error {
  constructor(message, fields = {}) {
    super(message);
    this.name = 'HologramError';
    Object.assign(this, { status: 'HG_ERROR_INVALID_ARGUMENT', diagnostics: [] }, fields);
  }
}

/** The name of a status: HG_ERROR_ISA. */
const statusNames = new Map(Object.entries(values).filter(([name]) => name === 'HG_OK' || name.startsWith('HG_ERROR_')).map(([name, value]) => [value, name]));

// ---- what callers give ----

/** What a value is, for messages. */
export function kindOf(value) {
  return value === null ? 'null' : typeof value === 'object' ? value.constructor?.name ?? 'object' : typeof value;
}

export function expectText(value, what) {
  if (typeof value !== 'string') throw new HologramError(`${what}: a text is expected, not ${kindOf(value)}`);
  return value;
}

/** The bytes of an ArrayBuffer or a view of one, where they are. */
export function bytesOf(data, what, wanted = 'bytes') {
  if (ArrayBuffer.isView(data)) {
    try {
      return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    } catch (error) {
      throw new HologramError(`${what}: its memory is gone (${error.message}); a view() of a Buffer is to be used at once`, { cause: error });
    }
  }
  if (!(data instanceof ArrayBuffer) && !(globalThis.SharedArrayBuffer && data instanceof SharedArrayBuffer))
    throw new HologramError(`${what}: ${wanted} are expected, not ${kindOf(data)}`);
  return new Uint8Array(data);
}

/** An object of options that has none but these. */
export function expectOptions(options, known, what) {
  if (options === null || typeof options !== 'object') throw new HologramError(`${what}: an object of options is expected, not ${kindOf(options)}`);
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw new HologramError(`${what}: no option is called '${name}': there are ${known.join(', ')}`);
}

/** nothing, or an AbortSignal that has not aborted; throws the reason of one that has. */
export function expectSignal(signal, what) {
  if (signal == null) return;
  if (typeof signal?.throwIfAborted !== 'function') throw new HologramError(`${what}, signal: an AbortSignal is expected, not ${kindOf(signal)}`);
  signal.throwIfAborted();
}

/** An integer of a form like u64, as BigInt. */
export function expectInteger(form, value, what) {
  if (typeof value !== 'bigint' && !Number.isInteger(value))
    throw new HologramError(`${what}: an integer is expected, not ${typeof value === 'number' || typeof value === 'string' ? value : kindOf(value)}`);
  const bits = Number(form.slice(1));
  const number = BigInt(value);
  if ((form[0] === 'i' ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number)) !== number)
    throw new HologramError(`${what}: ${value} is no ${bits}-bit ${form[0] === 'i' ? '' : 'unsigned '}integer`);
  return number;
}

/** Fields of a structure as JSON has them: numbers of 64 bits too, which are exact below 2^53. */
export function plain(fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]));
}

// ---- structures ----

const WIDTHS = { i8: 1, u8: 1, char: 1, bool: 1, i16: 2, u16: 2, i32: 4, u32: 4, f32: 4, ptr: 4, text: 4, i64: 8, u64: 8, f64: 8 };
const layouts = new Map();

/** { size, fields: Map(name → { form, count, at, width }) } of a structure. */
export function layout(name) {
  let found = layouts.get(name);
  if (!found) {
    if (!(name in structures)) throw new Error(`hologram: no structure is called ${name}`);
    const [size, ...fields] = structures[name].split(' ');
    found = { size: Number(size), fields: new Map() };
    layouts.set(name, found);
    for (const field of fields) {
      const [, key, form, count, at] = /^(\w+):(\w+?)(?:\*(\d+))?@(\d+)$/.exec(field);
      const width = WIDTHS[form] ?? layout(form).size;
      found.fields.set(key, { form, count: count ? Number(count) : 0, at: Number(at), width });
    }
  }
  return found;
}

// ---- memory and calls ----

export class Core {
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);

  constructor(exports) {
    this.exports = exports;
    this.memory = exports.memory;
    this.dead = null; // why nothing can be called any more
    exports.hologram_start();
  }

  /** All memory. It is another object when memory has grown: never keep it over a call. */
  get bytes() {
    if (this.#bytes.buffer !== this.memory.buffer) {
      this.#bytes = new Uint8Array(this.memory.buffer);
      this.#view = new DataView(this.memory.buffer);
    }
    return this.#bytes;
  }

  get view() {
    return this.bytes && this.#view;
  }

  allocate(size) {
    const at = size >= 0 && size < 2 ** 31 ? this.exports.hologram_allocate(size) >>> 0 : 0;
    if (!at) throw new HologramError(`out of memory: ${size} bytes`, { status: 'HG_ERROR_OUT_OF_MEMORY' });
    return at;
  }

  /** Bytes that stay where they are when memory grows: a copy of those that lie in it. */
  stable(bytes) {
    return bytes.buffer === this.memory.buffer ? bytes.slice() : bytes;
  }

  free(at) {
    if (!this.dead) this.exports.hologram_free(at);
  }

  /** The text that ends in NUL at an address, or null. */
  text(at) {
    if (!at) return null;
    const end = this.bytes.indexOf(0, at);
    return decoder.decode(this.bytes.slice(at, end));
  }

  /** A field of a structure at an address. */
  get(structure, at, field) {
    const { form, count, at: place, width } = layout(structure).fields.get(field);
    if (form === 'char' && count) {
      const bytes = this.bytes.slice(at + place, at + place + count);
      const end = bytes.indexOf(0);
      return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
    }
    if (count) return Array.from({ length: count }, (_, i) => this.load(form, at + place + i * width));
    return this.load(form, at + place);
  }

  /** All fields, without those that are reserved. */
  read(structure, at) {
    const made = {};
    for (const field of layout(structure).fields.keys())
      if (field !== 'size' && !field.startsWith('reserved')) made[field] = this.get(structure, at, field);
    return made;
  }

  load(form, at) {
    const view = this.view;
    switch (form) {
      case 'i8': return view.getInt8(at);
      case 'u8': case 'char': return view.getUint8(at);
      case 'bool': return view.getUint8(at) !== 0;
      case 'i16': return view.getInt16(at, true);
      case 'u16': return view.getUint16(at, true);
      case 'i32': return view.getInt32(at, true);
      case 'u32': case 'ptr': return view.getUint32(at, true);
      case 'text': return this.text(view.getUint32(at, true));
      case 'i64': return view.getBigInt64(at, true);
      case 'u64': return view.getBigUint64(at, true);
      case 'f32': return view.getFloat32(at, true);
      case 'f64': return view.getFloat64(at, true);
      default: return this.read(form, at);
    }
  }

  store(form, at, value, what = form) {
    const view = this.view;
    switch (form) {
      case 'i8': case 'u8': view.setUint8(at, Number(expectInteger(form, value, what))); break;
      case 'char': view.setUint8(at, Number(expectInteger('u8', value, what))); break;
      case 'bool': view.setUint8(at, value ? 1 : 0); break;
      case 'i16': case 'u16': view.setUint16(at, Number(expectInteger(form, value, what)), true); break;
      case 'i32': case 'u32': view.setUint32(at, Number(expectInteger(form, value, what)), true); break;
      case 'ptr': case 'text': view.setUint32(at, Number(expectInteger('u32', value ?? 0, what)), true); break;
      case 'i64': case 'u64': view.setBigUint64(at, BigInt.asUintN(64, expectInteger(form, value, what)), true); break;
      case 'f32': view.setFloat32(at, value, true); break;
      case 'f64': view.setFloat64(at, value, true); break;
      default: for (const [field, one] of Object.entries(value)) this.set(form, at, field, one);
    }
  }

  set(structure, at, field, value) {
    const found = layout(structure).fields.get(field);
    if (!found) throw new HologramError(`${structure} has no field ${field}: it has ${[...layout(structure).fields.keys()].join(', ')}`);
    const { form, count, at: place, width } = found;
    if (form === 'char' && count) {
      const bytes = encoder.encode(expectText(value, field));
      if (bytes.length >= count) throw new HologramError(`${field}: at most ${count - 1} bytes are expected, not ${bytes.length}`);
      this.bytes.fill(0, at + place, at + place + count).set(bytes, at + place);
    } else if (count) {
      const items = Array.from(value);
      if (items.length > count) throw new HologramError(`${field}: at most ${count} numbers are expected, not ${items.length}`);
      items.forEach((one, i) => this.store(form, at + place + i * width, one, field));
    } else {
      this.store(form, at + place, value, field);
    }
  }

  /**
   * Calls a function by its C name. Numbers, bigints and booleans are converted as its signature says; texts are passed for the call
   * alone, null is NULL. What comes back is a number, bigint, boolean or text.
   */
  call(name, ...args) {
    const signature = functions[name];
    if (!signature) throw new Error(`hologram: no function is called ${name}`);
    if (this.dead) throw new HologramError(`${name}: ${this.dead}`, { status: 'HG_ERROR_INTERNAL' });
    if (!this.exports[name])
      throw new HologramError(`${name}: ${this.exports.hg_graph_read_text ? 'WebAssembly is without it' : "hologram/wasm is without it: import 'hologram', which has everything"}`);
    if (args.length !== signature.length - 1) throw new TypeError(`${name} takes ${signature.length - 1} arguments, not ${args.length}`);
    const texts = [];
    try {
      const passed = args.map((value, i) => {
        const letter = signature[i + 1];
        if (typeof value === 'number' && value >>> 0 === value && 'ipuSs'.includes(letter)) return value; // what nearly all are
        const what = `${name}, argument ${i + 1}`;
        switch (letter) {
          case 'l': return expectInteger('i64', value, what);
          case 'q': return expectInteger('u64', value, what);
          case 'f': case 'd': return Number(value);
          case 'b': return value ? 1 : 0;
          case 's':
            if (typeof value === 'string') return texts[texts.push(this.copyText(value)) - 1]; // falls through
          case 'p': case 'S': return Number(expectInteger('u32', value ?? 0, what));
          default: return Number(expectInteger(value < 0 ? 'i32' : 'u32', typeof value === 'boolean' ? Number(value) : value ?? 0, what));
        }
      });
      return this.result(signature[0], this.run(name, passed));
    } finally {
      for (const at of texts) this.free(at);
    }
  }

  // A trap, or too deep a recursion, leaves the library as it was in the middle of something: nothing of it can be used any more.
  run(name, passed) {
    try {
      return this.exports[name](...passed);
    } catch (error) {
      this.dead = `the library stopped in ${name} (${error.message}): close() and load() begin anew`;
      throw new HologramError(this.dead, { status: 'HG_ERROR_INTERNAL', cause: error });
    }
  }

  result(letter, value) {
    switch (letter) {
      case 'v': return undefined;
      case 'b': return value !== 0;
      case 's': return this.text(value >>> 0);
      case 'p': case 'u': return value >>> 0;
      case 'q': return BigInt.asUintN(64, value);
      default: return value;
    }
  }

  /** The same of a function that returns a status: throws what it failed with. */
  try(name, ...args) {
    const status = this.call(name, ...args);
    if (status !== values.HG_OK) throw this.error(status);
  }

  /** The same of a function whose last parameter is a place for what it makes: gives the address that it put there. */
  made(name, ...args) {
    return this.scope((scope) => {
      const out = scope.zeros(4);
      this.try(name, ...args, out);
      return this.view.getUint32(out, true);
    });
  }

  /** A text that the library made, freed. */
  takeText(at) {
    const text = this.text(at);
    this.call('hg_string_free', at);
    return text;
  }

  /** The error of a status, with what the library said last. */
  error(status, more = {}) {
    const said = this.read('hg_error', this.exports.hg_last_error() >>> 0);
    const fields = { status: statusNames.get(status) ?? `status ${status}`, code: said.code || undefined };
    for (const name of ['step', 'phase', 'instruction', 'lane', 'operand', 'offset', 'limit'])
      if (said[name] !== 0xFFFFFFFFFFFFFFFFn) fields[name] = Number(said[name]);
    for (const name of ['line', 'column', 'length']) if (said[name]) fields[name] = said[name];
    return new HologramError(this.text(this.exports.hg_last_error_text() >>> 0), { ...fields, ...more });
  }

  /** A copy of a text with a NUL behind it, for free(). */
  copyText(text) {
    const bytes = encoder.encode(text);
    if (bytes.includes(0)) throw new HologramError(`a text without NUL is expected, not ${JSON.stringify(text)}`);
    const at = this.allocate(bytes.length + 1);
    this.bytes.set(bytes, at);
    this.bytes[at + bytes.length] = 0;
    return at;
  }

  /** Runs body with memory that is freed when it returns. */
  scope(body) {
    const scope = new Scope(this);
    try {
      return body(scope);
    } finally {
      scope.free();
    }
  }
}

/** Memory for the arguments of a call. */
export class Scope {
  #held = [];

  constructor(core) {
    this.core = core;
  }

  /** Bytes that are 0. */
  zeros(size) {
    const at = this.core.allocate(size);
    this.#held.push(at);
    this.core.bytes.fill(0, at, at + size);
    return at;
  }

  /** A copy of the bytes of an ArrayBuffer or a view of one. */
  bytes(data) {
    const source = this.core.stable(bytesOf(data, 'data'));
    const at = this.zeros(source.length);
    this.core.bytes.set(source, at);
    return at;
  }

  /** { at, length } of a text's bytes, with a NUL behind them. */
  text(text) {
    const bytes = encoder.encode(text);
    const at = this.zeros(bytes.length + 1);
    this.core.bytes.set(bytes, at);
    return { at, length: bytes.length };
  }

  /** A structure whose size is set, and fields. Texts among them are copied. */
  structure(name, fields = {}) {
    const { size, fields: known } = layout(name);
    const at = this.zeros(size);
    if (known.has('size')) this.core.set(name, at, 'size', size);
    for (const [field, value] of Object.entries(fields)) this.set(name, at, field, value);
    return at;
  }

  /** Sets a field, from what a caller gave: a text is copied. */
  set(name, at, field, value) {
    const isText = layout(name).fields.get(field)?.form === 'text';
    this.core.set(name, at, field, isText && value != null ? this.text(expectText(value, field)).at : value);
  }

  /** Addresses, or elements of another form, one behind the other. */
  array(form, items) {
    const width = WIDTHS[form];
    const at = this.zeros(width * Math.max(items.length, 1));
    items.forEach((item, i) => this.core.store(form, at + i * width, item));
    return at;
  }

  free() {
    for (const at of this.#held) this.core.free(at);
    this.#held = [];
  }
}
