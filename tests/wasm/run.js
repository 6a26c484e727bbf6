// Runs recorded conformance cases in the core compiled to wasm32:  node run.js CORE.wasm CASES [poor]
'use strict';
const fs = require('fs');
const [wasm, cases, ...modes] = process.argv.slice(2);
let memory = null;
const host = {
    print: (at, length) => console.error(Buffer.from(memory.buffer, at, length).toString()),
    clock_ms: () => performance.now(),
};
const bytes = fs.readFileSync(cases);
let [passed, failed] = [0n, 0n];
for (const mode of ['', ...modes]) { // a fresh machine each
    const core = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(wasm)), { host }).exports;
    memory = core.memory;
    const at = core.reserve(bytes.length) >>> 0;
    if (at === 0) throw new Error('no memory for the cases');
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const start = performance.now();
    const result = core.replay(at, bytes.length, mode === 'poor' ? 1 : 0) >>> 0;
    const counts = new BigUint64Array(memory.buffer, result, 3); // the buffer is another one when memory has grown
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`wasm${mode ? ' ' + mode : ''}: ${counts[2]} values checked in ${seconds} s`);
    passed += counts[0];
    failed += counts[1];
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed > 0n || passed === 0n ? 1 : 0);
