// The checks in a worker of the page.
import * as hologram from './node_modules/hologram/index.js';
import { run } from './checks.mjs';

try {
  postMessage(await run(await hologram.load(), hologram));
} catch (error) {
  postMessage({ passed: 0, failed: 1, messages: [String(error?.stack ?? error)] });
}
