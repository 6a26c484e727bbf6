// The export /wasm in browsers: programs and circuits on WebAssembly, a smaller file.
import { makeWorker } from './browser.js';
import { fetchBytes, makeLoad, makeRunInBrowser } from './load.js';

export { HologramError } from './core.js';
export { version } from './interface.js';

export const load = makeLoad(new URL('./hologram-core.wasm', import.meta.url), fetchBytes, makeWorker, { whole: false });
export const run_in_browser = makeRunInBrowser(load, 'wasm');
export default { load };
