// Tensors and operations on them. Must not know: programs.
import { HologramError, expectOptions, kindOf, values } from './core.js';
import { Handle, inspected, makeToken } from './handles.js';
import { operations } from './interface.js';
import { fromBytes, toBytes, toNumbers, typeOf, typeOfArray } from './types.js';

// Types that tensors have beside the 24: bool is a byte, complex numbers are pairs.
const MORE = new Map([
  ['bool', { name: 'bool', code: values.HG_ELEMENT_BOOL, bytes: 1, each: 1, of: 'u8' }],
  ['complex64', { name: 'complex64', code: values.HG_ELEMENT_COMPLEX64, bytes: 8, each: 2, of: 'f32' }],
  ['complex128', { name: 'complex128', code: values.HG_ELEMENT_COMPLEX128, bytes: 16, each: 2, of: 'f64' }],
]);

function elementOf(name) {
  const more = MORE.get(name) ?? [...MORE.values()].find((one) => one.code === name);
  if (more) return more;
  const type = typeOf(name);
  return { name: type.name, code: type.code, bytes: type.bytes, each: 1, of: type.name };
}

/** [shape, elements] of nested arrays, whose rows may be typed arrays. */
function flatten(data) {
  const isRow = (value) => Array.isArray(value) || ArrayBuffer.isView(value);
  const shape = [];
  for (let level = data; isRow(level); level = level[0]) shape.push(level.length);
  let flat = data;
  for (const [axis, length] of shape.entries()) {
    const last = axis === shape.length - 1;
    if (axis && flat.some((row) => !isRow(row) || row.length !== length))
      throw new HologramError(`tensor: rows of different lengths, [${shape.join(', ')}] is expected`);
    if (axis) flat = flat.flatMap((row) => Array.from(row));
    if (last && flat.some(isRow)) throw new HologramError(`tensor: numbers are expected at depth ${shape.length}, not rows`);
  }
  return [shape, flat];
}

export class Tensor extends Handle {
  constructor(hg, address, backend, executor = backend.executor) {
    super(hg.core, address, 'hg_tensor_release', [backend.token]);
    this.hg = hg;
    this.backend = backend;
    Object.defineProperty(this, 'executor', { value: executor });
  }

  static of(hg, data, { type = null, shape = null, backend = 'auto' } = {}) {
    const { core } = hg;
    const device = hg.backend(backend);
    const [found, elements] = Array.isArray(data) ? flatten(data) : typeof data === 'number' || typeof data === 'bigint' ? [[], [data]] : [null, data];
    if (elements == null) throw new HologramError(`tensor: elements are expected, not ${elements}`);
    const element = elementOf(type ?? typeOfArray(elements)?.name ?? (typeof elements[0] === 'bigint' ? 'i64' : 'f32'));
    const bytes = core.stable(toBytes(typeOf(element.of), elements, 'tensor'));
    const count = bytes.length / element.bytes;
    if (!Number.isInteger(count)) throw new HologramError(`tensor: pairs of numbers are expected for ${element.name}, not ${count * element.each} numbers`);
    const extents = shape ?? found ?? [count];
    if (!Array.isArray(extents)) throw new HologramError(`tensor, shape: an array of extents is expected, not ${kindOf(extents)}`);
    if (!device.waits) return Tensor.#sent(hg, device, element, bytes, count, extents);
    return core.scope((scope) => {
      const made = core.made('hg_tensor_from_host', device.executor.address, element.code, scope.bytes(bytes), count, scope.array('u64', extents), extents.length);
      return new Tensor(hg, made, device);
    });
  }

  /** Elements on their way to a device that cannot be waited for. */
  static #sent(hg, device, element, bytes, count, extents) {
    const { core } = hg;
    const tensor = core.scope((scope) =>
      new Tensor(hg, core.made('hg_tensor_empty', device.executor.address, element.code, scope.array('u64', extents), extents.length), device));
    if (tensor.length !== count) {
      tensor.dispose();
      throw new HologramError(`Tensor shape mismatch: [${extents.join(', ')}] has ${extents.reduce((all, extent) => all * Number(extent), 1)} elements, ${count} given`,
        { status: 'HG_ERROR_INVALID_ARGUMENT' });
    }
    if (!count) return tensor;
    const held = makeToken(core, core.call('hg_tensor_retain', tensor.address), 'hg_tensor_release', [device.token]); // who disposes of it too early
    device.queue.write(tensor.#place(), bytes).catch(() => device.dropTensors(tensor.executor)).finally(() => held.release());
    return tensor;
  }

  get type() {
    return elementOf(this.core.call('hg_tensor_type', this.address)).name;
  }

  get shape() {
    const { core } = this;
    const at = core.call('hg_tensor_shape', this.address);
    return Array.from({ length: core.call('hg_tensor_ndim', this.address) }, (_, i) => Number(core.view.getBigUint64(at + 8 * i, true)));
  }

  /** Number of elements. */
  get length() {
    return Number(this.core.call('hg_tensor_numel', this.address));
  }

  /** All elements in C order: a typed array; of wide integers an array of BigInt; complex ones as pairs. */
  data() {
    const { core, length } = this;
    const element = elementOf(core.call('hg_tensor_type', this.address));
    return core.scope((scope) => {
      const to = scope.zeros(length * element.bytes);
      core.try('hg_tensor_to_host', this.address, to, length);
      return fromBytes(typeOf(element.of), core.bytes.subarray(to, to + length * element.bytes));
    });
  }

  /** A promise of the same, on every backend: what was done with tensors until now is run for it. */
  async dataAsync() {
    if (this.backend.waits) return this.data();
    const packed = this.contiguous();
    try {
      const { backend: { queue } } = this;
      const element = elementOf(this.core.call('hg_tensor_type', this.address));
      if (!packed.length) return fromBytes(typeOf(element.of), new Uint8Array());
      const reading = packed.#submitted((event) => {
        const elements = queue.read([{ ...packed.#place(), type: element.of, byteLength: packed.length * element.bytes }], [event]);
        elements.catch(() => {}); // the event says why
        return elements;
      });
      return (await reading)[0];
    } finally {
      packed.dispose();
    }
  }

  /** A promise of the value of a tensor with one element. */
  async itemAsync() {
    if (this.backend.waits) return this.item();
    if (this.length !== 1) throw new HologramError(`a tensor of one element is expected, not of ${this.length}`, { status: 'HG_ERROR_INVALID_ARGUMENT' });
    const element = elementOf(this.core.call('hg_tensor_type', this.address));
    if (element.each !== 1) throw new HologramError(`${element.name} is no single number: dataAsync() gives its parts`);
    return Number(toNumbers(typeOf(element.of), await this.dataAsync())[0]);
  }

  /** All that was done for its elements is over. */
  async settled() {
    if (!this.backend.waits) await this.#submitted(() => {});
  }

  /** Appends what is recorded for it to the queue, and waits; body(event) may append more. Gives what body gives. */
  async #submitted(body) {
    const { core, backend, executor } = this;
    let event = 0;
    try {
      event = core.made('hg_tensor_submit', this.address);
      const found = body(event);
      await backend.queue.over(event);
      return await found;
    } catch (error) {
      if (event) backend.dropTensors(executor); // else nothing has run: other tensors are what they were
      this.hg.note(error, backend);
      throw error;
    }
  }

  /** { handle, offset } of its elements. */
  #place() {
    const { core } = this;
    return core.scope((scope) => {
      const buffer = scope.structure('hg_buffer');
      const offset = scope.zeros(8);
      core.try('hg_tensor_buffer', this.address, buffer, offset);
      return { handle: core.view.getBigUint64(buffer, true), offset: core.view.getBigUint64(offset, true) };
    });
  }

  /** The value of a tensor with one element. */
  item() {
    return this.core.scope((scope) => {
      const out = scope.zeros(8);
      this.core.try('hg_tensor_item', this.address, out);
      return this.core.view.getFloat64(out, true);
    });
  }

  /** The handle of the buffer that its elements are in, for programs. */
  bufferHandle() {
    const { core } = this;
    if (!core.call('hg_tensor_is_contiguous', this.address)) throw new HologramError('a view whose elements do not lie one behind the other: contiguous() of it copies');
    const { handle, offset } = this.#place();
    if (offset !== 0n) throw new HologramError('a view that begins inside of its memory: contiguous() of it copies');
    return handle;
  }

  #view(name, ...args) {
    const made = this.core.scope((scope) => this.core.made(name, this.address, ...args.map((arg) => (typeof arg === 'function' ? arg(scope) : arg))));
    return new Tensor(this.hg, made, this.backend, this.executor);
  }

  /** Another shape of as many elements; one extent may be -1. */
  reshape(shape) {
    return this.#view('hg_tensor_reshape', (scope) => scope.array('i64', shape), shape.length);
  }

  /** Axis i is axis order[i]. */
  permute(order) {
    return this.#view('hg_tensor_permute', (scope) => scope.array('i32', order), order.length);
  }

  /** The two axes of a matrix swapped. */
  transpose() {
    return this.#view('hg_tensor_transpose');
  }

  /** start, start + step, … before stop of an axis; negative numbers count from its end. */
  slice(axis, start, stop = 9223372036854775807n, step = 1) {
    return this.#view('hg_tensor_slice', axis, start, stop, step);
  }

  /** Itself where its elements lie one behind the other, else a copy. */
  contiguous() {
    return this.#view('hg_tensor_contiguous');
  }

  toString() {
    return this.core.takeText(this.core.made('hg_tensor_print', this.address));
  }
}

inspected(Tensor, (tensor) => (tensor.backend.waits ? String(tensor) : `${tensor.type} [${tensor.shape.join(', ')}] on ${tensor.backend.name}`));

const OPTIONS = ['axes', 'keepdims', 'flag', 'type', 'sizes', 'numbers', 'backend'];

/**
 * hg.ops: every operation of docs/reference/tensor-operations.md by its name, with tensors, then options: { axes, keepdims, flag, type,
 * sizes, numbers }. Gives a tensor, or an array of them.
 */
export function makeOperations(hg) {
  const { core } = hg;
  const ops = {};
  for (const [name, results] of Object.entries(operations)) {
    ops[name] = (...args) => {
      const options = args.length && !(args.at(-1) instanceof Tensor) ? args.pop() : {};
      for (const one of args) if (!(one instanceof Tensor)) throw new HologramError(`${name}: tensors are expected, then an object of options`);
      expectOptions(options, OPTIONS, name);
      const backend = args[0]?.backend ?? hg.backend(options.backend);
      return core.scope((scope) => {
        const { axes, sizes, numbers = [], type, keepdims = false, flag = false } = options;
        const at = scope.structure('hg_ops_options', { type: type ? elementOf(type).code : values.HG_TYPE_COUNT, keepdims, flag,
          axes: axes ? scope.array('i64', axes) : 0, axis_count: axes?.length ?? 0, sizes: sizes ? scope.array('u64', sizes) : 0,
          size_count: sizes?.length ?? 0, numbers });
        const out = scope.zeros(4 * results);
        core.try('hg_ops_call', backend.executor.address, values[`HG_OPS_${name.toUpperCase()}`], scope.array('ptr', args.map((one) => one.address)),
          args.length, at, out, results);
        const made = Array.from({ length: results }, (_, i) => new Tensor(hg, core.view.getUint32(out + 4 * i, true), backend));
        return results === 1 ? made[0] : made;
      });
    };
  }
  return Object.freeze(ops);
}
