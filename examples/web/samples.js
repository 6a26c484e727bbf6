// The programs that the page shows. values: what stands in the form at first; arrays are words that form.js knows.
export const SAMPLES = [
  { file: 'programs/waves.atlas', title: 'Waves (a picture)' },
  { file: 'programs/mandelbrot.atlas', title: 'Mandelbrot set (f64)' },
  { file: 'programs/life.atlas', title: 'Game of Life (lanes that meet)' },
  { file: 'programs/planets.atlas', title: 'Planets (n-body)' },
  { file: 'programs/histogram.atlas', title: 'Histogram (atomics)' },
  { file: 'programs/matmul.atlas', title: 'Matrix product (shared memory)' },
  { file: 'programs/functions.atlas', title: 'Functions (f64, f32)' },
  { file: 'programs/halves.atlas', title: 'f16 and bf16' },
  { file: 'programs/collatz.atlas', title: 'Collatz (64-bit integers)' },
  { file: 'programs/fermat.atlas', title: 'Fermat test (512-bit integers)' },
  { file: 'examples/axpy.atlas', title: 'axpy (arrays that you give)', values: { x: '1, 2, 3, 4', y: '10, 20, 30, 40', alpha: '2' } },
  { file: 'examples/median3x3.json', title: 'Median of an image (JSON kernel)', values: { image: 'noise', h: '96', w: '144' } },
  { file: 'programs/blend.json', title: 'Blend of arrays (JSON kernel)', values: { x: 'ramp 200', y: 'noise', t: '0.25' } },
];

/** Whose hashes are compared: each runs without inputs. */
export const HASHED = SAMPLES.slice(0, 10);

const texts = new Map();

/** The text of a file beside the page. */
export function textOf(file) {
  if (!texts.has(file)) {
    texts.set(file, fetch(new URL(file, import.meta.url)).then((response) => {
      if (!response.ok) throw new Error(`${file}: the server answered ${response.status}`);
      return response.text();
    }));
    texts.get(file).catch(() => texts.delete(file));
  }
  return texts.get(file);
}
