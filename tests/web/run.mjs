// The page of examples/web in headless Chromium, as build.py put it together and serve.py serves it, by mouse, keys and typed text.
//     node run.mjs FOLDER SERVE.PY [webgpu]     webgpu: only what WebGPU computes, over SwiftShader; PICTURES=FOLDER also writes what it looks like
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Page, WEBGPU } from '../npm/chromium.mjs';
import { serve } from '../npm/serve.mjs';
import { STROKES } from './strokes.mjs';

const [folder, script, only] = process.argv.slice(2);
const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const PARTS = ['editor', 'digits', 'zoom', 'hashes'];
const ENDLESS = '.atlas 1\n.program endless\n.param y buffer u32 inout [1]\n.lanes 1\n    while y[0] < 1 {\n        y[0] = 0\n    }\n';
const WRONG_JSON = '{"version": "1.0", "kernel": {"name": "\u00e9\u{1f600}", "params": 345, "body": []}}';
const WRONG = '.atlas 1\n.program wrong\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = nothing + 1\n';
let passed = 0;
let failed = 0;
let skipped = 0;

async function check(name, body) {
  try {
    await body();
    passed++;
  } catch (error) {
    failed++;
    console.log(`${name}: ${error.stack ?? error}`);
  }
}

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

function same(actual, expected) {
  const [a, b] = [actual, expected].map((value) => JSON.stringify(value));
  expect(a === b, `expected ${b}, got ${a}`);
}

const server = await serve(script, folder);
const page = await Page.start(only === 'webgpu' ? WEBGPU : []);
const text = (selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`);
const click = (selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
const go = async (part) => {
  await page.evaluate(`location.hash = '#${part}'`);
  await page.until(`!document.getElementById('${part}').hidden`);
};
const picture = async (name) => { if (process.env.PICTURES) await writeFile(join(process.env.PICTURES, `${name}.png`), await page.picture()); };

/** Types a text in place of what the editor has. */
async function type(program) {
  await page.evaluate(`document.querySelector('textarea').focus(), document.querySelector('textarea').select()`);
  await page.call('Input.insertText', { text: program });
}

/** Draws lines on the field, by the mouse. */
async function draw(lines) {
  await click('#clear');
  const box = await page.evaluate(`(({ left, top, width }) => ({ left, top, width }))(document.querySelector('#drawing').getBoundingClientRect())`);
  const at = ([x, y]) => [box.left + x * box.width, box.top + y * box.width];
  for (const line of lines) {
    await page.mouse('mousePressed', ...at(line[0]));
    for (const point of line.slice(1)) await page.mouse('mouseMoved', ...at(point));
    await page.mouse('mouseReleased', ...at(line.at(-1)));
  }
}

async function loads() {
  await page.look(WIDE);
  await page.open(server.address);
  await page.until(`performance.getEntriesByName('first result').length`);
  const ms = await page.evaluate(`performance.getEntriesByName('first result')[0].startTime`);
  console.log(`first result of a page that was never loaded before, local server: ${ms.toFixed(0)} ms`);
  const own = await page.evaluate(`performance.getEntriesByType('resource').every(({ name }) => name.startsWith(location.origin))`);
  expect(own, 'something is fetched from elsewhere');
}

async function showsResults() {
  expect(await page.evaluate(`document.querySelector('#results canvas.picture').width`) === 240, 'a picture of 240 columns');
  await page.until(`document.querySelector('#wgsl').textContent.includes('@compute')`);
  await picture('editor');
  await page.evaluate(`{ const s = document.querySelector('#sample'); s.value = 'examples/axpy.atlas'; s.dispatchEvent(new Event('change')); }`);
  await page.until(`document.querySelector('#results td')?.textContent === '12'`);
  same(await page.evaluate(`[...document.querySelectorAll('#results td')].map((cell) => cell.textContent)`), ['12', '24', '36', '48']);
  await page.evaluate(`{ const i = document.querySelector('#inputs [name=alpha]'); i.value = '-1'; i.focus(); }`);
  await page.key('Enter', 'Enter', 2); // with Control
  await page.until(`document.querySelector('#results td')?.textContent === '9'`);
  await page.evaluate(`for (const [name, text] of [['x', 'nan'], ['y', '1']]) document.querySelector('#inputs [name=' + name + ']').value = text`);
  await page.key('Enter', 'Enter', 2);
  await page.until(`document.querySelector('#results td')?.textContent === 'NaN'`);
  await page.evaluate(`{ const s = document.querySelector('#sample'); s.value = 'examples/median3x3.json'; s.dispatchEvent(new Event('change')); }`);
  await page.until(`document.querySelector('#results canvas.picture')?.width === 144`);
}

async function showsErrors() {
  await type(WRONG);
  await page.until(`document.querySelector('#problems li')`);
  same(await page.evaluate(`[...document.querySelectorAll('.back .mark')].map((mark) => mark.textContent)`), ['nothing']);
  same(await page.evaluate(`[...document.querySelectorAll('.numbers .wrong')].map((line) => line.textContent)`), ['6']);
  expect((await text('#problems li')).startsWith('6:17 error'), await text('#problems li'));
  same([await text('#wgsl-note'), await page.evaluate(`document.querySelectorAll('#wgsl.stale').length`)], ['of the last text without errors', 1]);
  await click('#problems button');
  const place = await page.evaluate(`(({ value, selectionStart }) => value.slice(selectionStart))(document.querySelector('textarea'))`);
  same(place, 'nothing + 1\n');
  await picture('errors');
  await type(WRONG_JSON); // places are counted in bytes
  await page.until(`document.querySelector('.back .mark')?.textContent === '345'`);
  await type(WRONG.replace('nothing', '2'));
  await page.until(`!document.querySelector('#problems li')`);
  same(await page.evaluate(`document.querySelectorAll('.back .mark').length`), 0);
  await page.until(`!document.querySelector('#wgsl.stale') && document.querySelector('#wgsl-note').textContent.endsWith(' lines')`);
  await page.evaluate(`document.querySelector('#inputs [name=n]').value = 'x'`);
  await click('#run');
  await page.until(`document.querySelector('#status').className.includes('bad')`);
  expect((await text('#status')).includes("n: 'x' is no integer"), await text('#status'));
}

/** What is compiled ahead runs one lane of what was run, with arrays cut to one element. */
async function prepares() {
  const failed = await page.evaluate(`(async () => {
    const { first } = await import('./engine.js');
    const { SAMPLES, textOf } = await import('./samples.js');
    const given = { 'examples/axpy.atlas': { x: Float32Array.of(1, 2), y: Float32Array.of(3, 4), alpha: 2, n: 2 },
      'examples/median3x3.json': { image: new Uint8Array(96 * 144), h: 96, w: 144 }, 'programs/blend.json': { x: new Float32Array(5), y: new Float32Array(5), t: 0.5 } };
    const failed = [];
    for (const { file } of SAMPLES)
      await first.call('prepare', await textOf(file), given[file] ?? {}, 'wasm').catch((error) => failed.push(file + ': ' + error.message));
    return failed;
  })()`);
  same(failed, []);
}

async function stops() {
  const workers = await page.workers();
  await type(ENDLESS);
  await page.key('Enter', 'Enter', 2);
  await page.until(`document.querySelector('#status').textContent.startsWith('running')`);
  const frames = await page.evaluate(`new Promise((go) => {
    let count = 0;
    const frame = () => { count++; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    setTimeout(() => go(count), 300);
  })`);
  expect(frames > 3, `${frames} frames in 300 ms while a program runs`);
  await type(WRONG); // errors are shown meanwhile
  await page.until(`document.querySelector('#problems li')`);
  await click('#stop');
  await page.until(`document.querySelector('#stop').disabled`);
  same(await text('#status'), 'stopped');
  await type(WRONG.replace('nothing', '2'));
  await page.until(`document.querySelector('#inputs [name=n]')`);
  await page.evaluate(`document.querySelector('#inputs [name=n]').value = '3'`);
  await click('#run');
  await page.until(`document.querySelectorAll('#results td').length === 3`);
  await hasWorkers(workers);
}

/** None is left that nobody asks any more: it would go on with what it runs. */
async function hasWorkers(count) {
  for (let i = 0; i < 100 && await page.workers() !== count; i++) await new Promise((done) => setTimeout(done, 20));
  same(await page.workers(), count);
}

/** A worker that is ended while it loads the library, which others take the module of, and calls right after that. */
async function stopsWhileItLoads() {
  const workers = await page.workers();
  const lines = await page.evaluate(`(async () => {
    const { Engine, first } = await import('./engine.js?anew'); // which has compiled nothing
    const other = new Engine().begin();
    first.stop();
    const texts = await Promise.all([first, other, first].map((one) => one.call('emit', ${JSON.stringify(WRONG.replace('nothing', '2'))}, 'wgsl')));
    first.stop();
    other.stop();
    return texts.map((text) => text.includes('@compute'));
  })()`);
  same(lines, [true, true, true]);
  await hasWorkers(workers);
  const found = await page.evaluate(`(async () => {
    const { Device } = await import('./device.js');
    const { Stopped } = await import('./engine.js');
    let calls = 0;
    const engine = { call: async () => { if (!calls++) throw new Stopped(); return { available: true }; } };
    return new Device(document.querySelector('#device').cloneNode(true), document.createElement('p')).probe(engine);
  })()`);
  same(found, { available: true });
}

async function recognises() {
  await go('digits');
  for (const [digit, lines] of STROKES.entries()) {
    await draw(lines);
    await page.until(`document.querySelector('#said').textContent === '${digit}'`, 5);
  }
  await picture('digits');
  console.log(`the last digit: ${await text('#digits-note')}`);
  await page.evaluate(`document.querySelector('#clear').click(), document.querySelector('#drawing').focus()`);
  await page.until(`document.querySelector('#said').textContent === '–'`, 5);
  await page.key(' ', 'Space');
  for (let i = 0; i < 14; i++) await page.key('ArrowDown');
  await page.until(`document.querySelector('#said').textContent === '1'`, 5);
}

/** What is inside the set is black, of points that a loop in JavaScript is sure of. */
async function zooms() {
  await go('zoom');
  await page.until(`/frames/.test(document.querySelector('#zoom-note').textContent)`);
  await page.evaluate(`document.querySelector('#device').dispatchEvent(new Event('change'))`); // while the full picture is computed
  await page.until(`/ in .* s /.test(document.querySelector('#zoom-note').textContent)`);
  const wrong = await page.evaluate(`(() => {
    const canvas = document.querySelector('#set');
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const inside = (x, y, most) => {
      let [re, im] = [0, 0];
      for (let n = 0; n < most; n++) {
        [re, im] = [re * re - im * im + x, 2 * re * im + y];
        if (re * re + im * im > 256) return false;
      }
      return true;
    };
    const found = { in: 0, out: 0, wrong: [] };
    for (let j = 5; j < height; j += 37)
      for (let i = 5; i < width; i += 41) {
        const step = Math.max(2.4, 3.3 * height / width) / height;
        const [x, y] = [-0.65 + (i - width / 2) * step, (height / 2 - j) * step];
        const black = !data[(j * width + i) * 4] && !data[(j * width + i) * 4 + 1] && !data[(j * width + i) * 4 + 2];
        if (inside(x, y, 5000)) { found.in++; if (!black) found.wrong.push([i, j]); }
        else if (!inside(x, y, 100)) { found.out++; if (black) found.wrong.push([i, j]); }
      }
    return found;
  })()`);
  expect(wrong.in > 20 && wrong.out > 100 && !wrong.wrong.length, JSON.stringify(wrong));
  await page.evaluate(`document.querySelector('#set').focus()`);
  for (let i = 0; i < 4; i++) await page.key('+', 'Equal');
  await page.until(`/ [34][.]\\d+ times|4 times/.test(document.querySelector('#zoom-note').textContent)`);
  await click('#dive');
  await page.until(`/frames/.test(document.querySelector('#zoom-note').textContent)`);
  await new Promise((done) => setTimeout(done, 600));
  console.log(`Mandelbrot set: ${await text('#zoom-note')}`);
  await click('#dive');
  await picture('zoom');
}

async function compares() {
  await go('hashes');
  const compared = async () => {
    await click('#compare');
    await page.until(`!document.querySelector('#compare').disabled`);
    return page.evaluate(`[document.querySelector('#verdict').className, ...['good', 'bad'].map((kind) => document.querySelectorAll('#hash-rows .' + kind).length)]`);
  };
  same(await compared(), ['status good', 10, 0]);
  console.log(await text('#verdict'));
  await picture('hashes');
  page.on('Fetch.requestPaused', async ({ requestId }) => {
    const { body } = await page.call('Fetch.getResponseBody', { requestId });
    const native = JSON.parse(Buffer.from(body, 'base64'));
    const [name] = Object.keys(native.hashes);
    const digit = Number.parseInt(native.hashes[name][7], 16) ^ 1; // one bit
    native.hashes[name] = `${native.hashes[name].slice(0, 7)}${digit.toString(16)}${native.hashes[name].slice(8)}`;
    await page.call('Fetch.fulfillRequest', { requestId, responseCode: 200, body: Buffer.from(JSON.stringify(native)).toString('base64') });
  });
  await page.call('Fetch.enable', { patterns: [{ urlPattern: '*native.json', requestStage: 'Response' }] });
  same(await compared(), ['status bad', 9, 1]);
  await page.call('Fetch.disable');
}

async function fits() {
  const grounds = new Set();
  for (const dark of [false, true]) {
    await page.look({ ...PHONE, dark });
    for (const part of PARTS) {
      await go(part);
      const [wide, window_] = await page.evaluate(`[document.documentElement.scrollWidth, innerWidth]`);
      expect(wide <= window_ && window_ === PHONE.width, `${part}: ${wide} of ${window_} pixels`);
      await page.until('scrollY === 0', 2); // a part is shown from its beginning
      await picture(`phone-${part}-${dark ? 'dark' : 'light'}`);
    }
    grounds.add(await page.evaluate(`getComputedStyle(document.body).backgroundColor`));
  }
  expect(grounds.size === 2, 'light and dark look the same');
}

/** What WebGPU computes is what wasm and the native library do. */
async function computesOnWebGPU() {
  await page.until(`!document.querySelector('[value=webgpu]').disabled || document.querySelector('#device-note').textContent`, 60);
  if (await page.evaluate(`document.querySelector('[value=webgpu]').disabled`)) {
    console.log(`skipped: ${await page.evaluate(`document.querySelector('#device-note').title`)}`);
    skipped++;
    return;
  }
  const start = await page.evaluate('performance.now()');
  await page.evaluate(`document.querySelector('[value=webgpu]').click(), document.querySelector('#run').click()`);
  await page.until(`document.querySelector('#status').textContent.startsWith('WebGPU, ')`, 120);
  console.log(`first result on WebGPU: ${((await page.evaluate('performance.now()')) - start).toFixed(0)} ms`);
  await picture('webgpu-editor');
  await go('hashes');
  await click('#compare');
  await page.until(`!document.querySelector('#compare').disabled`, 240);
  same(await text('#verdict'), 'All 10 equal: wasm, WebGPU and the native library');
  await picture('webgpu-hashes');
}

async function saysWhatIsMissing() {
  await page.until(`document.querySelector('[value=webgpu]').disabled || !document.querySelector('#device-note').textContent`);
  const disabled = await page.evaluate(`document.querySelector('[value=webgpu]').disabled`);
  same(await text('#device-note'), disabled ? 'WebGPU not supported in this browser' : '');
}

async function serves() {
  const isolated = await serve(script, folder, '--isolated');
  try {
    const wasm = await fetch(new URL('package/hologram.wasm', isolated.address), { method: 'HEAD' });
    same(['content-type', 'cross-origin-opener-policy', 'cross-origin-embedder-policy'].map((name) => wasm.headers.get(name)),
      ['application/wasm', 'same-origin', 'require-corp']);
    const html = await fetch(isolated.address);
    expect(html.headers.get('content-security-policy').includes("script-src 'self' 'wasm-unsafe-eval'"), 'no policy');
    same((await fetch(new URL('nothing', isolated.address))).status, 404);
  } finally {
    isolated.end();
  }
}

const ALL = [loads, showsResults, showsErrors, prepares, stops, stopsWhileItLoads, recognises, zooms, compares, saysWhatIsMissing, fits, serves];
for (const one of only === 'webgpu' ? [loads, computesOnWebGPU] : ALL) {
  const begin = performance.now();
  await check(one.name, one);
  console.log(`${one.name}: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
}
await check('nothing was thrown, the policy refused nothing', () => same(page.events, []));
await page.browser.end();
server.end();
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed || !passed ? 1 : 0);
