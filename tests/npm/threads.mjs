// Launches on several threads give the bits of one. The module is loaded anew for each: nothing of it may be loaded before.
const LANES = 40000;
const TEXT = `.atlas 1
.program mixed
.param x buffer f32 in [n]
.param y buffer f32 out [n]
.param n u64
.lanes n
    let v = x[global]
    for i in 0 .. 20 {
        v = sin(v) * 1.5 + exp(v * -0.25)
    }
    y[global] = v
`;

/** Bytes of what a few programs make. */
async function results(hg, whole) {
  const x = Float32Array.from({ length: LANES }, (_, i) => Math.fround(Math.sin(i) * 3));
  const { y } = await hg.run(TEXT, { x });
  if (!whole) return [new Uint8Array(y.buffer)];
  const a = hg.tensor(Array.from(x.subarray(0, 16384)), { shape: [128, 128] });
  const tensors = [hg.ops.matmul(a, a), hg.ops.softmax(a, { axes: [1] }), hg.ops.sum(a), hg.ops.sum(a, { axes: [0] })];
  return [y, ...tensors.map((one) => one.data())].map((one) => new Uint8Array(one.buffer, one.byteOffset, one.byteLength).slice());
}

/** { passed, failed, messages }. whole: there are tensors. */
export async function threads(load, most, whole = true) {
  const messages = [];
  let passed = 0;
  const alone = await load();
  const wanted = await results(alone, whole);
  if (alone.threads.count !== 1) messages.push(`${alone.threads.count} threads where none was asked for`);
  alone.close();
  for (let count = 2; count <= most; count++) {
    const hg = await load({ threads: count });
    if (hg.threads.count !== count) messages.push(`${hg.threads.count} threads, not ${count}: ${hg.threads.reason}`);
    for (let round = 0; round < 2; round++) {
      const found = await results(hg, whole);
      found.forEach((bytes, i) => {
        const at = bytes.findIndex((byte, k) => byte !== wanted[i][k]);
        if (at >= 0 || bytes.length !== wanted[i].length) messages.push(`result ${i} of ${count} threads differs at byte ${at}`);
        else passed++;
      });
    }
    // Kernels compiled by the host: workers make instances of their own, of one module after another, also where places in the table are used again.
    for (let round = 0; round < 3; round++) {
      const backend = await hg.open('wasm', { jit: 'on' });
      const program = hg.assemble(TEXT.replace('20', String(20 + round)));
      const x = Float32Array.from({ length: LANES }, (_, i) => Math.fround(Math.sin(i) * 3));
      const binding = program.bind({ x }, { backend });
      binding.launch(); // makes the kernel, by the interpreter
      const [y] = Object.values(binding.results());
      const before = hg.native.inWorkers;
      await hg.native.settled();
      for (let again = 0; again < 20 && (again < 3 || hg.native.inWorkers === before); again++) binding.launch();
      const [z] = Object.values(binding.results());
      const at = y.findIndex((one, i) => !Object.is(one, z[i]));
      if (at >= 0) messages.push(`compiled on ${count} threads: element ${at} is ${z[at]}, interpreted ${y[at]}`);
      else if (hg.native.error) messages.push(`compiled on ${count} threads: ${hg.native.error.stack}`);
      else if (hg.native.arrived <= round) messages.push(`compiled on ${count} threads: no code arrived`);
      else if (hg.native.inWorkers === before) messages.push(`compiled on ${count} threads: no worker took the code`);
      else passed++;
      binding.dispose();
      program.dispose();
      backend.dispose();
    }
    const used = hg.core.exports.hologram_workers_used();
    if (used !== count - 1) messages.push(`${used} workers of ${count - 1} got work`);
    hg.close();
  }
  return { passed, failed: messages.length, messages };
}
