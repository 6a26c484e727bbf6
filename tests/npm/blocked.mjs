// In a page whose Content-Security-Policy has no 'wasm-unsafe-eval'.
import { load } from './node_modules/hologram/index.js';

load().then(() => { document.title = 'it was loaded'; }, (error) => { document.title = error.message; });
