// The export /webgpu in Node: load() fails where there is no WebGPU.
import { load as loadAny } from './node.js';
import { makeRunInBrowser, needWebGPU } from './load.js';

export { HologramError, version } from './node.js';
export const load = needWebGPU(loadAny);
export const run_in_browser = makeRunInBrowser(load, 'webgpu');
export default { load };
