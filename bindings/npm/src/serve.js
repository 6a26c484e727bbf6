// What a worker of the library does: it makes an instance of the module over the memory that all share, and then what the library's pool
// gives it, for ever. Must not know: how the host made it (worker.js, worker-node.js).

import { codeOfWorker } from './native.js';

/** Milliseconds, the same on all threads. */
export const clock = () => performance.timeOrigin + performance.now();

/** given: { module, memory, number, stack, codes, codeStack }; answer({ ready }) or answer({ error }) is called once. */
export async function serve({ module, memory, number, stack, codes, codeStack }, answer) {
  let exports;
  try {
    const imports = { env: { memory } };
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
      if (kind === 'function') (imports[from] ??= {})[name] = () => { throw new Error(`a worker cannot call ${name}`); };
    let codeHere;
    imports.host.clock_ms = clock;
    imports.host.code_here = (place) => codeHere(place);
    ({ exports } = await WebAssembly.instantiate(module, imports));
    codeHere = codeOfWorker(memory, exports, codes, codeStack);
    exports.__stack_pointer.value = stack;
  } catch (error) {
    answer({ error: error.message });
    return;
  }
  answer({ ready: true });
  exports.hologram_worker(number);
}
