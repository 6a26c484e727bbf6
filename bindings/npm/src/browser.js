// What browsers have for load(): workers.
export function makeWorker(given, ready, failed) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'hologram' });
  worker.onmessage = ({ data }) => (data.error ? failed(new Error(data.error)) : ready());
  worker.onerror = (event) => failed(new Error(event.message || 'worker.js cannot be loaded: is it beside the module?'));
  worker.postMessage(given);
  return () => worker.terminate();
}
