// A worker of the library in Node (serve.js).
import { parentPort } from 'node:worker_threads';
import { serve } from './serve.js';

parentPort.once('message', (given) => serve(given, (answer) => parentPort.postMessage(answer)));
