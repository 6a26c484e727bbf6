// The package in browsers: pages, workers, service workers.
import { fetchBytes, makeLoad, makeRunInBrowser } from './load.js';

export { HologramError } from './core.js';
export { version } from './interface.js';

function makeWorker(given, ready, failed) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'hologram' });
  worker.onmessage = ({ data }) => (data.error ? failed(new Error(data.error)) : ready());
  worker.onerror = (event) => failed(new Error(event.message || 'worker.js cannot be loaded: is it beside the module?'));
  worker.postMessage(given);
  return () => worker.terminate();
}

/** Loads the library; a second call gives the first's. */
export const load = makeLoad(new URL('./hologram.wasm', import.meta.url), fetchBytes, makeWorker);
/** Computes something; gives "Computation complete". */
export const run_in_browser = makeRunInBrowser(load, 'auto');
export default { load };
