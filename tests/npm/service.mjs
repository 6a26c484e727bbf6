// The package in a service worker.
import { load } from './node_modules/hologram/index.js';

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('message', (event) => {
  event.waitUntil((async () => {
    try {
      const hg = await load();
      event.source.postMessage(hg.ops.add(hg.tensor([1, 2]), hg.tensor([3, 4])).data().join());
    } catch (error) {
      event.source.postMessage(String(error?.stack ?? error));
    }
  })());
});
