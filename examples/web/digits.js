// Draw a digit: the network of examples/digits says which it is, while it is drawn. The drawing is a list of lines; a program makes the
// 8 x 8 pixels of them that the network knows, three more are its layers.
import { Engine, Stopped } from './engine.js';
import { readNpy } from './npy.js';
import { textOf } from './samples.js';

const BOX = 32; // units of the picture that ink.atlas makes pixels of
const INK = 310; // of its 32 * 32 points, under the pen: the mean of examples/digits/data, whatever the digit
const [THIN, THICK] = [1.5, 3.2]; // half the pen
const NEAR = 0.012; // of the canvas: points that lie nearer say nothing new
const STEP = 0.04; // of the canvas, for a key

/**
 * Lines of points as segments in the box: as high, or as wide, as it is, in its middle, with the pen that leaves as much ink as the
 * network has seen. { segments, reach }
 */
export function fit(lines) {
  const all = lines.flat();
  if (!all.length) return null;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const lengths = lines.map((line) => line.reduce((sum, [x, y], i) => sum + Math.hypot(x - line[Math.max(0, i - 1)][0], y - line[Math.max(0, i - 1)][1]), 0));
  const size = Math.max(width, height, 0.1);
  const long = (lengths.reduce((a, b) => a + b) / size) * BOX;
  const reach = Math.min(THICK, Math.max(THIN, INK / 2 / long));
  const scale = (BOX - 2 * reach) / size;
  const place = ([x, y]) => [(x - left - width / 2) * scale + BOX / 2, (y - top - height / 2) * scale + BOX / 2];
  const segments = Float32Array.from(lines.flatMap((line) => line.flatMap((point, i) => [...place(line[Math.max(0, i - 1)]), ...place(point)])));
  return { segments, reach };
}

export class Digits {
  #device;
  #engine = new Engine();
  #canvas;
  #parts = {};
  #lines = [];
  #pen = null; // the line that is being drawn
  #key = { x: 0.5, y: 0.3, down: false, used: false };
  #network = null; // texts and weights
  #waiting = false;
  #again = false;

  constructor(root, device) {
    this.#device = device;
    this.#canvas = root.querySelector('#drawing');
    for (const name of ['seen', 'said', 'bars', 'clear', 'digits-note']) this.#parts[name] = root.querySelector(`#${name}`);
    const { bars, clear } = this.#parts;
    for (let digit = 0; digit < 10; digit++) {
      const row = document.createElement('li');
      const label = document.createElement('span');
      label.textContent = digit;
      const bar = document.createElement('div');
      bar.append(document.createElement('i'));
      row.append(label, bar);
      bars.append(row);
    }
    clear.addEventListener('click', () => this.clear());
    this.#listen();
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw());
  }

  /** The page shows this part. */
  show() {
    this.#load().catch((error) => this.#note(error.message));
  }

  clear() {
    this.#lines = [];
    this.#pen = null;
    this.#key.down = false;
    this.#changed();
  }

  #load() {
    const file = (name) => new URL(`examples/digits/${name}`, import.meta.url);
    this.#network ??= (async () => {
      const [ink, normalize, layer] = await Promise.all(['programs/ink.atlas', 'examples/digits/normalize.atlas', 'examples/digits/layer.atlas'].map(textOf));
      const [w1, b1, w2, b2] = await Promise.all(['w1', 'b1', 'w2', 'b2'].map((name) => readNpy(file(`${name}.npy`))));
      return { ink, normalize, layer, w1, b1, w2, b2 };
    })();
    this.#network.catch(() => { this.#network = null; });
    return this.#network;
  }

  #listen() {
    const canvas = this.#canvas;
    const point = (event) => {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      canvas.setPointerCapture(event.pointerId);
      this.#begin(point(event));
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!this.#pen || this.#key.down) return;
      for (const one of event.getCoalescedEvents?.() ?? [event]) this.#to(point(one));
    });
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, () => { this.#pen = null; });
    canvas.addEventListener('keydown', (event) => this.#press(event));
    for (const change of ['focus', 'blur']) canvas.addEventListener(change, () => this.#draw());
  }

  /** Arrows move the pen, the space bar puts it down and takes it up, Delete clears. */
  #press(event) {
    const key = this.#key;
    const [dx, dy] = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key] ?? [0, 0];
    if (dx || dy) {
      key.x = Math.min(0.96, Math.max(0.04, key.x + dx));
      key.y = Math.min(0.96, Math.max(0.04, key.y + dy));
      if (key.down) this.#to([key.x, key.y]);
    } else if (event.key === ' ') {
      key.down = !key.down;
      if (key.down) this.#begin([key.x, key.y]);
      else this.#pen = null;
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      this.clear();
    } else {
      return;
    }
    key.used = true;
    event.preventDefault();
    this.#draw();
  }

  #begin(at) {
    this.#pen = [at];
    this.#lines.push(this.#pen);
    this.#changed();
  }

  #to([x, y]) {
    const [px, py] = this.#pen.at(-1);
    if (Math.hypot(x - px, y - py) < NEAR) return;
    this.#pen.push([x, y]);
    this.#changed();
  }

  #changed() {
    this.#draw();
    this.#recognise();
  }

  #draw() {
    const canvas = this.#canvas;
    const size = Math.round(canvas.clientWidth * devicePixelRatio);
    if (!size) return;
    if (canvas.width !== size) canvas.width = canvas.height = size;
    const draw = canvas.getContext('2d');
    const style = getComputedStyle(canvas);
    draw.clearRect(0, 0, size, size);
    Object.assign(draw, { lineCap: 'round', lineJoin: 'round', lineWidth: size * 0.07, strokeStyle: style.getPropertyValue('--ink').trim() });
    for (const line of this.#lines) {
      draw.beginPath();
      draw.moveTo(line[0][0] * size, line[0][1] * size);
      for (const [x, y] of line.length > 1 ? line : [...line, line[0]]) draw.lineTo(x * size, y * size);
      draw.stroke();
    }
    if (!this.#key.used || document.activeElement !== canvas) return;
    draw.lineWidth = size * 0.008;
    draw.strokeStyle = style.getPropertyValue('--accent').trim();
    draw.beginPath();
    draw.arc(this.#key.x * size, this.#key.y * size, size * (this.#key.down ? 0.03 : 0.045), 0, 7);
    draw.stroke();
  }

  /** One at a time; what was drawn meanwhile is looked at next. */
  async #recognise() {
    if (this.#waiting) {
      this.#again = true;
      return;
    }
    this.#waiting = true;
    do {
      this.#again = false;
      await new Promise((go) => requestAnimationFrame(go));
      const fitted = fit(this.#lines);
      if (fitted) await this.#look(fitted).catch((error) => { if (!(error instanceof Stopped)) this.#note(error.message); });
      else this.#say(null);
    } while (this.#again);
    this.#waiting = false;
  }

  async #look(fitted) {
    const { ink, normalize, layer, w1, b1, w2, b2 } = await this.#load();
    const start = performance.now();
    const [{ pixels }, , , { y: scores }] = await this.#engine.call('chain', [
      { text: ink, values: fitted },
      { text: normalize, values: { n: 1 }, takes: { pixels: 'pixels' } },
      { text: layer, values: { w: w1.data, b: b1.data, n: 1, k: 64, m: 64 }, takes: { x: 'x' } },
      { text: layer, values: { w: w2.data, b: b2.data, low: -Infinity, n: 1, k: 64, m: 10 }, takes: { x: 'y' } },
    ], this.#device.name);
    if (this.#lines.length) this.#say({ pixels, scores, ms: performance.now() - start });
  }

  #say(found) {
    const { seen, said, bars } = this.#parts;
    const rows = [...bars.children];
    const most = found ? Math.max(...found.scores) : 0;
    const powers = found ? Array.from(found.scores, (score) => Math.exp(score - most)) : Array(10).fill(0);
    const sum = powers.reduce((a, b) => a + b, 0) || 1;
    const best = found ? found.scores.indexOf(most) : -1;
    rows.forEach((row, digit) => {
      row.classList.toggle('best', digit === best);
      row.lastChild.firstChild.style.width = `${(100 * powers[digit]) / sum}%`;
      row.title = `${digit}: ${((100 * powers[digit]) / sum).toFixed(1)} %`;
    });
    said.textContent = best < 0 ? '–' : best;
    const image = new ImageData(8, 8);
    const shade = getComputedStyle(seen).color.match(/\d+/g);
    for (let i = 0; i < 64; i++) image.data.set([...shade.slice(0, 3), found ? found.pixels[i] * 255 / 16 : 0], i * 4);
    seen.getContext('2d').putImageData(image, 0, 0);
    this.#note(found ? `${(100 * powers[best] / sum).toFixed(0)} % sure, ${found.ms.toFixed(1)} ms on ${this.#device.name}` : '');
  }

  #note(text) {
    this.#parts['digits-note'].textContent = text;
  }
}
