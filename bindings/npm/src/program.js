// Programs, what they are bound to, and running them. Must not know: how elements look in JavaScript (types.js).
import { Buffer, finish, mayBegin } from './backend.js';
import { HologramError, bytesOf, expectInteger, expectOptions, expectText, kindOf, values } from './core.js';
import { withDiagnostics } from './diagnostics.js';
import { count, solve } from './extents.js';
import { Handle, makeToken } from './handles.js';
import { Tensor } from './tensor.js';
import { storeElement, toBytes, typeOf } from './types.js';

const KINDS = new Map([[values.HG_PARAM_SCALAR, 'scalar'], [values.HG_PARAM_BUFFER, 'buffer'], [values.HG_PARAM_POOL, 'pool']]);
const OPTIONS = ['backend', 'lanes', 'grid', 'block', 'timeoutMs', 'maxSteps', 'signal'];
const DIRECTIONS = [null, 'in', 'out', 'inout'];

/** A text that a call makes, freed. */
export function printed(core, name, address) {
  return core.scope((scope) => {
    const out = scope.zeros(4);
    core.try(name, address, out, 0);
    const at = core.view.getUint32(out, true);
    const text = core.text(at);
    core.call('hg_string_free', at);
    return text;
  });
}

function handleAt(core, at) {
  return core.view.getUint32(at, true);
}

export class Program extends Handle {
  #params = null;
  #executables = new WeakMap(); // token of a backend → token
  busy = 0; // runs that are under way

  constructor(hg, address) {
    super(hg.core, address, 'hg_program_release', [hg.token]);
    this.hg = hg;
  }

  static assemble(hg, text, { defines = {}, program = null, name = 'program.atlas', resolve = null } = {}) {
    const { core } = hg;
    expectText(text, 'assemble');
    expectText(name, 'name');
    return core.scope((scope) => {
      const words = Object.entries(defines).map(([key, value]) => scope.text(`${key}=${value}`).at);
      let trouble = null;
      const number = resolve && hg.answer((from, wanted, out) => {
        try {
          const file = core.text(wanted);
          const found = resolve(file, core.text(from));
          const data = typeof found === 'string' ? new TextEncoder().encode(found) : bytesOf(found, `resolve('${file}')`, 'a text or bytes');
          core.set('hg_source', out, 'name', scope.text(file).at);
          core.set('hg_source', out, 'bytes', scope.bytes(data));
          core.set('hg_source', out, 'length', data.length);
          return values.HG_OK;
        } catch (error) {
          trouble = error;
          return values.HG_ERROR_IO;
        }
      });
      const options = scope.structure('hg_assemble_options', { defines: scope.array('ptr', words), define_count: words.length, program,
        source_name: name, ...(resolve ? { resolve: core.exports.hologram_resolve(), user: number } : {}) });
      const source = scope.text(text);
      const made = scope.zeros(4);
      try {
        withDiagnostics(core, name, text, (list) => core.call('hg_program_assemble_with', source.at, source.length, options, list, made));
      } catch (error) {
        throw trouble ?? error;
      } finally {
        hg.answered(number);
      }
      return new Program(hg, handleAt(core, made));
    });
  }

  static decode(hg, bytes) {
    const { core } = hg;
    return core.scope((scope) => {
      const made = scope.zeros(4);
      const at = scope.bytes(bytesOf(bytes, 'decode'));
      withDiagnostics(core, 'program.atlasb', '', (list) => core.call('hg_program_decode', at, bytes.byteLength, list, made));
      return new Program(hg, handleAt(core, made));
    });
  }

  static jsonKernel(hg, kernel, name) {
    const { core } = hg;
    const text = typeof kernel === 'string' ? kernel : JSON.stringify(kernel);
    return core.scope((scope) => {
      const made = scope.zeros(4);
      const source = scope.text(text);
      withDiagnostics(core, 'kernel.json', text,
        (list) => core.call('hg_json_to_isa_translate_named', source.at, source.length, name, list, made));
      return new Program(hg, handleAt(core, made));
    });
  }

  static named(hg, name) {
    return hg.core.scope((scope) => {
      const made = scope.zeros(4);
      hg.core.try('hg_kernel_by_name', expectText(name, 'kernel'), made);
      return new Program(hg, handleAt(hg.core, made));
    });
  }

  get name() {
    return this.core.call('hg_program_name', this.address);
  }

  /** Number of instructions. */
  get length() {
    return this.core.call('hg_program_len', this.address);
  }

  /** BLAKE3 of code, parameters and launch defaults, as hexadecimal digits. */
  get hash() {
    const at = this.core.call('hg_program_hash', this.address);
    return Array.from(this.core.bytes.slice(at, at + 32), (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  /** [{ name, kind, type, direction, dims, default }]: kind 'scalar', 'buffer' or 'pool'; dims null: any shape. */
  get params() {
    const { core } = this;
    this.#params ??= core.scope((scope) => Array.from({ length: core.call('hg_program_param_count', this.address) }, (_, i) => {
      const at = scope.structure('hg_param_description');
      core.try('hg_program_param', this.address, i, at);
      const p = core.read('hg_param_description', at);
      const kind = KINDS.get(p.kind);
      return Object.freeze({ name: p.name, kind, type: kind === 'pool' ? null : typeOf(p.type).name, direction: DIRECTIONS[p.dir],
        dims: kind === 'buffer' && p.rank <= 8 ? p.dims.slice(0, p.rank) : null, default: p.default_text });
    }));
    return this.#params;
  }

  /** What it says of itself: { lanes, grid, block, instructions, shared_bytes, private_bytes, relaxed, … } */
  describe() {
    const { core } = this;
    return core.scope((scope) => {
      const at = scope.structure('hg_program_description');
      core.try('hg_program_describe', this.address, at);
      const { lanes_count: lanes, grid_count: grid, ...said } = core.read('hg_program_description', at);
      return { ...said, lanes: said.lanes.slice(0, lanes), grid: said.grid.slice(0, grid) };
    });
  }

  /** Its canonical text. */
  get text() {
    return printed(this.core, 'hg_program_print', this.address);
  }

  /** Its text as statements, where it has that form. */
  get structured() {
    return printed(this.core, 'hg_program_print_structured', this.address);
  }

  /** Checks all that can be known before it runs; throws with diagnostics. */
  verify() {
    withDiagnostics(this.core, this.name, this.text, (list) => this.core.call('hg_program_verify', this.address, list));
  }

  #bytes(name, ...args) {
    const { core } = this;
    return core.scope((scope) => {
      const out = scope.zeros(8);
      core.try(name, this.address, ...args.map((arg) => (typeof arg === 'function' ? arg(scope) : arg)), out, out + 4);
      const at = handleAt(core, out);
      const bytes = core.bytes.slice(at, at + handleAt(core, out + 4));
      core.call('hg_string_free', at);
      return bytes;
    });
  }

  /** The bytes of an .atlasb file. */
  encode({ debug = false } = {}) {
    return this.#bytes('hg_program_encode', debug ? values.HG_PROGRAM_DEBUG : 0);
  }

  /** What a target makes of it: 'wgsl', 'opencl', 'spirv', 'kir', …; text, or bytes of a binary target. */
  emit(target, options = {}) {
    const { core } = this;
    const bytes = this.#bytes('hg_program_emit', expectText(target, 'emit'), (scope) => scope.structure('hg_emit_options', options));
    for (let i = 0, at; (at = core.call('hg_emit_target_get', i)); i++)
      if (core.get('hg_emit_target', at, 'name') === target && core.get('hg_emit_target', at, 'binary')) return bytes;
    return new TextDecoder().decode(bytes);
  }

  /** Its hg_executable on a backend, made once. */
  executable(backend) {
    let found = this.#executables.get(backend.token);
    if (!found?.address) {
      const { core } = this;
      const made = core.scope((scope) => {
        const out = scope.zeros(4);
        core.try('hg_executable_create', backend.backend, this.address, out);
        return handleAt(core, out);
      });
      found = makeToken(core, made, 'hg_executable_destroy', [this.token, backend.token]);
      this.#executables.set(backend.token, found);
    }
    return found;
  }

  /**
   * A launch with these arrays and numbers, checked once. Arrays are copied to buffers of the binding; a Buffer or Tensor is used itself.
   * { backend, lanes, grid, block, timeoutMs, maxSteps }
   */
  bind(given = {}, options = {}) {
    return new Binding(this, given, options);
  }

  /** Runs it once. Gives what it wrote: { y: Float32Array }. The options of bind, and signal: an AbortSignal. */
  async run(given = {}, options = {}) {
    options.signal?.throwIfAborted();
    this.busy++;
    let binding = null;
    try {
      binding = this.bind(given, options);
      await binding.run(options);
      return binding.results();
    } finally {
      this.busy--;
      binding?.dispose();
    }
  }
}

function launchOf(scope, options) {
  const { lanes, grid, block, timeoutMs = 0, maxSteps = 0 } = options;
  if (lanes === undefined && !grid && !block && !timeoutMs && !maxSteps) return 0;
  if (lanes !== undefined && (grid || block)) throw new HologramError('lanes and grid or block: one of both says how many lanes run');
  const { core } = scope;
  const three = (value, what) => {
    const all = Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value) : [value ?? 1];
    if (all.length > 3) throw new HologramError(`${what}: at most 3 numbers are expected, not ${all.length}`);
    return [...all, 1, 1].slice(0, 3);
  };
  const at = scope.structure('hg_launch', { timeout_ms: expectInteger('u64', timeoutMs, 'timeoutMs'), max_steps: expectInteger('u64', maxSteps, 'maxSteps') });
  if (lanes !== undefined) {
    core.call('hg_launch_set_linear', at, expectInteger('u64', lanes, 'lanes'));
  } else if (grid || block) {
    core.set('hg_launch', at, 'grid', three(grid, 'grid'));
    core.set('hg_launch', at, 'block', three(block, 'block'));
  } else {
    core.set('hg_launch', at, 'extents', values.HG_EXTENTS_PROGRAM);
  }
  return at;
}

/** Values of parameters: hg_params, and the buffers that were made for them. */
export class Values {
  constructor(backend) {
    this.backend = backend;
    this.core = backend.core;
    this.address = this.core.call('hg_params_create');
    if (!this.address) throw new HologramError('out of memory', { status: 'HG_ERROR_OUT_OF_MEMORY' });
    this.buffers = new Map(); // name → Buffer or Tensor: alive as long as they are bound
    this.own = [];
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
      buffer.writeBytes(bytes);
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

export class Binding extends Handle {
  constructor(program, given, options) {
    const { hg, core } = program;
    expectOptions(options, OPTIONS, 'bind');
    const backend = hg.backend(options.backend);
    const held = new Values(backend);
    try {
      const names = program.params.map((p) => p.name);
      for (const name of Object.keys(given))
        if (!names.includes(name)) throw new HologramError(`${program.name}: no parameter is called '${name}': there are ${names.join(', ') || 'none'}`);
      const numbers = new Map();
      const shaped = [];
      for (const p of program.params) {
        const value = given[p.name];
        if (value === undefined) {
          if (p.kind === 'scalar' && /^\d+$/.test(p.default)) numbers.set(p.name, Number(p.default));
        } else if (p.kind === 'scalar') {
          held.scalar(p.name, typeOf(p.type), value);
          numbers.set(p.name, Number(value));
        } else if (p.kind === 'buffer') {
          const { data, shape } = arrayOf(value);
          const length = held.array(p.name, typeOf(p.type), data);
          if (p.dims) shaped.push({ dims: p.dims, shape, length });
        } else {
          throw new HologramError(`${p.name}: pools are the launch's own`);
        }
      }
      solve(shaped, numbers);
      for (const p of program.params) {
        if (given[p.name] !== undefined) continue;
        if (p.kind === 'scalar' && p.default === null && numbers.has(p.name)) held.scalar(p.name, typeOf(p.type), numbers.get(p.name));
        if (p.kind !== 'buffer') continue;
        const length = p.direction === 'out' && p.dims ? count(p.dims, numbers) : undefined;
        if (length === undefined)
          throw new HologramError(`${program.name}: ${p.name} is missing: an array of ${p.type}${p.dims ? `[${p.dims.join(', ')}]` : ''} is expected` +
            (p.direction === 'out' ? `, or numbers that its extents follow from` : ''));
        held.array(p.name, typeOf(p.type), held.zeros(typeOf(p.type), length));
      }
      const executable = program.executable(backend);
      const address = core.scope((scope) => {
        const out = scope.zeros(4);
        core.try('hg_binding_create', executable.address, launchOf(scope, options), held.address, out);
        return handleAt(core, out);
      });
      super(core, address, 'hg_binding_destroy', [executable]);
      held.freeParams();
    } catch (error) {
      held.dispose();
      throw error;
    }
    this.program = program;
    this.backend = backend;
    this.buffers = held.buffers;
    this.own = held.own;
  }

  /** Runs it and waits: for workers and Node. */
  launch() {
    this.core.try('hg_binding_launch', this.address);
  }

  /** Runs it; the promise is fulfilled when it is over. signal: an AbortSignal that ends it where the device can. */
  async run({ signal } = {}) {
    await mayBegin(signal);
    const { core } = this;
    const event = core.scope((scope) => {
      const out = scope.zeros(4);
      core.try('hg_binding_start', this.address, 0, out);
      return handleAt(core, out);
    });
    await finish(this.backend, event, signal);
  }

  /** Copies of the arrays that the program writes. */
  results() {
    const found = {};
    for (const p of this.program.params)
      if (p.direction === 'out' || p.direction === 'inout') {
        const buffer = this.buffers.get(p.name);
        if (buffer instanceof Buffer) found[p.name] = buffer.read();
      }
    return found;
  }

  dispose() {
    super.dispose();
    for (const buffer of this.own) buffer.dispose();
  }
}
