// The same hash: ten programs on every backend of the browser, beside the native library, whose hashes build.py wrote.
import { Engine, Stopped } from './engine.js';
import { HASHED, textOf } from './samples.js';

const SHOWN = 12; // digits of a hash
const COLUMNS = ['native', 'wasm', 'webgpu'];

export class Hashes {
  #device;
  #engine = new Engine();
  #parts = {};
  #rows = new Map(); // file → column → cell

  constructor(root, device, open) {
    this.#device = device;
    for (const name of ['compare', 'halt', 'verdict', 'hash-rows', 'native-note']) this.#parts[name] = root.querySelector(`#${name}`);
    const { compare, halt, 'hash-rows': body } = this.#parts;
    for (const { file, title } of HASHED) {
      const row = body.insertRow();
      const name = document.createElement('th');
      name.scope = 'row';
      const link = Object.assign(document.createElement('a'), { href: '#editor', textContent: title });
      link.addEventListener('click', () => open(file));
      name.append(link);
      row.append(name);
      const cells = {};
      for (const column of [...COLUMNS, 'same']) {
        cells[column] = row.insertCell();
        cells[column].dataset.label = { webgpu: 'WebGPU', same: 'equal' }[column] ?? column;
      }
      this.#rows.set(file, cells);
    }
    compare.addEventListener('click', () => this.compare());
    halt.addEventListener('click', () => this.#engine.stop());
  }

  async compare() {
    const { compare, halt } = this.#parts;
    compare.disabled = true;
    halt.disabled = false;
    try {
      this.#judge('running …', '');
      await this.#all();
    } catch (error) {
      this.#judge(error instanceof Stopped ? 'stopped' : error.message, error instanceof Stopped ? '' : 'bad');
    }
    compare.disabled = false;
    halt.disabled = true;
  }

  async #all() {
    const response = await fetch(new URL('native.json', import.meta.url), { cache: 'no-store' });
    if (!response.ok) throw new Error(`native.json: the server answered ${response.status}: make web writes it`);
    const native = await response.json();
    this.#parts['native-note'].textContent = `The native hashes are of ${native.library} on ${native.machine}.`;
    const { available, reason } = await this.#device.probe(this.#engine);
    const backends = available ? ['wasm', 'webgpu'] : ['wasm'];
    for (const cells of this.#rows.values()) for (const column of [...COLUMNS, 'same']) this.#show(cells[column], '');
    let equal = 0;
    for (const { file } of HASHED) {
      const cells = this.#rows.get(file);
      const text = await textOf(file);
      const wanted = native.hashes[file];
      const found = [];
      this.#show(cells.native, wanted ?? 'missing');
      if (!available) this.#show(cells.webgpu, 'not supported', reason);
      for (const backend of backends) {
        this.#show(cells[backend], '…');
        const { digest, ms, error } = await this.#digest(text, backend);
        found.push(digest);
        this.#show(cells[backend], digest ?? error, digest ? `${digest}, ${ms.toFixed(0)} ms` : error);
      }
      const same = found.every((digest) => digest && digest === wanted);
      equal += same;
      cells.same.textContent = same ? '✓' : '✗';
      cells.same.className = same ? 'good' : 'bad';
    }
    const where = available ? 'wasm, WebGPU and the native library' : 'wasm and the native library (WebGPU not supported in this browser)';
    if (equal === HASHED.length) this.#judge(`All ${equal} equal: ${where}`, 'good');
    else this.#judge(`${HASHED.length - equal} of ${HASHED.length} differ`, 'bad');
  }

  async #digest(text, backend) {
    try {
      return await this.#engine.call('digest', text, backend);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      return { error: error.message };
    }
  }

  #show(cell, text, title = text) {
    const digest = /^[0-9a-f]{64}$/.test(text);
    cell.textContent = digest ? text.slice(0, SHOWN) : text;
    cell.title = title ?? '';
    cell.className = digest ? 'digest' : '';
  }

  #judge(text, kind) {
    Object.assign(this.#parts.verdict, { textContent: text, className: `status ${kind}` });
  }
}
