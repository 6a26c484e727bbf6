// The package in a headless browser, under a strict Content-Security-Policy but for the page of the guide (page.mjs says what is done).
//     node browser.mjs FOLDER [firefox]     FOLDER has node_modules/hologram and what lies beside this file
// The page posts what it found; nothing else of the browser is needed.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { WEBGPU, startChromium } from './chromium.mjs';
import { startFirefox } from './firefox.mjs';

const [folder, name] = process.argv.slice(2);
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const STRICT = "default-src 'self'; script-src 'self'";
let passed = 0;
let failed = 0;
let skipped = 0;
let finished;
const end = new Promise((go) => { finished = go; });

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (request.method === 'POST') {
    const parts = [];
    for await (const part of request) parts.push(part);
    const said = JSON.parse(Buffer.concat(parts).toString());
    response.end();
    if (said.part === 'end') return finished();
    passed += said.passed;
    failed += said.failed;
    skipped += said.skipped ?? 0;
    console.log(`${said.part}: ${said.passed} passed, ${said.failed} failed, ${said.ms.toFixed(0)} ms`);
    for (const message of said.messages) console.log(`${said.part}: ${message}`);
    return undefined;
  }
  try {
    const body = await readFile(join(folder, normalize(pathname)));
    const headers = { 'content-type': TYPES[extname(pathname)] ?? 'application/octet-stream', 'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp' }; // for threads
    if (!pathname.startsWith('/guide/')) headers['content-security-policy'] = searchParams.has('blocked') ? STRICT : `${STRICT} 'wasm-unsafe-eval'`;
    response.writeHead(200, headers);
    response.end(body);
  } catch {
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('no such file');
  }
  return undefined;
}

const server = createServer((request, response) => answer(request, response));
await new Promise((go) => server.listen(0, '127.0.0.1', go));
const long = process.env.HG_SLICE === 'long';
const seconds = long ? 3000 : 120;
const address = `http://localhost:${server.address().port}/page.html${long ? '?long' : ''}`;
const browser = await (name === 'firefox' ? startFirefox(address) : startChromium(address, { more: WEBGPU }));
const late = setTimeout(() => {
  console.log(`the browser was not through in ${seconds} s`);
  failed++;
  finished();
}, seconds * 1000);
browser.process.on('error', (error) => {
  console.log(`${error.message}`);
  failed++;
  finished();
});
await end;
clearTimeout(late);
await browser.end();
server.close();
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed || !passed ? 1 : 0);
