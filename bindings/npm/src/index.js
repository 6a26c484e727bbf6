// The package in browsers: pages, workers, service workers.
import { fetchBytes, makeLoad } from './load.js';

export { HologramError } from './core.js';
export { version } from './interface.js';

/** Loads the library; a second call gives the first's. */
export const load = makeLoad(new URL('./hologram.wasm', import.meta.url), fetchBytes);
export default { load };
