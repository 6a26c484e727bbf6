// Which backend the page computes on: the choice in its head. Must not know: what is computed.
import { Stopped } from './engine.js';

const UNSUPPORTED = 'WebGPU not supported in this browser';

export class Device extends EventTarget {
  #choice;
  #note;
  #probe = null;
  available = false; // WebGPU, as far as it is known

  constructor(choice, note) {
    super();
    this.#choice = choice;
    this.#note = note;
    choice.addEventListener('change', () => this.dispatchEvent(new Event('change')));
  }

  /** "wasm" or "webgpu". */
  get name() {
    return this.#choice.querySelector('input:checked').value;
  }

  /** Asks a worker whether WebGPU computes, and says so in the page: { available, reason }. */
  probe(engine) {
    this.#probe ??= this.#ask(engine).then((found) => {
      this.available = found.available;
      this.#choice.querySelector('[value=webgpu]').disabled = !found.available;
      this.#note.textContent = found.available ? '' : UNSUPPORTED;
      this.#note.title = found.reason ?? '';
      return found;
    });
    return this.#probe;
  }

  async #ask(engine) {
    for (;;) {
      try {
        return await engine.call('webgpu');
      } catch (error) {
        if (!(error instanceof Stopped)) return { available: false, reason: error.message }; // else its next worker says it
      }
    }
  }
}
