// Circuits over the arrays of 96 classes. Must not know: programs' parameters.
import { HologramError, Scope, expectText, kindOf, layout } from './core.js';
import { withDiagnostics } from './diagnostics.js';
import { Handle, inspected } from './handles.js';
import { Program } from './program.js';
import { Queue } from './queue.js';
import { fromBytes, toBytes, typeOf } from './types.js';

export class Circuit extends Handle {
  constructor(hg, text, { name = 'circuit', type = 'f32' } = {}) {
    const { core } = hg;
    expectText(text, 'circuit');
    expectText(name, 'name');
    const { size } = layout('hg_translated_program');
    const at = core.allocate(size);
    core.bytes.fill(0, at, at + size);
    core.set('hg_translated_program', at, 'size', size);
    try {
      core.scope((scope) => {
        const source = scope.text(text);
        const options = scope.structure('hg_circuit_options', { name, type });
        withDiagnostics(core, name, text, (list) => core.call('hg_circuit_to_isa_translate', source.at, source.length, options, list, at));
      });
    } catch (error) {
      core.free(at);
      throw error;
    }
    super(core, at, (own, address) => {
      own.call('hg_translated_program_release', address);
      own.free(address);
    }, [hg.token]);
    this.hg = hg;
    const { original_expr: original, canonical_expr: canonical, element_type: code, program } = core.read('hg_translated_program', at);
    Object.assign(this, { original, canonical, type: typeOf(Number(code)).name });
    this.program = new Program(hg, core.call('hg_program_retain', program));
  }

  /** What a run takes, in memory of the scope, and results(), which gives { class: elements } when it is over. */
  #prepared(scope, inputs, outputs, elements) {
    const { core } = this;
    const type = typeOf(this.type);
    if (!Number.isSafeInteger(elements) || elements < 0) throw new HologramError(`elements: their number is expected, not ${elements}`);
    if (inputs === null || typeof inputs !== 'object' || !Array.isArray(outputs))
      throw new HologramError(`run: { class: elements } and [class, …] are expected, not ${kindOf(inputs)} and ${kindOf(outputs)}`);
    const given = new Map(Object.entries(inputs).map(([cls, data]) => [Number(cls), core.stable(toBytes(type, data, `class ${cls}`))]));
    const most = elements || Math.max(0, ...[...given.values()].map((bytes) => bytes.length / type.bytes));
    const classes = [...new Set([...given.keys(), ...outputs.map(Number)])].sort((a, b) => a - b);
    for (const cls of classes) if (!(Number.isInteger(cls) && cls >= 0 && cls < 96)) throw new HologramError(`class ${cls}: a number below 96 is expected`);
    const { size } = layout('hg_class_array');
    const rows = scope.zeros(size * Math.max(classes.length, 1));
    const made = new Map();
    classes.forEach((cls, i) => {
      const row = rows + i * size;
      core.set('hg_class_array', row, 'cls', cls);
      const bytes = given.get(cls);
      if (bytes?.length) {
        core.set('hg_class_array', row, 'input', scope.bytes(bytes));
        core.set('hg_class_array', row, 'input_count', bytes.length / type.bytes);
      }
      if (outputs.map(Number).includes(cls)) {
        made.set(cls, scope.zeros(most * type.bytes));
        core.set('hg_class_array', row, 'output', made.get(cls));
        core.set('hg_class_array', row, 'output_count', most);
      }
    });
    const launch = scope.structure('hg_circuit_launch', { elements: most });
    const results = () => Object.fromEntries([...made].map(([cls, at]) => [cls, fromBytes(type, core.bytes.subarray(at, at + most * type.bytes))]));
    return { launch, rows, count: classes.length, results };
  }

  /** Runs it: inputs { class: elements }, outputs: the classes that are wanted. Gives { class: elements }, as many as the longest input has. */
  run(inputs, outputs, { elements = 0, backend = 'auto' } = {}) {
    return this.core.scope((scope) => {
      const { launch, rows, count, results } = this.#prepared(scope, inputs, outputs, elements);
      this.core.try('hg_circuit_run', this.hg.backend(backend).backend, this.address, launch, rows, count);
      return results();
    });
  }

  /** A promise of the same, on every backend. */
  async runAsync(inputs, outputs, { elements = 0, backend = 'auto' } = {}) {
    const device = await this.hg.opened(backend);
    if (device.waits) return this.run(inputs, outputs, { elements, backend: device });
    const queue = new Queue(device);
    const scope = new Scope(this.core); // what the device reads and writes stays until it is over
    try {
      const { launch, rows, count, results } = this.#prepared(scope, inputs, outputs, elements);
      await queue.over(this.core.made('hg_circuit_submit', queue.address, this.address, launch, rows, count, 0, 0));
      return results();
    } catch (error) {
      this.hg.note(error, device);
      throw error;
    } finally {
      queue.release();
      scope.free();
    }
  }

  dispose() {
    this.program.dispose();
    super.dispose();
  }
}

inspected(Circuit, (circuit) => circuit.canonical);
