// The package in browsers: pages, workers, service workers.
import { makeWorker } from './browser.js';
import { fetchBytes, makeLoad, makeRunInBrowser } from './load.js';

export { HologramError } from './core.js';
export { version } from './interface.js';

/** Loads the library; a second call gives the first's. */
export const load = makeLoad(new URL('./hologram.wasm', import.meta.url), fetchBytes, makeWorker);
/** Computes something; gives "Computation complete". */
export const run_in_browser = makeRunInBrowser(load, 'auto');
export default { load };
