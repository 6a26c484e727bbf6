// The export /wasm in Node: programs and circuits on WebAssembly, a smaller file.
import { makeWorker, read } from './files.js';
import { makeLoad, makeRunInBrowser } from './load.js';

export { HologramError } from './core.js';
export { version } from './interface.js';

export const load = makeLoad(new URL('./hologram-core.wasm', import.meta.url), read, makeWorker, { whole: false });
export const run_in_browser = makeRunInBrowser(load, 'wasm');
export default { load };
