// Functions over many inputs on wasm, by the interpreter and compiled, beside the native command: the same bits, or NaN on both sides.
//     node functions.mjs COMMAND [INPUTS]     INPUTS of each function and type (2^14)
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'hologram';

const [command, inputs = 2 ** 14] = process.argv.slice(2);
const count = Number(inputs);
const ONE = ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'exp', 'exp2', 'exp10', 'sinpi', 'cospi', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sqrt',
  'rsqrt', 'cbrt', 'erf', 'erfc', 'lgamma', 'tgamma', 'sigmoid', 'gelu', 'swish', 'softplus', 'floor', 'ceil', 'round', 'trunc', 'rcp', 'abs', 'neg'];
const TWO = ['pow', 'atan2', 'hypot', 'fmod', 'rem', 'min', 'max', 'copysign', 'nextafter'];
const folder = mkdtempSync(join(tmpdir(), 'hologram-functions-'));
let passed = 0;
let failed = 0;

/** Words of all bit patterns, and as many near 1, from a generator of George Marsaglia's (xorshift). */
function words(n) {
  const made = new Uint32Array(n);
  for (let i = 0, x = 2463534242; i < n; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    made[i] = x;
  }
  return made;
}

function numbers(type) {
  const bits = words(type === 'f32' ? count : 2 * count);
  const made = type === 'f32' ? new Float32Array(bits.buffer) : new Float64Array(bits.buffer);
  for (let i = 0; i < count; i += 2) made[i] = (bits[i] / 2 ** 32 - 0.5) * (i % 4 ? 4 : 200); // where functions have a shape
  [0, -0, 1, -1, Infinity, -Infinity, NaN, 0.5, 2].forEach((one, i) => { made[i] = one; });
  return made;
}

const hg = await load();
/** Those of the names that the language has for this type. */
function known(type, names, args) {
  return names.filter((name) => {
    try {
      hg.assemble(`.atlas 1\n.program p\n.param x buffer ${type} inout [1]\n.lanes 1\n    x[0] = ${name}(${args})\n`).dispose();
      return true;
    } catch {
      return false;
    }
  });
}

for (const type of ['f32', 'f64']) {
  const calls = [...known(type, ONE, 'x[0]').map((name) => [name, `${name}(x[global])`]), ...known(type, TWO, 'x[0], x[0]').map((name) => [name, `${name}(x[global], x[n - 1 - global])`])];
  const x = numbers(type);
  writeFileSync(join(folder, 'x'), x);
  for (let from = 0; from < calls.length; from += 8) { // a program of eight at a time
    const some = calls.slice(from, from + 8);
    const text = `.atlas 1\n.program p\n.param x buffer ${type} in [n]\n${some.map(([name]) => `.param y_${name} buffer ${type} out [n]\n`).join('')}.param n u64\n.lanes n\n` +
      some.map(([name, call]) => `    y_${name}[global] = ${call}\n`).join('');
    writeFileSync(join(folder, 'p.atlas'), text);
    execFileSync(command, ['run', join(folder, 'p.atlas'), '--backend', 'cpu', '--in', `x=raw:${join(folder, 'x')}`, '--set', `n=${count}`,
      ...some.flatMap(([name]) => ['--out', `y_${name}=raw:${join(folder, name)}`])], { stdio: ['ignore', 'ignore', 'inherit'] });
    for (const jit of ['off', 'on']) {
      const backend = await hg.open('wasm', { jit });
      const before = hg.native.arrived;
      const program = hg.assemble(text);
      program.bind({ x }, { backend }).dispose(); // asks for code
      await hg.native.settled();
      if ((hg.native.arrived > before) !== (jit === 'on')) {
        failed++;
        console.log(`jit ${jit}: ${hg.native.arrived - before} kernels of ${some.map(([name]) => name)} are native code`);
      }
      const made = await hg.run(program, { x }, { backend });
      for (const [name] of some) {
        const native = new x.constructor(new Uint8Array(readFileSync(join(folder, name))).buffer);
        const found = made[`y_${name}`];
        const bad = native.findIndex((value, i) => !Object.is(value, found[i]));
        if (bad < 0) passed++;
        else failed++;
        if (bad >= 0) console.log(`${type} ${name}, jit ${jit}, of ${x[bad]}: ${found[bad]}, the native library: ${native[bad]}`);
      }
      program.dispose();
      backend.dispose();
    }
  }
  console.log(`${type}: ${calls.length} functions of ${count} inputs`);
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed || passed < 100 ? 1 : 0);
