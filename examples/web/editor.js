// The editor: a program's text with its errors in place, the WGSL beside it, its inputs, and what it wrote.
import { Code } from './code.js';
import { Engine, Stopped, first } from './engine.js';
import { Form } from './form.js';
import { showResults } from './results.js';
import { SAMPLES, textOf } from './samples.js';

const PAUSE = 150; // milliseconds of rest before a text is checked

export class Editor {
  #device;
  #runner = first;
  #checker = new Engine(); // of its own: errors are shown while a program runs
  #code;
  #form;
  #parts = {};
  #turn = 0; // the youngest text
  #running = 0; // runs that are under way
  #pause = 0;
  #preset = null;
  #visible = false;
  #ran = null; // the last run: { text, values }
  #computed;
  /** A promise of the first result. */
  computed = new Promise((go) => { this.#computed = go; });

  constructor(root, device) {
    this.#device = device;
    for (const name of ['sample', 'run', 'stop', 'status', 'problems', 'wgsl', 'wgsl-note', 'results'])
      this.#parts[name] = root.querySelector(`#${name}`);
    this.#code = new Code(root.querySelector('.code'), () => {
      clearTimeout(this.#pause);
      this.#pause = setTimeout(() => this.#check(), PAUSE);
    });
    this.#form = new Form(root.querySelector('#inputs'));
    const { sample, run, stop } = this.#parts;
    sample.append(...SAMPLES.map(({ title, file }) => new Option(title, file)));
    sample.addEventListener('change', () => this.open(sample.value, true));
    run.addEventListener('click', () => this.run());
    stop.addEventListener('click', () => this.#runner.stop());
    root.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.run();
    });
  }

  show() {
    this.#visible = true;
    this.prepare();
  }

  hide() {
    this.#visible = false;
  }

  /** The engine that runs programs, for what the page asks of a device. */
  get engine() {
    return this.#runner;
  }

  /** Shows a sample; run: computes it too. */
  async open(file, run = false) {
    const sample = SAMPLES.find((one) => one.file === file);
    this.#parts.sample.value = file;
    try {
      const text = await textOf(file);
      if (this.#parts.sample.value !== file) return; // another one was chosen meanwhile
      this.#code.text = text;
    } catch (error) {
      this.#say(error.message, 'bad');
      return;
    }
    this.#preset = sample?.values ?? {};
    this.#parts.results.replaceChildren();
    this.#say('');
    if (run) await this.run();
    else await this.#check();
  }

  /** Runs what stands in the editor, with the inputs of the form. */
  async run() {
    clearTimeout(this.#pause);
    const text = this.#code.text;
    if (this.#running) this.#runner.stop();
    const turn = ++this.#turn;
    this.#busy(1);
    try {
      if (!(await this.#checked(this.#runner, text, turn))) return;
      const { values, lanes } = this.#form.read();
      this.#say(`running on ${this.#device.name} …`);
      const { arrays, ms } = await this.#runner.call('run', text, values, this.#device.name, lanes);
      showResults(this.#parts.results, arrays);
      this.#ran = { text, values };
      this.#say(`${this.#device.name === 'wasm' ? 'wasm' : 'WebGPU'}, ${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`, 'good');
      performance.mark('first result');
      this.#computed();
      this.prepare();
    } catch (error) {
      if (error instanceof Stopped) {
        if (this.#running === 1) this.#say('stopped'); // else another one runs
        return;
      }
      this.#fail(error, turn);
    } finally {
      this.#busy(-1);
    }
    await this.#print(text, turn);
  }

  /** Has what ran compiled for WebGPU too, while it is looked at. */
  prepare() {
    if (!this.#visible || !this.#ran || !this.#device.available || this.#device.name === 'webgpu') return;
    this.#runner.call('prepare', this.#ran.text, this.#ran.values, 'webgpu').catch(() => {}); // a run says what is wrong
  }

  async #check() {
    const text = this.#code.text;
    const turn = ++this.#turn;
    try {
      if (await this.#checked(this.#checker, text, turn)) await this.#print(text, turn);
    } catch (error) {
      if (!(error instanceof Stopped)) this.#fail(error, turn);
    }
  }

  /** Shows the errors of a text, or the form of its inputs: true. */
  async #checked(engine, text, turn) {
    const { problems } = this.#parts;
    try {
      const found = await engine.call('check', text);
      if (turn !== this.#turn) return false;
      this.#code.mark([]);
      problems.replaceChildren();
      this.#form.show(found, this.#preset);
      this.#preset = null;
      return true;
    } catch (error) {
      if (turn !== this.#turn) return false;
      if (!error.diagnostics?.length) throw error;
      this.#code.mark(error.diagnostics);
      problems.replaceChildren(...error.diagnostics.map((one) => this.#problem(one)));
      this.#parts.wgsl.classList.add('stale');
      this.#parts['wgsl-note'].textContent = 'of the last text without errors';
      this.#say('');
      return false;
    }
  }

  #problem({ line, column, code, message, hint, severity }) {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    const place = document.createElement('b');
    place.textContent = `${line}:${column}`;
    button.append(place, ` ${severity} ${code}: ${message}${hint ? ` (${hint})` : ''}`);
    button.addEventListener('click', () => this.#code.goto({ line, column }));
    item.append(button);
    return item;
  }

  /** The WGSL of a text, by the engine that checks. */
  async #print(text, turn) {
    const { wgsl, 'wgsl-note': note } = this.#parts;
    let printed = '';
    let said;
    try {
      printed = await this.#checker.call('emit', text, 'wgsl');
      said = `${printed.split('\n').length} lines`;
    } catch (error) {
      said = error.message;
    }
    if (turn !== this.#turn) return;
    wgsl.textContent = printed;
    wgsl.classList.remove('stale');
    note.textContent = said;
    const lines = printed.split('\n'); // the kernel itself stands behind its helpers
    wgsl.scrollTop = (wgsl.scrollHeight / lines.length) * Math.max(0, lines.findIndex((line) => line.includes('@compute')) - 1);
    wgsl.scrollLeft = 0;
  }

  #fail(error, turn) {
    const { diagnostics = [], line, column, message } = error;
    if (line && !diagnostics.length && turn === this.#turn) this.#code.mark([{ line, column: column ?? 1, length: 1, severity: 'error' }]);
    this.#say(message, 'bad');
  }

  #say(text, kind = '') {
    Object.assign(this.#parts.status, { textContent: text, className: `status ${kind}` });
  }

  #busy(more) {
    this.#running += more;
    this.#parts.stop.disabled = !this.#running;
  }
}
