// Launches in WebAssembly on several threads beside one: node bench/wasm/threads.mjs PACKAGE [THREADS...]
// PACKAGE is the unpacked package (tar xzf dist/hologram-*.tgz). Prints medians of turns taken one after the other, and ratios.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, ...counts] = process.argv.slice(2);
const { load } = await import(pathToFileURL(resolve(folder, 'node.js')));
const TURNS = 15;
const HEAD = '.atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n';
const LOADS = [
  ['chain: y = x * 1.5 + 0.5, 2^22 lanes', `${HEAD}    y[global] = x[global] * 1.5 + 0.5\n`, 2 ** 22],
  ['sin and exp, 20 rounds, 2^16 lanes', `${HEAD}    let v = x[global]\n    for i in 0 .. 20 {\n        v = sin(v) * 1.5 + exp(v * -0.25)\n    }\n    y[global] = v\n`, 2 ** 16],
  ['the same, 2^10 lanes', `${HEAD}    let v = x[global]\n    for i in 0 .. 20 {\n        v = sin(v) * 1.5 + exp(v * -0.25)\n    }\n    y[global] = v\n`, 2 ** 10],
];

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const found = new Map();
for (const threads of [1, ...(counts.length ? counts.map(Number) : [2])]) {
  const hg = await load({ threads });
  for (const [name, text, lanes] of LOADS) {
    const x = Float32Array.from({ length: lanes }, (_, i) => Math.sin(i));
    const binding = hg.assemble(text).bind({ x });
    for (let i = 0; i < 3; i++) binding.launch();
    const times = Array.from({ length: TURNS }, () => {
      const start = performance.now();
      binding.launch();
      return performance.now() - start;
    });
    const ms = median(times);
    if (threads === 1) found.set(name, ms);
    console.log(`${hg.threads.count} threads: ${name}: ${ms.toFixed(3)} ms, ${(found.get(name) / ms).toFixed(2)} times as fast as one`);
  }
  hg.close();
}
