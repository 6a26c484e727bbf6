// Array graphs: bound to arrays by the names of their inputs and outputs. Must not know: programs' parameters.
import { HologramError, expectInteger, expectText, kindOf, values } from './core.js';
import { withDiagnostics } from './diagnostics.js';
import { count, solve } from './extents.js';
import { inspected } from './handles.js';
import { Program } from './program.js';
import { Queue } from './queue.js';
import { Bound, Runnable, arrayOf } from './runnable.js';
import { TYPES, typeOf, typeOfArray } from './types.js';

export class Graph extends Runnable {
  constructor(hg, text, { name = 'program.graph', programs = null } = {}) {
    const { core } = hg;
    expectText(text, 'graph');
    expectText(name, 'name');
    const address = core.scope((scope) => {
      const source = scope.text(text);
      let trouble = null;
      const number = programs && hg.answer((file, list, out) => {
        try {
          const program = programs(core.text(file));
          if (!(program instanceof Program)) throw new HologramError(`programs('${core.text(file)}'): a Program is expected, not ${kindOf(program)}`);
          core.view.setUint32(out, core.call('hg_program_retain', program.address), true);
          return values.HG_OK;
        } catch (error) {
          trouble = error;
          return values.HG_ERROR_IO;
        }
      });
      const options = programs ? scope.structure('hg_graph_read_options', { program: core.exports.hologram_graph_program(), user: number }) : 0;
      try {
        return withDiagnostics(core, name, text, (list, made) => core.call('hg_graph_read_text', source.at, source.length, options, list, made));
      } catch (error) {
        throw trouble ?? error;
      } finally {
        hg.answered(number);
      }
    });
    super(hg, address, 'hg_graph_release', ['backend', 'signal']);
    // What its text declares, in the canonical form.
    const lines = this.text.split('\n');
    this.extents = lines.flatMap((line) => (line.startsWith('.extent') ? line.slice(7).match(/\w+/g) : []));
    this.inputs = new Map();
    for (const line of lines) {
      const found = /^\.(?:input|constant)\s+(\w+)\s+(\w+)\s*\[(.*?)\]/.exec(line);
      if (found) this.inputs.set(found[1], { type: found[2], dims: found[3].split(',').map((dim) => dim.trim()).filter(Boolean) });
    }
    this.outputs = lines.flatMap((line) => /^\.output\s+(\w+)/.exec(line)?.[1] ?? []);
    this.made = new Map(); // what its calls make
    for (const line of lines)
      for (const [, name, type, dims] of (line[0] === '.' ? '' : line.split(' = ')[0]).matchAll(/(\w+) (\w+) \[(.*?)\]/g))
        if (TYPES.has(type)) this.made.set(name, { type, dims: dims.split(/,(?![^(]*\))/).map((dim) => dim.trim()).filter(Boolean) });
  }

  /** Its canonical text. */
  get text() {
    return this.printed('hg_graph_print');
  }

  compile(backend) {
    return [this.core.made('hg_graph_compile', backend.backend, this.address, 0), 'hg_graph_executable_destroy'];
  }

  /** Inputs, and numbers for symbols that no shape says; outputs too, where an array or Buffer of their size is to be used. */
  setValues(held, given) {
    const numbers = new Map();
    const shaped = [];
    for (const [name, value] of Object.entries(given)) {
      if (this.extents.includes(name)) {
        numbers.set(name, Number(expectInteger('u64', value, name)));
        continue;
      }
      const input = this.inputs.get(name);
      if (!input && !this.outputs.includes(name))
        throw new HologramError(`no input, output or symbol of the graph is called '${name}': there are ` +
          [...this.inputs.keys(), ...this.outputs, ...this.extents].join(', '));
      const { data, shape } = arrayOf(value);
      const type = typeOf((input ?? this.made.get(name))?.type ?? data?.type ?? typeOfArray(data)?.name);
      const length = held.array(name, type, data);
      if (input) shaped.push({ dims: input.dims, shape, length });
    }
    solve(shaped, numbers);
    for (const name of this.outputs) {
      if (given[name] !== undefined) continue;
      const made = this.made.get(name);
      const length = made && count(made.dims, numbers);
      if (length === undefined)
        throw new HologramError(`output ${name}${made ? ` ${made.type} [${made.dims.join(', ')}]` : ''} is missing: its size does not follow from what was ` +
          `given; give numbers for ${this.extents.filter((symbol) => !numbers.has(symbol)).join(', ') || 'its extents'}, or an array of its size`);
      held.array(name, typeOf(made.type), held.zeros(typeOf(made.type), length));
    }
    for (const name of this.extents) if (numbers.has(name)) held.scalar(name, typeOf('u64'), numbers.get(name));
  }

  bound(executable, held) {
    held.queue ??= new Queue(held.backend);
    return new GraphBinding(this, executable, held, this.core.made('hg_graph_bind', executable.address, held.address));
  }
}

inspected(Graph, ({ inputs, outputs }) => `(${[...inputs.keys()].join(', ')}) → (${outputs.join(', ')})`);

class GraphBinding extends Bound {
  constructor(graph, executable, held, address) {
    const written = [...held.buffers.keys()].filter((name) => !graph.inputs.has(name));
    super(graph, held, address, 'hg_graph_binding_destroy', executable, written);
  }

  launch() {
    this.core.try('hg_graph_binding_launch', this.address);
  }

  start() {
    return this.core.made('hg_graph_binding_submit', this.address, this.queue.address, 0, 0);
  }
}
