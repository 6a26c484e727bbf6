// The modules of one npm package beside those of another: node bench/wasm/packages.mjs ENTRY ENTRY...
// ENTRY is node.js or node-core.js of an unpacked package (tar xzf dist/hologram-*.tgz). Prints, of each, the time from load() to a first result in new
// processes, and of six works medians of turns taken one after the other, interpreted and compiled: the first entry's time over each one's. All results must
// have the same bits. Name the first twice for what chance does.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [first, ...others] = process.argv.slice(2);
const SQUARE = '.atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global] * x[global]\n';
const MS = Number(process.env.BENCH_MS ?? 600); // of each work and way
const LEAST_TURNS = 5;
const entry = (path) => pathToFileURL(resolve(path)).href;
const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];

if (first === '--first') {
  const start = performance.now();
  const hg = await (await import(entry(others[0]))).load();
  const { y } = await hg.run(SQUARE, { x: Float32Array.of(1, 2, 3) });
  console.log(y.join() === '1,4,9' ? performance.now() - start : 'wrong');
  process.exit();
}

const entries = [first, ...others];
const begin = entries.map(() => []);
for (let i = 0; i < 7; i++)
  entries.forEach((path, k) => begin[k].push(Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), '--first', path]).toString())));
entries.forEach((path, k) => console.log(`${path}: from import() to the first result ${begin[k].map((ms) => ms.toFixed(0)).join(', ')} ms, in the middle ${median(begin[k]).toFixed(0)}`));

const text = (path) => readFileSync(resolve(ROOT, path), 'utf8');
function floats(n, low, high, seed) {
  let state = seed;
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + ((high - low) * state) / 2 ** 32;
  });
}
const WORKS = {
  chain: [text('bench/devices/chain.atlas'), { x: floats(2 ** 18, -1, 1, 1), a: 0.75, b: 0.5, n: 2 ** 18 }],
  Mandelbrot: [text('bench/devices/mandelbrot.atlas'), { step: 3 / 128, w: 128, n: 128 * 128 }],
  'n-body': [text('bench/devices/nbody.atlas'), { ...Object.fromEntries([...'xyzm'].map((one, i) => [one, floats(512, 0, 1, i)])), eps: 0.01, n: 512 }],
  transpose: [text('bench/devices/transpose.atlas').replace(/^\.block 16,16/m, '.block 16,16\n.grid 32,32'), { x: floats(512 * 512, 0, 1, 1), w: 512 }],
  GEMM: [text('examples/programs/matmul.atlas').replace(/fma\((.*), (.*), (acc.*)\)/g, '$3 + $1 * $2'), { a: floats(128 ** 2, -1, 1, 1), b: floats(128 ** 2, -1, 1, 2), m: 128, n: 128, k: 128 }],
  'SHA-256': [text('examples/programs/sha256.atlas'), { messages: new Uint32Array(floats(1024 * 16, 0, 1, 1).buffer), n: 1024 }],
};
const libraries = await Promise.all(entries.map(async (path, k) => (await import(`${entry(path)}?${k}`)).load()));
for (const jit of ['off', 'on'])
  for (const [name, [program, given]] of Object.entries(WORKS)) {
    const sides = [];
    for (const hg of libraries) {
      const assembled = hg.assemble(program);
      const outputs = Object.fromEntries(assembled.params.filter((p) => p.kind === 'buffer' && !(p.name in given)).map((p) => [p.name, OUTPUTS(name, p)]));
      const binding = assembled.bind({ ...given, ...outputs }, { backend: await hg.open('wasm', { jit }), timeoutMs: 60000 });
      binding.launch();
      await hg.native.settled();
      for (let i = 0; i < 3; i++) binding.launch();
      sides.push(binding);
    }
    const results = sides.map((one) => Buffer.concat(Object.values(one.results()).map((array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength))));
    if (results.some((one) => !one.equals(results[0]))) {
      console.log(`${name}, ${jit}: THE RESULTS DIFFER`);
      process.exitCode = 1;
    }
    const times = sides.map(() => []);
    for (const start = performance.now(); performance.now() - start < MS || times[0].length < LEAST_TURNS;)
      sides.forEach((one, i) => {
        const at = performance.now();
        one.launch();
        times[i].push(performance.now() - at);
      });
    const least = times.map((one) => Math.min(...one));
    console.log(`${name}, ${jit === 'on' ? 'compiled' : 'interpreted'}: ${sides.map((_, i) => `${median(times[i]).toFixed(2)} (${least[i].toFixed(2)}) ms, ` +
      `${(median(times[0]) / median(times[i])).toFixed(2)} (${(least[0] / least[i]).toFixed(2)})`).join(' | ')}`);
  }
process.exit();

/** Elements of an output, by the work. */
function OUTPUTS(work, { type }) {
  const count = { chain: 2 ** 18, Mandelbrot: 128 * 128, 'n-body': 3 * 512, transpose: 512 * 512, GEMM: 128 * 128, 'SHA-256': 1024 * 8 }[work];
  return type === 'u32' ? new Uint32Array(count) : new Float32Array(count);
}
