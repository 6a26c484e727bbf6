// The export /webgpu in browsers: load() fails where there is no WebGPU.
import { load as loadAny } from './index.js';
import { makeRunInBrowser, needWebGPU } from './load.js';

export { HologramError, version } from './index.js';
export const load = needWebGPU(loadAny);
export const run_in_browser = makeRunInBrowser(load, 'webgpu');
export default { load };
