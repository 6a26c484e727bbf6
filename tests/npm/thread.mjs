// A worker of Node that is given the compiled module.
import { parentPort, workerData } from 'node:worker_threads';
import { load } from 'hologram';

const hg = await load({ module: workerData });
parentPort.postMessage(hg.ops.add(hg.tensor([1, 2]), hg.tensor([3, 4])).data().join());
