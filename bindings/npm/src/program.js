// Programs, what they are bound to, and running them. Must not know: how elements look in JavaScript (types.js).
import { HologramError, bytesOf, expectInteger, expectText, plain, values } from './core.js';
import { withDiagnostics } from './diagnostics.js';
import { count, solve } from './extents.js';
import { inspected } from './handles.js';
import { Bound, Runnable, arrayOf } from './runnable.js';
import { typeOf } from './types.js';

const KINDS = new Map([[values.HG_PARAM_SCALAR, 'scalar'], [values.HG_PARAM_BUFFER, 'buffer'], [values.HG_PARAM_POOL, 'pool']]);
const OPTIONS = ['backend', 'lanes', 'grid', 'block', 'timeoutMs', 'maxSteps', 'signal'];
const DIRECTIONS = [null, 'in', 'out', 'inout'];

export class Program extends Runnable {
  #params = null;

  constructor(hg, address) {
    super(hg, address, 'hg_program_release', OPTIONS);
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
      try {
        return new Program(hg, withDiagnostics(core, name, text,
          (list, made) => core.call('hg_program_assemble_with', source.at, source.length, options, list, made)));
      } catch (error) {
        throw trouble ?? error;
      } finally {
        hg.answered(number);
      }
    });
  }

  static decode(hg, bytes) {
    const { core } = hg;
    return core.scope((scope) => {
      const at = scope.bytes(bytesOf(bytes, 'decode'));
      return new Program(hg, withDiagnostics(core, 'program.atlasb', '', (list, made) => core.call('hg_program_decode', at, bytes.byteLength, list, made)));
    });
  }

  static jsonKernel(hg, kernel, name) {
    const { core } = hg;
    const text = typeof kernel === 'string' ? kernel : JSON.stringify(kernel);
    return core.scope((scope) => {
      const source = scope.text(text);
      return new Program(hg, withDiagnostics(core, 'kernel.json', text,
        (list, made) => core.call('hg_json_to_isa_translate_named', source.at, source.length, name, list, made)));
    });
  }

  static named(hg, name) {
    return new Program(hg, hg.core.made('hg_kernel_by_name', expectText(name, 'kernel')));
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
      const { lanes_count: lanes, grid_count: grid, ...said } = plain(core.read('hg_program_description', at));
      return { ...said, lanes: said.lanes.slice(0, lanes), grid: said.grid.slice(0, grid) };
    });
  }

  /** Its canonical text. */
  get text() {
    return this.printed('hg_program_print');
  }

  /** Its text as statements, where it has that form. */
  get structured() {
    return this.printed('hg_program_print_structured');
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
      const [at, length] = [out, out + 4].map((place) => core.view.getUint32(place, true));
      const bytes = core.bytes.slice(at, at + length);
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

  compile(backend) {
    return [this.core.made('hg_executable_create', backend.backend, this.address), 'hg_executable_destroy'];
  }

  setValues(held, given) {
    const names = this.params.map((p) => p.name);
    for (const name of Object.keys(given))
      if (!names.includes(name)) throw new HologramError(`${this.name}: no parameter is called '${name}': there are ${names.join(', ') || 'none'}`);
    const numbers = new Map();
    const shaped = [];
    for (const p of this.params) {
      const value = given[p.name];
      if (value === undefined) continue;
      if (p.kind === 'scalar') {
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
    for (const p of this.params) // what no array tells is the program's own
      if (p.kind === 'scalar' && !numbers.has(p.name) && /^\d+$/.test(p.default)) numbers.set(p.name, Number(p.default));
    solve(shaped, numbers);
    for (const p of this.params) {
      if (given[p.name] !== undefined) continue;
      if (p.kind === 'scalar' && numbers.has(p.name)) held.scalar(p.name, typeOf(p.type), numbers.get(p.name));
      if (p.kind !== 'buffer') continue;
      const length = p.direction === 'out' && p.dims ? count(p.dims, numbers) : undefined;
      if (length === undefined)
        throw new HologramError(`${this.name}: ${p.name} is missing: an array of ${p.type}${p.dims ? `[${p.dims.join(', ')}]` : ''} is expected` +
          (p.direction === 'out' ? `, or numbers that its extents follow from` : ''));
      held.array(p.name, typeOf(p.type), held.zeros(typeOf(p.type), length));
    }
  }

  bound(executable, held, options) {
    const { core } = this;
    return core.scope((scope) => new Binding(this, executable, held,
      core.made('hg_binding_create', executable.address, launchOf(scope, options), held.address)));
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

inspected(Program, (program) => `${program.name}(${program.params.map(({ name }) => name).join(', ')})`);

class Binding extends Bound {
  constructor(program, executable, held, address) {
    const written = program.params.filter((p) => p.direction === 'out' || p.direction === 'inout');
    super(program, held, address, 'hg_binding_destroy', executable, written.map((p) => p.name));
  }

  launch() {
    this.core.try('hg_binding_launch', this.address);
  }

  start() {
    return this.queue ? this.queue.launch(this.address) : this.core.made('hg_binding_start', this.address, 0);
  }
}
