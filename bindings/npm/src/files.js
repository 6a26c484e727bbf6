// What Node has for load(): files are read, all else is fetched; workers.
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { HologramError } from './core.js';
import { fetchBytes } from './load.js';

export async function read(url, options) {
  if (/^(https?|data|blob):/.test(url)) return fetchBytes(url, options);
  let bytes;
  try {
    bytes = await readFile(url.startsWith('file:') ? new URL(url) : url, { signal: options.signal });
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new HologramError(`${url}: cannot be read (${error.message}): is it beside the module? load({ wasmUrl }) names another place`,
      { status: 'HG_ERROR_IO', cause: error });
  }
  options.progress?.(bytes.length, bytes.length);
  return bytes;
}

export function makeWorker(given, ready, failed) {
  const worker = new Worker(new URL('./worker-node.js', import.meta.url));
  worker.on('message', ({ error }) => {
    worker.unref(); // Node may end while it waits for work
    if (error) failed(new Error(error));
    else ready();
  });
  worker.on('error', failed);
  worker.postMessage(given);
  return () => worker.terminate();
}
