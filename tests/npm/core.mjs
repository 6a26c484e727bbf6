// The export /wasm, a smaller module, as it was installed beside this file, in Node: node core.mjs [CASES CASES...]     for the interpreter, and for
// compiled kernels
import { readFile, stat } from 'node:fs/promises';
import * as whole from 'hologram';
import * as hologram from 'hologram/wasm';
import { WHOLE, checks, contains, failure, runChecks, same } from './checks.mjs';
import { replay } from './replay.mjs';
import { threads } from './threads.mjs';

const ABSENT = "hologram/wasm is without it: import 'hologram'";
const TEXT = '.atlas 1\n.program p\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = exp(f32(global))\n';
const [casesFile, ...compiledFiles] = process.argv.slice(2);
let passed = 0;
let failed = 0;

function add(name, found) {
  passed += found.passed;
  failed += found.failed;
  for (const message of found.messages) console.log(`${name}: ${message}`);
}

const hg = await hologram.load();
const own = Object.fromEntries(Object.entries(checks).filter(([name]) => !WHOLE.includes(name)));
add('core', await runChecks(own, [hg, hologram]));
add('core', await runChecks({
  async 'what is left out says so'() {
    if (Object.keys(own).length + WHOLE.length !== Object.keys(checks).length) throw new Error('a check of WHOLE that there is not');
    for (const name of WHOLE) contains((await failure(() => checks[name](hg, hologram))).message, ABSENT);
    for (const call of [() => hg.graph('.graph 1\n'), () => hg.tensor([1]), () => hg.assemble(TEXT).emit('wgsl'), () => hg.call('hg_emit_target_get', 0),
      () => hg.open('webgpu'), () => hg.run(TEXT, { n: 1 }, { backend: 'wgpu' }), () => hg.open('wasm', { pretend: 'poor' }), () => hg.open('wasm', { profiling: true })])
      contains((await failure(call)).message, ABSENT);
    contains(hg.devices().find((one) => one.backend === 'webgpu').reason, ABSENT);
    contains((await failure(() => hologram.load({ gpu: null }))).message, "no option is called 'gpu'");
  },

  async 'the whole library beside it, with the same bits'() {
    const other = await whole.load();
    const [mine, its] = [await hg.run(TEXT, { n: 100 }), await other.run(TEXT, { n: 100 })];
    same(Array.from(mine.y), Array.from(its.y));
    same(hg.backends(), ['wasm']);
    other.close();
    same(await hologram.run_in_browser(), 'Computation complete');
  },

  async 'a smaller file'() {
    const size = async (name) => (await stat(new URL(import.meta.resolve(`hologram/${name}`)))).size;
    const [core, all] = [await size('hologram-core.wasm'), await size('hologram.wasm')];
    if (core > 0.8 * all) throw new Error(`${core} bytes of ${all}`);
  },
}, []));

if (casesFile) add('core, cases', await replay(hg, new Uint8Array(await readFile(casesFile))));
for (const file of compiledFiles) {
  const found = await replay(hg, new Uint8Array(await readFile(file)), { compiled: true });
  add('core, compiled', found);
  add('core, compiled', found.native > found.passed / 2 ? { passed: 1, failed: 0, messages: [] } : { passed: 0, failed: 1, messages: [`${found.native} kernels`] });
}
hg.close();
add('core, threads', await threads(hologram.load, 2, false));
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed || !passed ? 1 : 0);
