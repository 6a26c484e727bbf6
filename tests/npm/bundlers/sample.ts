// Read by tsc --strict: what a user writes, and what must be refused.
import hologram, { load, version, HologramError } from 'hologram';
import type { Backend, Binding, Buffer, Diagnostic, Elements, Graph, Hologram, Program, Tensor, Value } from 'hologram';
import { load as loadWasm } from 'hologram/wasm';
import { load as loadGpu, run_in_browser } from 'hologram/webgpu';

export async function sample(signal: AbortSignal): Promise<number> {
  const hg: Hologram = await load({ signal, wasmUrl: new URL('https://example.org/hologram.wasm'), progress: (loaded, total) => console.log(loaded / total) });
  const same: Hologram = await hologram.load();
  const other: Hologram = await loadWasm({ bytes: new Uint8Array(8) });
  const values: Record<string, Value> = { x: Float32Array.of(1, 2), y: [1n, 2n], a: 2, b: 3n, on: true, image: { data: new Uint8Array(6), shape: [2, 3] } };
  const found: Record<string, Elements> = await hg.run('.atlas 1', values, { backend: 'wasm', signal, timeoutMs: 100, grid: [1, 2] });
  const program: Program = hg.assemble('.atlas 1', { defines: { N: 3 }, resolve: (name, from) => (from ? name : new Uint8Array(1)) });
  const bytes: Uint8Array = program.encode({ debug: true });
  const params: string[] = program.params.map((p) => `${p.name} ${p.kind} ${p.type ?? ''} ${p.dims?.join() ?? ''}`);
  const text: string | Uint8Array = program.emit('wgsl');
  const backend: Backend = hg.backend('wasm');
  const buffer: Buffer = backend.buffer('i128', [1n]);
  const zeros: Buffer = backend.buffer('f32', 16);
  const binding: Binding = program.bind({ x: buffer, y: zeros }, { lanes: 4n });
  await binding.run({ signal });
  const results = binding.results();
  const graph: Graph = hg.graph('.graph 1', { programs: () => program });
  const outputs = await graph.run({ x: [1] });
  const a: Tensor = hg.tensor([[1, 2], [3, 4]], { type: 'f32' });
  const sum: number = hg.ops.sum(a, { axes: [0], keepdims: true }).item();
  const circuit = hg.circuit('merge@c00[c01,c02]').run({ 0: [1], 1: [2] }, [2]);
  const said: 'Computation complete' = await run_in_browser({ gpu: null });
  const gpu: Backend = await (await loadGpu()).open('webgpu', { device: {}, timeout_ms: 5 });
  const copies: [Elements, Record<string, Elements>] = [await gpu.buffer(Float32Array.of(1)).readAsync(), await program.bind({}, { backend: gpu }).resultsAsync()];
  const memory: number = hg.devices()[0]?.memory_bytes ?? 0;
  try {
    hg.decode(bytes);
  } catch (error) {
    if (error instanceof HologramError) error.diagnostics.forEach((one: Diagnostic) => console.log(one.line, one.message, error.status));
  }
  for (const one of [binding, program, graph, a, backend]) one.dispose();
  hg.close();
  // @ts-expect-error a text or an object is expected
  void hg.run(5);
  // @ts-expect-error no such type
  backend.buffer('f33', 4);
  // @ts-expect-error a number of milliseconds
  program.bind({}, { timeoutMs: 'long' });
  // @ts-expect-error no value for a parameter
  program.bind({ x: () => 1 });
  // @ts-expect-error read only
  program.name = 'x';
  // @ts-expect-error no such option
  void load({ url: 'x' });
  console.log(said, copies, (await hg.opened('webgpu')).waits, hg.threads.count, same, other, found, params, text, results, outputs, circuit, version);
  return sum + memory;
}
