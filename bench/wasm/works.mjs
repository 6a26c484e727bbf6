// Modules of `hologram build --target wasm` beside the same works in C, through clang -O3 -msimd128: node bench/wasm/works.mjs [BUILD] [WORK...]
// BUILD is a native build folder with the command (build/release). C is written twice (peers.c): as loops, and by vectors of 16 bytes. All sides compute the
// same bits, or the race ends. Prints medians of turns taken one after the other, and C's time over ours: 1 is as fast as C. The controls at the end must
// fail: a program that computes something else, and one that does its work twice.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [build = 'build/release', ...only] = process.argv.slice(2);
const GOAL = 0.9;
const MS = Number(process.env.BENCH_MS ?? 1500); // of each work
const LEAST_TURNS = 9;
const PAGE = 65536;
const folder = mkdtempSync(join(tmpdir(), 'hologram-bench-'));
const text = (path) => readFileSync(join(ROOT, path), 'utf8');
const compiler = ['clang', 'clang-14', 'clang-15', 'clang-19'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
if (!compiler) {
  console.log('skipped: clang is not installed');
  process.exit(0);
}
const linker = execFileSync('sh', ['-c', 'command -v wasm-ld || command -v wasm-ld-14']).toString().trim();
execFileSync(compiler, ['--target=wasm32', '-O3', '-msimd128', '-mbulk-memory', '-ffp-contract=off', '-nostdlib', '-Wl,--no-entry', '-Wl,--export=__heap_base', `-fuse-ld=${linker}`,
  '-o', join(folder, 'peers.wasm'), join(ROOT, 'bench/wasm/peers.c')]);
const instance = (file) => new WebAssembly.Instance(new WebAssembly.Module(readFileSync(join(folder, file)))).exports;

/** Arrays in a module's memory, from its heap on: {name: [address, bytes]}. */
function place({ memory, __heap_base: base }, arrays) {
  let end = base.value;
  const places = {};
  for (const [name, data] of Object.entries(arrays)) {
    const at = Math.ceil(end / 64) * 64;
    places[name] = [at, data.byteLength];
    end = at + data.byteLength;
  }
  if (end > memory.buffer.byteLength) memory.grow(Math.ceil((end - memory.buffer.byteLength) / PAGE));
  for (const [name, data] of Object.entries(arrays)) new Uint8Array(memory.buffer, places[name][0]).set(new Uint8Array(data.buffer));
  return places;
}

function ours(program, arrays, scalars) {
  const name = /^\.program (\w+)/m.exec(program)[1];
  writeFileSync(join(folder, `${name}.atlas`), program);
  execFileSync(join(resolve(ROOT, build), 'hologram'), ['build', '--target', 'wasm', join(folder, `${name}.atlas`), '-o', join(folder, `${name}.wasm`)]);
  const exports = instance(`${name}.wasm`);
  const places = place(exports, arrays);
  const params = [...program.matchAll(/^\.param (?:r\d+ )?(\w+)/gm)].map(([, one]) => one);
  const values = params.flatMap((one) => places[one] ?? [scalars[one]]);
  return {
    run() {
      const code = exports[name](...values);
      if (code) throw new Error(`${name}: code ${code}`);
    },
    bytes: (array) => new Uint8Array(exports.memory.buffer, ...places[array]).slice(),
  };
}

function inC(name, arrays, order, scalars) {
  const exports = instance('peers.wasm');
  const places = place(exports, arrays);
  const values = order.map((one) => (places[one] ? places[one][0] : scalars[one]));
  return { run: () => exports[name](...values), bytes: (array) => new Uint8Array(exports.memory.buffer, ...places[array]).slice() };
}

function floats(n, low, high, seed) {
  let state = seed;
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + ((high - low) * state) / 2 ** 32;
  });
}

// name, the program, arrays, ours and C's scalars, C's arguments, the result
const N = 2 ** 18;
const WIDTH = 512;
const BODIES = 2048;
const SIDE = 1024;
const ORDER = 512;
const MESSAGES = 2 ** 14;
const unfused = (program) => program.replace(/fma\((.*), (.*), (acc.*)\)/g, '$3 + $1 * $2');
const WORKS = {
  chain: ['8 operations, 256 K', text('bench/devices/chain.atlas'), { x: floats(N, -1, 1, 1), y: new Float32Array(N) }, { a: 0.75, b: 0.5, n: BigInt(N) },
    { a: 0.75, b: 0.5, n: N }, ['x', 'y', 'a', 'b', 'n'], 'y'],
  mandelbrot: ['Mandelbrot 512²', text('bench/devices/mandelbrot.atlas'), { y: new Uint32Array(WIDTH * WIDTH) },
    { step: 3 / WIDTH, w: WIDTH, n: BigInt(WIDTH * WIDTH) }, { step: 3 / WIDTH, w: WIDTH }, ['y', 'step', 'w'], 'y'],
  nbody: ['n-body 2048', text('bench/devices/nbody.atlas'), { ...Object.fromEntries([...'xyzm'].map((one, i) => [one, floats(BODIES, 0, 1, i)])),
    a: new Float32Array(3 * BODIES) }, { eps: 0.01, n: BigInt(BODIES) }, { eps: 0.01, n: BODIES }, [...'xyzma', 'eps', 'n'], 'a'],
  transpose: ['transpose 1024², shared memory', text('bench/devices/transpose.atlas').replace(/^\.block 16,16/m, `.block 16,16\n.grid ${SIDE / 16},${SIDE / 16}`),
    { x: floats(SIDE * SIDE, 0, 1, 1), y: new Float32Array(SIDE * SIDE) }, { w: SIDE }, { w: SIDE }, ['x', 'y', 'w'], 'y'],
  matmul: ['GEMM 512, shared memory', unfused(text('examples/programs/matmul.atlas')), { a: floats(ORDER ** 2, -1, 1, 1), b: floats(ORDER ** 2, -1, 1, 2),
    c: new Float32Array(ORDER ** 2) }, { m: BigInt(ORDER), n: BigInt(ORDER), k: BigInt(ORDER) }, { n: ORDER }, ['a', 'b', 'c', 'n'], 'c'],
  sha256: ['SHA-256, 16 K messages', text('examples/programs/sha256.atlas'), { messages: new Uint32Array(floats(MESSAGES * 16, 0, 1, 1).buffer),
    digests: new Uint32Array(MESSAGES * 8) }, { n: BigInt(MESSAGES) }, { n: MESSAGES }, ['messages', 'digests', 'n'], 'digests'],
};

const middle = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];
const same = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)) === 0;

/** {medians, least}: of each side, in turns. */
function race(sides, ms = MS) {
  const times = sides.map(() => []);
  for (const start = performance.now(); performance.now() - start < ms || times[0].length < LEAST_TURNS;)
    sides.forEach((side, i) => {
      const begin = performance.now();
      side.run();
      times[i].push(performance.now() - begin);
    });
  const settled = times.map((one) => one.slice(one.length >> 2)); // hosts compile while they run
  return { medians: settled.map(middle), least: settled.map((one) => Math.min(...one)) };
}

let failed = false;
console.log('| work | ours: median (least) | C loops | C by vectors | loops / ours, of least | vectors / ours, of least | |\n|---|---|---|---|---|---|---|');
for (const [key, [name, program, arrays, scalars, inCs, order, result]] of Object.entries(WORKS)) {
  if (only.length && !only.includes(key)) continue;
  const sides = [ours(program, arrays, scalars), inC(`c_${key}`, arrays, order, inCs), inC(`v_${key}`, arrays, order, inCs)];
  for (const side of sides) side.run();
  if (!sides.slice(1).every((side) => same(side.bytes(result), sides[0].bytes(result)))) {
    console.log(`${name}: the results differ`);
    process.exitCode = 1;
    continue;
  }
  const { medians, least } = race(sides);
  const show = (i) => `${medians[i].toFixed(2)} (${least[i].toFixed(2)}) ms`;
  const ratio = (i) => `${(medians[i] / medians[0]).toFixed(2)}, ${(least[i] / least[0]).toFixed(2)}`;
  const good = medians[1] / medians[0] >= GOAL;
  failed ||= !good;
  console.log(`| ${name} | ${show(0)} | ${show(1)} | ${show(2)} | ${ratio(1)} | ${ratio(2)} | ${good ? 'reached' : 'not reached'} |`);
}
// Controls.
const [, program, arrays, scalars, inCs, order, result] = WORKS.chain;
const c = inC('c_chain', arrays, order, inCs);
const wrong = ours(program.replace('sub.f32', 'add.f32'), arrays, scalars);
for (const side of [c, wrong]) side.run();
const found = !same(c.bytes(result), wrong.bytes(result));
const once = ours(program, arrays, scalars);
const { medians: [twice, loops] } = race([{ run: () => [0, 0].forEach(() => once.run()) }, c], 300);
console.log(`control: another program's result ${found ? 'differs' : 'DOES NOT DIFFER'}; the work twice: ${(loops / twice).toFixed(2)}`);
if (!found || loops / twice >= GOAL) process.exitCode = 1;
if (failed) process.exitCode = 1;
rmSync(folder, { recursive: true });
