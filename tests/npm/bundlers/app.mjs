// What is bundled: the program of the guide.
import { load, version } from 'hologram';

try {
  const hg = await load();
  const { y } = await hg.run('.atlas 1\n.program square\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n    y[global] = x[global] * x[global]\n',
    { x: Float32Array.of(1, 2, 3) });
  const said = `${hg.version.startsWith(version)} ${y.join()}`;
  if (globalThis.document) document.title = said;
  else console.log(said);
} catch (error) {
  if (globalThis.document) document.title = `failed: ${error.message}`;
  else throw error;
}
