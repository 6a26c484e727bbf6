// The package through bundlers and the compiler of TypeScript, each output run in Chromium or Node.
//     node run.mjs PACKAGE TOOLS FOLDER SERVE.PY     PACKAGE: hologram as it is installed; TOOLS: where tools/setup put package-lock.json's
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Page } from '../chromium.mjs';
import { serve } from '../serve.mjs';

const [installed, tools, folder, script] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(tools, 'package.json'));
const run = promisify(execFile);
const EXPECTED = 'true 1,4,9';
let passed = 0;
let failed = 0;

async function check(name, body) {
  const start = performance.now();
  try {
    await body();
    passed++;
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  } catch (error) {
    failed++;
    console.log(`${name}: ${error.stack ?? error}`);
  }
}

function same(actual, expected) {
  if (actual !== expected) throw new Error(`expected '${expected}', got '${actual}'`);
}

/** A folder with the program and the package. */
async function project(name) {
  const at = join(folder, name);
  await mkdir(join(at, 'node_modules'), { recursive: true });
  await symlink(installed, join(at, 'node_modules', 'hologram'), 'dir');
  for (const file of ['app.mjs', 'index.html', 'sample.ts']) await cp(join(here, file), join(at, file));
  await writeFile(join(at, 'package.json'), '{ "type": "module" }\n');
  return at;
}

let page = null;

/** What a page says in Chromium. */
async function title(address) {
  page ??= await Page.start();
  await page.open(address);
  await page.until(`document.readyState === 'complete' && document.title && document.title !== 'waiting'`);
  return page.evaluate('document.title');
}

/** The same of a folder that serve.py serves, with its strict policy. */
async function shown(at) {
  const server = await serve(script, at);
  try {
    return await title(server.address);
  } finally {
    server.end();
  }
}

const checks = {
  async 'esbuild, browser'() {
    const at = await project('esbuild');
    await require('esbuild').build({ entryPoints: [join(at, 'app.mjs')], bundle: true, minify: true, format: 'esm', outfile: join(at, 'out', 'app.mjs'), logLevel: 'silent' });
    await cp(join(at, 'index.html'), join(at, 'out', 'index.html'));
    const missing = await shown(join(at, 'out'));
    if (!missing.includes('hologram.wasm') || !missing.includes('404')) throw new Error(`without the file: ${missing}`);
    await cp(join(installed, 'hologram.wasm'), join(at, 'out', 'hologram.wasm')); // as the guide says
    same(await shown(join(at, 'out')), EXPECTED);
  },

  async 'esbuild, Node'() {
    const at = await project('esbuild-node');
    await require('esbuild').build({ entryPoints: [join(at, 'app.mjs')], bundle: true, platform: 'node', format: 'esm', outfile: join(at, 'out', 'app.mjs'), logLevel: 'silent' });
    await cp(join(installed, 'hologram.wasm'), join(at, 'out', 'hologram.wasm'));
    same((await run(process.execPath, [join(at, 'out', 'app.mjs')])).stdout.trim(), EXPECTED);
  },

  async 'esbuild, Node, hologram/wasm'() {
    const at = await project('esbuild-core');
    const app = join(at, 'app.mjs');
    await writeFile(app, (await readFile(app, 'utf8')).replace("'hologram'", "'hologram/wasm'"));
    await require('esbuild').build({ entryPoints: [app], bundle: true, platform: 'node', format: 'esm', outfile: join(at, 'out', 'app.mjs'), logLevel: 'silent' });
    await cp(join(installed, 'hologram-core.wasm'), join(at, 'out', 'hologram-core.wasm')); // hologram.wasm is not there
    same((await run(process.execPath, [join(at, 'out', 'app.mjs')])).stdout.trim(), EXPECTED);
  },

  async webpack() {
    const at = await project('webpack');
    const webpack = require('webpack');
    const stats = await promisify(webpack)({ mode: 'production', optimization: { minimize: false }, context: at, entry: './app.mjs', output: { path: join(at, 'out'), filename: 'app.mjs', module: true },
      experiments: { outputModule: true }, resolve: { symlinks: false } });
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
    await cp(join(at, 'index.html'), join(at, 'out', 'index.html'));
    same(await shown(join(at, 'out')), EXPECTED);
  },

  async 'Vite, build'() {
    const at = await project('vite');
    const vite = await import(pathToFileURL(join(tools, 'node_modules', 'vite', 'dist', 'node', 'index.js')));
    await vite.build({ root: at, logLevel: 'error', configFile: false, base: './', build: { target: 'es2022' } });
    const assets = await readdir(join(at, 'dist', 'assets'));
    const wasm = assets.filter((name) => name.endsWith('.wasm'));
    if (wasm.length !== 1 || !/^hologram-(?!core-)/.test(wasm[0])) throw new Error(`hologram.wasm alone is expected among ${assets}`);
    same(await shown(join(at, 'dist')), EXPECTED);
  },

  async 'Vite, development'() {
    const at = await project('vite-dev');
    const vite = await import(pathToFileURL(join(tools, 'node_modules', 'vite', 'dist', 'node', 'index.js')));
    const server = await vite.createServer({ root: at, logLevel: 'error', configFile: false, server: { host: '127.0.0.1', port: 0, hmr: false, fs: { strict: false } },
      optimizeDeps: { exclude: ['hologram'] } }); // as the guide says
    await server.listen();
    try {
      same(await title(`http://127.0.0.1:${server.httpServer.address().port}/`), EXPECTED);
    } finally {
      await server.close();
    }
  },

  async 'tsc --strict'() {
    const at = await project('types');
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--skipDefaultLibCheck', '--preserveSymlinks'];
    await run(process.execPath, [join(tools, 'node_modules', 'typescript', 'bin', 'tsc'), ...options, 'sample.ts'], { cwd: at }).catch((error) => {
      throw new Error(error.stdout || error.message); // tsc says there what is wrong
    });
  },
};

await rm(folder, { recursive: true, force: true });
if (!(await readFile(join(tools, 'installed.txt')).catch(() => null))) {
  console.log('skipped: Vite, webpack, esbuild and TypeScript are not installed: tools/setup test, with a network');
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}
for (const [name, body] of Object.entries(checks)) await check(name, body);
await page?.browser.end();
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed || !passed ? 1 : 0);
