// The first result of a page that was never loaded before, on WebAssembly and on WebGPU, and what the time went into.
//     node bench/web/first.mjs PACKAGE [BROWSERS [PROGRAM]]     PACKAGE is the unpacked package (tar xzf dist/hologram-*.tgz), PROGRAM an
// .atlas file without inputs in place of x + 1; a new browser for each
// HOLOGRAM_BENCH_ENTRY=index-core.js: hologram/wasm, on WebAssembly alone.
// The control: WebGPU with HOLOGRAM_BENCH_CONTROL=ms, which every pipeline takes longer; no goal is met with 1000.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { Page, WEBGPU } from '../../tests/npm/chromium.mjs';

const [folder, count = '5', program] = process.argv.slice(2);
const GOALS = { wasm: 1000, webgpu: 1500 };
const own = program ? await readFile(program, 'utf8') : null;
const entry = process.env.HOLOGRAM_BENCH_ENTRY ?? 'index.js';
const control = Number(process.env.HOLOGRAM_BENCH_CONTROL ?? 0);
const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
const PAGE = '<!doctype html><meta charset="utf-8"><title>First result</title><script type="module" src="/page.js"></script>';
const SCRIPT = `
const pipelines = [];
const waits = (object, name) => {
  const before = object?.prototype?.[name];
  if (before) object.prototype[name] = async function (...given) {
    const start = performance.now();
    try {
      if (name === 'createComputePipelineAsync') await new Promise((go) => setTimeout(go, ${control}));
      return await before.apply(this, given);
    } finally { pipelines.push([name, Math.round(start), Math.round(performance.now() - start)]); }
  };
};
waits(globalThis.GPU, 'requestAdapter');
waits(globalThis.GPUAdapter, 'requestDevice');
waits(globalThis.GPUDevice, 'createComputePipelineAsync');
waits(globalThis.GPUBuffer, 'mapAsync');
const { load } = await import('/package/${entry}');
const text = '.atlas 1\\n.program p\\n.param x buffer f32 in [n]\\n.param y buffer f32 out [n]\\n.param n u64\\n.lanes n\\n    y[global] = x[global] + 1.0\\n';
const marks = { imported: performance.now() };
const hg = await load();
marks.loaded = performance.now();
const { backend } = Object.fromEntries(new URLSearchParams(location.search));
await hg.opened(backend);
marks.open = performance.now();
const own = ${JSON.stringify(own)};
const { y } = await hg.run(own ?? text, own ? {} : { x: [1] }, { backend });
marks.first = performance.now();
if (!own) await hg.run(text.replace('1.0', '2.0'), { x: [1] }, { backend });
marks.second = performance.now();
window.found = { ok: own !== null || y[0] === 2, marks, pipelines };
`;

async function answer({ url }, response) {
  const { pathname } = new URL(url, 'http://localhost');
  const page = { '/': [PAGE, 'text/html'], '/page.js': [SCRIPT, 'text/javascript'] }[pathname];
  try {
    const [body, type] = page ?? [await readFile(join(folder, normalize(pathname.replace(/^\/package/, '')))), TYPES[extname(pathname)] ?? 'text/plain'];
    response.writeHead(200, { 'content-type': type }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

const server = createServer((request, response) => answer(request, response));
await new Promise((go) => server.listen(0, '127.0.0.1', go));
for (const backend of entry === 'index.js' ? ['wasm', 'webgpu'] : ['wasm']) {
  const all = [];
  for (let i = 0; i < Number(count); i++) {
    const page = await Page.start(WEBGPU);
    await page.open(`http://localhost:${server.address().port}/?backend=${backend}`);
    const { ok, marks, pipelines } = await page.until('window.found', 60);
    await page.browser.end();
    if (!ok) throw new Error('a wrong result');
    all.push(marks.first);
    console.log(`${backend}: ${Object.entries(marks).map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(', ')} ms${pipelines.map(([name, at, ms]) => `\n    ${name} at ${at}: ${ms}`).join('')}`);
  }
  all.sort((a, b) => a - b);
  const median = all[all.length >> 1];
  console.log(`${backend}: first result after ${all.map((ms) => ms.toFixed(0)).join(', ')} ms, goal <= ${GOALS[backend]} ${median <= GOALS[backend] ? 'met' : 'NOT MET'}`);
}
server.close();
