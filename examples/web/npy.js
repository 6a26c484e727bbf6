// Reads .npy files of f32: what the network's weights come in.

/** { shape, data } */
export async function readNpy(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
  const bytes = await response.arrayBuffer();
  const start = 10 + new DataView(bytes).getUint16(8, true);
  const header = new TextDecoder().decode(new Uint8Array(bytes, 10, start - 10));
  const [, type, shape] = /'descr': '(.*?)'.*'shape': \((.*?)\)/.exec(header) ?? [];
  if (type !== '<f4' || /'fortran_order': True/.test(header)) throw new Error(`${url}: rows of f32 are expected, not ${header}`);
  return { shape: shape.split(',').filter((one) => one.trim()).map(Number), data: new Float32Array(bytes.slice(start)) };
}
