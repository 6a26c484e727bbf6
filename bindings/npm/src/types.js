// Elements of the 24 types as JavaScript has them: typed arrays where there is one, else arrays of BigInt for wide integers and
// Uint16Array for the bits of halves. Must not know: memory, programs.
import { HologramError, bytesOf, kindOf, values } from './core.js';

const Float16 = globalThis.Float16Array ?? Uint16Array;
const OWN = { f16: Float16, bf16: Uint16Array, f32: Float32Array, f64: Float64Array, i8: Int8Array, i16: Int16Array, i32: Int32Array,
  i64: BigInt64Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array };

/** A type: name, number of the library, bytes, kind ('float', 'signed', 'unsigned'), the typed array of its elements or null. */
function make(name, code) {
  const kind = /^b?f/.test(name) ? 'float' : name[0] === 'i' ? 'signed' : 'unsigned';
  return Object.freeze({ name, code, kind, bytes: Number(/\d+$/.exec(name)[0]) / 8, array: OWN[name] ?? null });
}

export const TYPES = new Map();
for (const [key, code] of Object.entries(values))
  if (/^HG_TYPE_B?[FIU]\d+$/.test(key)) TYPES.set(key.slice(8).toLowerCase(), make(key.slice(8).toLowerCase(), code));
const BY_CODE = new Map([...TYPES.values()].map((type) => [type.code, type]));

export function typeOf(name) {
  const found = typeof name === 'number' ? BY_CODE.get(name) : TYPES.get(name);
  if (!found) throw new HologramError(`${name} is no type of elements: there are ${[...TYPES.keys()].join(', ')}`);
  return found;
}

/** The type whose elements a typed array has, or null: Uint16Array is u16, not the bits of a half. */
export function typeOfArray(array) {
  if (array instanceof Uint8ClampedArray) return TYPES.get('u8'); // pixels of a canvas
  for (const type of TYPES.values()) if (type.array && type.name !== 'bf16' && array instanceof type.array && (type.name !== 'f16' || Float16 !== Uint16Array)) return type;
  return null;
}

// ---- halves ----

const wide = new DataView(new ArrayBuffer(8));

/** The bits of a number rounded once to a float with so many bits of exponent and mantissa, to nearest, ties to even. */
export function halfBits(value, exponentBits, mantissaBits) {
  wide.setFloat64(0, value);
  const bits = wide.getBigUint64(0);
  const sign = Number(bits >> 63n) << (exponentBits + mantissaBits);
  const infinity = ((1 << exponentBits) - 1) << mantissaBits;
  if (Number.isNaN(value)) return sign | infinity | (1 << (mantissaBits - 1));
  const most = (1 << (exponentBits - 1)) - 1;
  const size = Math.abs(value);
  if (size === 0) return sign;
  if (size === Infinity) return sign | infinity;
  // The last place is 2^last: every number below is a multiple of it.
  const exponent = Math.max(Number((bits >> 52n) & 0x7FFn) - 1023, 1 - most);
  const scaled = size / 2 ** (exponent - mantissaBits); // exact: a power of two, and no subnormal double comes out
  let whole = Math.floor(scaled);
  const rest = scaled - whole;
  if (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)) whole++;
  const field = (exponent + most - 1) * 2 ** mantissaBits + whole; // a carry goes into the exponent
  return sign | (field >= infinity ? infinity : field);
}

/** The number that such bits are. */
export function halfNumber(bits, exponentBits, mantissaBits) {
  const sign = bits >> (exponentBits + mantissaBits) ? -1 : 1;
  const exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  const mantissa = bits & ((1 << mantissaBits) - 1);
  const most = (1 << (exponentBits - 1)) - 1;
  if (exponent === 2 * most + 1) return mantissa ? NaN : sign * Infinity;
  return sign * (exponent ? mantissa + (1 << mantissaBits) : mantissa) * 2 ** (Math.max(exponent, 1) - most - mantissaBits);
}

const HALVES = { f16: [5, 10], bf16: [8, 7] };

// ---- elements and bytes ----

function integer(type, value) {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) throw new HologramError(`${type.name}: an integer is expected, not ${value}`);
  const number = BigInt(value);
  const bits = type.bytes * 8;
  const fits = type.kind === 'signed' ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number);
  if (fits !== number) throw new HologramError(`${type.name}: ${value} does not fit`);
  return number;
}

/** Writes one number or BigInt as an element. */
export function storeElement(type, value, bytes, at) {
  if (typeof value === 'boolean') value = Number(value);
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new HologramError(`${type.name}: a number is expected, not ${kindOf(value)}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, type.bytes);
  if (type.kind === 'float') {
    const number = Number(value);
    if (type.name in HALVES) view.setUint16(0, halfBits(number, ...HALVES[type.name]), true);
    else if (type.bytes === 4) view.setFloat32(0, number, true);
    else view.setFloat64(0, number, true);
    return;
  }
  let rest = BigInt.asUintN(type.bytes * 8, integer(type, value));
  for (let i = 0; i < type.bytes; i++, rest >>= 8n) view.setUint8(i, Number(rest & 0xFFn));
}

function loadInteger(type, bytes, at) {
  let value = 0n;
  for (let i = type.bytes - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[at + i]);
  return type.kind === 'signed' ? BigInt.asIntN(type.bytes * 8, value) : value;
}

/** Elements of a type as bytes: of a typed array of that type, an array of numbers or BigInts, or bits of halves in a Uint16Array. */
export function toBytes(type, data, what) {
  const wanted = `${what}: elements of ${type.name} are expected, as ${type.array ? type.array.name : 'an array of BigInt'}`;
  if (Object.prototype.toString.call(data).endsWith('ArrayBuffer]')) {
    const bytes = bytesOf(data, what);
    if (bytes.length % type.bytes) throw new HologramError(`${what}: ${bytes.length} bytes are no whole number of ${type.name}`);
    return bytes;
  }
  if (ArrayBuffer.isView(data)) {
    const fits = type.array && data instanceof type.array || type.name in HALVES && data instanceof Uint16Array ||
      type.name === 'u8' && data instanceof Uint8ClampedArray;
    if (!fits)
      throw new HologramError(`${wanted}, not ${kindOf(data)}`);
    return bytesOf(data, what);
  }
  if (data == null || typeof data[Symbol.iterator] !== 'function' || typeof data === 'string')
    throw new HologramError(`${wanted}, not ${kindOf(data)}`);
  const items = Array.from(data);
  const bytes = new Uint8Array(items.length * type.bytes);
  let i = 0;
  try {
    for (; i < items.length; i++) storeElement(type, items[i], bytes, i * type.bytes);
  } catch (error) {
    const rows = Array.isArray(items[i]) ? '; rows are given as { data, shape }, data without them' : '';
    throw new HologramError(`${what}[${i}]: ${error.message}${rows}`);
  }
  return bytes;
}

/** The elements that bytes are: a typed array, of wide integers an array of BigInt. The bytes are copied. */
export function fromBytes(type, bytes) {
  if (type.array) {
    const copy = bytes.slice();
    return new type.array(copy.buffer, 0, copy.length / type.bytes);
  }
  return Array.from({ length: bytes.length / type.bytes }, (_, i) => loadInteger(type, bytes, i * type.bytes));
}

/** Elements as numbers, of integers from 64 bits on as BigInts. */
export function toNumbers(type, elements) {
  if (type.name in HALVES && elements instanceof Uint16Array) return Array.from(elements, (bits) => halfNumber(bits, ...HALVES[type.name]));
  return Array.from(elements);
}
