// The Mandelbrot set in f64, as deep as that goes. A frame is computed as fine as its time allows; when nothing moves any more, bands of
// the full picture follow. Between frames the last one is moved and scaled, so that what is touched moves at once.
import { Engine, Stopped } from './engine.js';
import { textOf } from './samples.js';

const START = { x: -0.65, y: 0, height: 2.4, width: 3.3 }; // of the whole set
const DEEP = { x: -0.743643887037151, y: 0.131825904205330 };
const DEEPEST = 2e-13; // below, neighbours of f64 are seen
const FRAME = 40; // milliseconds that a frame may take
const COARSEST = 12; // pixels of the canvas for one that is computed
const BAND = 150; // milliseconds that a band of the full picture may take, as far as the frame before tells

export class Zoom {
  #device;
  #engines = { wasm: new Engine(), webgpu: new Engine() };
  #prepared = false;
  #canvas;
  #note;
  #dive;
  #view = null; // { x, y, height }: its middle
  #shown = null; // { image, view }: the last frame
  #coarse = 6;
  #pace = 0; // milliseconds that a pixel took
  #version = 0; // of the view
  #running = false;
  #visible = false;
  #diving = false;
  #times = [];

  constructor(root, device) {
    this.#device = device;
    this.#canvas = root.querySelector('#set');
    this.#note = root.querySelector('#zoom-note');
    this.#dive = root.querySelector('#dive');
    root.querySelector('#nearer').addEventListener('click', () => this.#zoom(0.5));
    root.querySelector('#farther').addEventListener('click', () => this.#zoom(2));
    root.querySelector('#whole').addEventListener('click', () => {
      this.#setDiving(false);
      this.#to(this.#whole());
    });
    this.#dive.addEventListener('click', () => this.#setDiving(!this.#diving));
    device.addEventListener('change', () => {
      this.#engines[device.name === 'wasm' ? 'webgpu' : 'wasm'].stop(); // which may be in the middle of something long
      this.#coarse = 6;
      if (this.#visible) this.#note.textContent = `the first frame on ${device.name} …`;
      this.#moved();
    });
    this.#listen();
    new ResizeObserver(() => this.#moved()).observe(this.#canvas);
  }

  show() {
    this.#visible = true;
    this.#view ??= this.#whole();
    this.#moved();
  }

  hide() {
    this.#visible = false;
    this.#setDiving(false);
  }

  get #aspect() {
    return this.#canvas.clientWidth / this.#canvas.clientHeight || 1.5;
  }

  #whole() {
    return { x: START.x, y: START.y, height: Math.max(START.height, START.width / this.#aspect) };
  }

  #listen() {
    const canvas = this.#canvas;
    const fingers = new Map();
    const place = ({ clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      return [(clientX - box.left) / box.width - 0.5, 0.5 - (clientY - box.top) / box.height];
    };
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.#zoom(Math.exp(Math.max(-80, Math.min(80, event.deltaY)) * 0.0025), place(event));
    }, { passive: false });
    canvas.addEventListener('dblclick', (event) => this.#zoom(0.4, place(event)));
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, place(event));
    });
    canvas.addEventListener('pointermove', (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const apart = ([x, y]) => Math.hypot((x - other[0]) * this.#aspect, y - other[1]);
        this.#zoom(Math.min(2, Math.max(0.5, apart(before) / (apart(now) || 1))), other);
      } else {
        this.#to({ ...this.#view, x: this.#view.x - (now[0] - before[0]) * this.#view.height * this.#aspect, y: this.#view.y - (now[1] - before[1]) * this.#view.height });
      }
      fingers.set(event.pointerId, now);
    });
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener('keydown', (event) => {
      const step = this.#view.height * 0.1;
      const [dx, dy] = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key] ?? [0, 0];
      if (dx || dy) this.#to({ ...this.#view, x: this.#view.x + dx, y: this.#view.y + dy });
      else if (event.key === '+' || event.key === '=') this.#zoom(0.7);
      else if (event.key === '-') this.#zoom(1 / 0.7);
      else if (event.key === '0') this.#to(this.#whole());
      else return;
      event.preventDefault();
    });
  }

  /** Makes the view's height so many times as large; what lies at a place of the canvas, from its middle, stays there. */
  #zoom(factor, [px, py] = [0, 0]) {
    const { x, y, height } = this.#view;
    const next = Math.min(6, Math.max(DEEPEST, height * factor));
    this.#to({ x: x + px * (height - next) * this.#aspect, y: y + py * (height - next), height: next });
  }

  #to(view) {
    this.#view = { x: Math.min(2, Math.max(-2.5, view.x)), y: Math.min(2, Math.max(-2, view.y)), height: view.height };
    this.#moved();
  }

  #moved() {
    if (!this.#visible) return;
    this.#version++;
    this.#paint();
    this.#compute();
  }

  #setDiving(is) {
    this.#diving = is;
    this.#dive.textContent = is ? 'Stop' : 'Dive';
    this.#dive.setAttribute('aria-pressed', String(is));
    if (!is) return;
    let last = performance.now();
    const frame = (now) => {
      if (!this.#diving) return;
      const seconds = Math.min(0.1, (now - last) / 1000);
      last = now;
      const { x, y, height } = this.#view;
      const near = Math.min(1, seconds * 3);
      const next = height * 0.55 ** seconds;
      if (next < DEEPEST * 2) {
        this.#setDiving(false);
        return;
      }
      this.#to({ x: x + (DEEP.x - x) * near, y: y + (DEEP.y - y) * near, height: next });
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** The last frame where it lies in the view of now. */
  #paint() {
    const canvas = this.#canvas;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((one) => Math.round(one * Math.min(2, devicePixelRatio)));
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const draw = canvas.getContext('2d');
    if (!this.#shown) return;
    const { image, view } = this.#shown;
    const scale = view.height / this.#view.height;
    const h = height * scale;
    const w = (h * image.width) / image.height;
    const x = width / 2 - w / 2 + ((view.x - this.#view.x) / this.#view.height) * height;
    const y = height / 2 - h / 2 - ((view.y - this.#view.y) / this.#view.height) * height;
    draw.imageSmoothingEnabled = true;
    draw.drawImage(image, x, y, w, h);
  }

  /** Rows of the view, of a picture of so many pixels, as an image. */
  async #rows(text, view, width, height, from, count) {
    const step = view.height / height;
    const values = { w: width, h: count, step, left: view.x - (width / 2) * step, top: view.y + (height / 2 - from) * step,
      rounds: Math.round(150 + 45 * Math.log2(4 / view.height)) };
    const { arrays: [{ data }] } = await this.#engines[this.#device.name].call('run', text, values, this.#device.name);
    const image = new ImageData(width, count);
    for (let i = 0, k = 0; i < data.length; i += 3, k += 4) image.data.set([data[i], data[i + 1], data[i + 2], 255], k);
    return image;
  }

  async #compute() {
    if (this.#running || !this.#visible) return;
    this.#running = true;
    try {
      const text = await textOf('programs/mandelbrot.atlas');
      for (let done = -1; done !== this.#version && this.#visible;) {
        done = this.#version;
        try {
          await this.#frame(text);
          await new Promise((go) => requestAnimationFrame(go));
          if (done === this.#version) await this.#finer(text, done);
          if (done === this.#version) this.#prepare(text);
        } catch (error) {
          if (!(error instanceof Stopped)) throw error; // the device is another, which a version says
        }
      }
    } catch (error) {
      this.#note.textContent = error.message;
    }
    this.#running = false;
  }

  /** Has the program compiled for WebGPU too, once: while a full picture is looked at. */
  #prepare(text) {
    if (this.#prepared || !this.#device.available) return;
    this.#prepared = true;
    this.#engines.webgpu.call('prepare', text, {}, 'webgpu').catch(() => { this.#prepared = false; });
  }

  async #frame(text) {
    const view = this.#view;
    const [width, height] = [this.#canvas.width, this.#canvas.height].map((one) => Math.max(8, Math.round(one / this.#coarse)));
    const start = performance.now();
    const rows = await this.#rows(text, view, width, height, 0, height);
    const ms = performance.now() - start;
    this.#pace = ms / (width * height);
    this.#coarse = Math.min(COARSEST, Math.max(1, this.#coarse * Math.min(1.5, Math.max(0.7, Math.sqrt(ms / FRAME)))));
    this.#keep(view, width, height, [[rows, 0]]);
    this.#times = [...this.#times.filter((time) => start - time < 1000), start];
    const rate = this.#times.length > 1 ? ((this.#times.length - 1) * 1000) / (start - this.#times[0]) : 1000 / ms;
    this.#say(`${rate.toFixed(0)} frames/s of ${width} × ${height}`);
  }

  /** The full picture, band after band, as long as nothing moves. */
  async #finer(text, version) {
    if (this.#coarse <= 1) return;
    const view = this.#view;
    const { width, height } = this.#canvas;
    const start = performance.now();
    const rows = Math.max(1, Math.min(height, Math.round(BAND / this.#pace / width)));
    for (let from = 0; from < height; from += rows) {
      const band = await this.#rows(text, view, width, height, from, Math.min(rows, height - from));
      if (version !== this.#version || !this.#visible) return;
      this.#keep(view, width, height, [[band, from]]);
    }
    this.#say(`${width} × ${height} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }

  /** Puts rows into the frame that is shown; where it has another size or place, it is made anew of the old one. */
  #keep(view, width, height, parts) {
    let frame = this.#shown;
    if (!frame || frame.view !== view || frame.image.width !== width || frame.image.height !== height) {
      const image = Object.assign(document.createElement('canvas'), { width, height });
      if (frame?.view === view) image.getContext('2d').drawImage(frame.image, 0, 0, width, height);
      frame = { image, view };
    }
    for (const [rows, from] of parts) frame.image.getContext('2d').putImageData(rows, 0, from);
    this.#shown = frame;
    this.#paint();
  }

  #say(text) {
    const times = START.height / this.#view.height;
    const zoom = times < 1e4 ? times.toFixed(times < 10 ? 1 : 0) : times.toExponential(1).replace('e+', ' · 10^');
    const deep = this.#view.height / this.#canvas.height < 2 ** -24 ? ', beyond f32' : '';
    this.#note.textContent = `${text} on ${this.#device.name} · ${zoom} times${deep}`;
  }
}
