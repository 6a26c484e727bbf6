// Runs the checks in the page, in a worker, in a service worker, in a page whose policy forbids WebAssembly and in the page of the
// guide, and tells the server what came of it.
const told = (what) => fetch('/result', { method: 'POST', body: JSON.stringify(what) });

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

/** A part of the test: body gives counts, or throws. */
async function part(name, body) {
  const start = performance.now();
  let found;
  try {
    found = { passed: 1, failed: 0, messages: [], ...await body() };
  } catch (error) {
    found = { passed: 0, failed: 1, messages: [`${error} ${error?.stack ?? ''}`] };
  }
  await told({ part: name, ms: performance.now() - start, ...found });
}

/** The document of a page in a frame, once test(document) holds. */
async function frame(address, test) {
  const element = document.createElement('iframe');
  element.src = address;
  document.body.append(element);
  for (let i = 0; i < 1000; i++) {
    await new Promise((go) => setTimeout(go, 10));
    if (element.contentDocument && test(element.contentDocument)) return element.contentDocument;
  }
  throw new Error(`${address} shows ${element.contentDocument?.body?.textContent}`);
}

let hologram;
let hg;

await part('first result', async () => {
  hologram = await import('./node_modules/hologram/index.js');
  hg = await hologram.load();
  const text = '.atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global] + 1.0\n';
  const { y } = await hg.run(text, { x: [1] });
  expect(y[0] === 2, `got ${y}`);
});
await part('core', async () => {
  const { load } = await import('./node_modules/hologram/index-core.js');
  const core = await load();
  const { y } = await core.run('.atlas 1\n.program p\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = 2.0\n', { n: 2 });
  expect(y.join() === '2,2', `got ${y}`);
  expect(core.backends().join() === 'wasm' && !core.webgpu.there, core.backends());
  core.close();
});
const { run } = await import('./checks.mjs');
await part('page', () => run(hg, hologram));
await part('conformance', async () => {
  const { replay } = await import('./replay.mjs');
  const cases = await fetch('cases.bin');
  return cases.ok ? replay(hg, new Uint8Array(await cases.arrayBuffer())) : { passed: 0 };
});
const long = new URLSearchParams(location.search).has('long');
if (hg.webgpu.there) {
  const webgpu = await import('./webgpu.mjs');
  await part('webgpu', () => webgpu.run(hg));
  for (const file of ['cases.bin', 'random.bin'])
    await part(`webgpu, ${file}`, async () => {
      const { replay } = await import('./replay.mjs');
      return replay(hg, new Uint8Array(await (await fetch(file)).arrayBuffer()), { name: 'webgpu', every: long ? 1 : 20 });
    });
  if (long) await part('webgpu, 1,000 launches', () => webgpu.launches(hg));
} else {
  await told({ part: 'webgpu', passed: 0, failed: 0, skipped: 1, ms: 0, messages: ['skipped: the browser has no WebGPU over SwiftShader'] });
}
await part('worker', () => new Promise((go, stop) => {
  const worker = new Worker('worker.mjs', { type: 'module' });
  worker.onmessage = ({ data }) => go(data);
  worker.onerror = (event) => stop(new Error(event.message ?? 'the worker did not start'));
}));
await part('service worker', async () => {
  await navigator.serviceWorker.register('service.mjs', { type: 'module' });
  const { active } = await navigator.serviceWorker.ready;
  const said = await new Promise((go) => {
    navigator.serviceWorker.onmessage = ({ data }) => go(data);
    active.postMessage('go');
  });
  expect(said === '4,6', said);
});
await part('no wasm-unsafe-eval', async () => {
  const { title } = await frame('blocked.html?blocked', (page) => page.title && page.title !== 'waiting');
  expect(title.includes("add 'wasm-unsafe-eval' to script-src") && title.includes('hologram.wasm'), title);
});
await part('the page of the guide', () => frame('guide/index.html', (page) => page.querySelector('output')?.textContent === '1, 4, 9'));
await part('threads', async () => {
  hg.close();
  const { threads } = await import('./threads.mjs');
  return threads(hologram.load, 2);
});
await told({ part: 'end' });
