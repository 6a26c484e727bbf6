// Threads: workers over one shared memory. Must not know: how the host makes a worker (browser.js, files.js), programs.
import { HologramError, kindOf } from './core.js';
import { CODE_RECORDS, CODE_BYTES, IMPORT, STACK_BYTES } from './native.js';

const PAGES = 32; // what the module is linked with, --initial-memory
const MOST_PAGES = [65536, 32768, 16384, 4096]; // some hosts reserve shared memory at once
const MOST = 32; // HG_WORKERS_MAX and the thread that asks
const STACK = 2 ** 20; // of a worker, as much as the first thread has

/** How many threads there can be where so many are wanted: { count, reason }, why not more. */
export function threadsFor(wanted = 1) {
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MOST)
    throw new HologramError(`load, threads: a number from 1 to ${MOST} is expected, not ${typeof wanted === 'number' ? wanted : kindOf(wanted)}`);
  if (wanted === 1) return { count: 1, reason: '' };
  if (globalThis.crossOriginIsolated === false || typeof SharedArrayBuffer === 'undefined')
    return { count: 1, reason: 'one thread: this page is not cross-origin isolated; its server must send Cross-Origin-Opener-Policy: same-origin ' +
      'and Cross-Origin-Embedder-Policy: require-corp' };
  return { count: wanted, reason: '' };
}

/** The bytes of a module whose memory is shared. */
export function sharing(bytes) {
  const made = bytes.slice();
  const at = made.subarray(0, 4096).findIndex((_, i) => IMPORT.every((byte, j) => made[i + j] === byte));
  if (at >= 0) made[at + IMPORT.length] |= 2;
  return made;
}

/** Memory for an instance. */
export function makeMemory(shared) {
  if (!shared) return new WebAssembly.Memory({ initial: PAGES, maximum: MOST_PAGES[0] });
  for (const maximum of MOST_PAGES) {
    try {
      return new WebAssembly.Memory({ initial: PAGES, maximum, shared });
    } catch { /* smaller */ }
  }
  throw new HologramError('there is no address space for shared memory', { status: 'HG_ERROR_OUT_OF_MEMORY' });
}

/**
 * Workers, one fewer than threads. makeWorker(given, ready, failed) is the host's; it gives what ends the worker. The promise is fulfilled
 * when all are there, with { end, codes }: what ends them, and where they look for native code.
 */
export async function startWorkers(count, makeWorker, module, memory, exports) {
  const ends = [];
  const allocate = (size) => {
    const at = exports.hologram_allocate(size) >>> 0;
    if (!at) throw new HologramError(`out of memory: ${size} bytes for a thread`, { status: 'HG_ERROR_OUT_OF_MEMORY' });
    return at;
  };
  const end = () => ends.forEach((one) => one());
  const codes = allocate(CODE_RECORDS * CODE_BYTES);
  new Uint8Array(memory.buffer, codes, CODE_RECORDS * CODE_BYTES).fill(0);
  try {
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => new Promise((ready, failed) => {
      const codeStack = (allocate(STACK_BYTES) + STACK_BYTES) & ~15;
      const given = { module, memory, number: i + 1, stack: allocate(STACK) + STACK, codes, codeStack };
      ends.push(makeWorker(given, ready, failed));
    })));
  } catch (error) {
    end();
    throw error;
  }
  exports.hologram_workers(count - 1);
  return { end, codes };
}
