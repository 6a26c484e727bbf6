// A worker of the library in browsers (serve.js).
import { serve } from './serve.js';

self.onmessage = ({ data }) => serve(data, (answer) => self.postMessage(answer));
