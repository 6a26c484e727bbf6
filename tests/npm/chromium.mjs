// Headless Chromium with a profile of its own, and a page of it that is driven through a pipe (DevTools protocol): CHROMIUM names another.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For startChromium: WebGPU over SwiftShader, which the browser has with it. */
export const WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan', '--ignore-gpu-blocklist'];

/** Starts it: { process, end() }. pipe: it is driven through file descriptors 3 and 4. */
export async function startChromium(address, { pipe = false, more = [] } = {}) {
  const profile = await mkdtemp(join(tmpdir(), 'hologram-chromium-'));
  const browser = spawn(process.env.CHROMIUM ?? 'chromium', ['--headless', '--no-sandbox', '--disable-quic', ...(more.some((one) => WEBGPU.includes(one)) ? [] : ['--disable-gpu']), '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps', `--user-data-dir=${profile}`,
    ...(pipe ? ['--remote-debugging-pipe'] : []), ...more, address], { stdio: ['ignore', 'ignore', 'ignore', ...(pipe ? ['pipe', 'pipe'] : [])] });
  return {
    process: browser,
    async end() {
      if (browser.exitCode === null && browser.pid) {
        const gone = new Promise((go) => browser.once('exit', go));
        browser.kill();
        await gone;
      }
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A page of Chromium: evaluate, input, pictures. events: what it throws and what its policy refuses, as texts. */
export class Page {
  #send;
  #receive = Buffer.alloc(0);
  #waiting = new Map();
  #last = 0;
  #session;
  #listeners = new Map();
  events = [];

  static async start(more = []) {
    const page = new Page();
    page.browser = await startChromium('about:blank', { pipe: true, more });
    const [, , , out, back] = page.browser.process.stdio;
    page.#send = out;
    back.on('data', (part) => page.#read(part));
    page.browser.process.on('error', (error) => page.#fail(error));
    page.browser.process.on('exit', () => page.#fail(new Error('Chromium ended')));
    const { targetInfos } = await page.#call('Target.getTargets', {}, null);
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    ({ sessionId: page.#session } = await page.#call('Target.attachToTarget', { targetId, flatten: true }, null));
    for (const domain of ['Page', 'Runtime', 'Log']) await page.call(`${domain}.enable`);
    page.on('Runtime.exceptionThrown', ({ exceptionDetails: { exception, text } }) => page.events.push(exception?.description ?? text));
    page.on('Log.entryAdded', ({ entry }) => { if (entry.level === 'error') page.events.push(`${entry.text} ${entry.url ?? ''}`); });
    return page;
  }

  #read(part) {
    this.#receive = Buffer.concat([this.#receive, part]);
    for (let end; (end = this.#receive.indexOf(0)) >= 0;) {
      const said = JSON.parse(this.#receive.subarray(0, end));
      this.#receive = this.#receive.subarray(end + 1);
      const call = this.#waiting.get(said.id);
      this.#waiting.delete(said.id);
      if (call && said.error) call.fail(new Error(said.error.message));
      else if (call) call.done(said.result);
      else for (const listener of this.#listeners.get(said.method) ?? []) listener(said.params);
    }
  }

  #fail(error) {
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
  }

  #call(method, params, sessionId = this.#session) {
    const id = ++this.#last;
    return new Promise((done, fail) => {
      this.#waiting.set(id, { done, fail });
      this.#send.write(`${JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) })}\0`);
    });
  }

  call(method, params = {}) {
    return this.#call(method, params);
  }

  on(event, listener) {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  /** The value of an expression in the page; promises are waited for. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  /** Waits until an expression holds. */
  async until(expression, seconds = 20) {
    for (const end = Date.now() + seconds * 1000; ;) {
      const value = await this.evaluate(expression);
      if (value) return value;
      if (Date.now() > end) throw new Error(`after ${seconds} s not: ${expression}`);
      await new Promise((go) => setTimeout(go, 20));
    }
  }

  /** How many dedicated workers the browser has. */
  async workers() {
    const { targetInfos } = await this.#call('Target.getTargets', {}, null);
    return targetInfos.filter(({ type }) => type === 'worker').length;
  }

  open(url) {
    return this.call('Page.navigate', { url });
  }

  /** Its window, and what it prefers. */
  async look({ width, height = 900, dark = false, scale = 1 }) {
    await this.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: width < 600 });
    await this.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  }

  mouse(type, x, y) {
    return this.call('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount: 1 });
  }

  async key(key, code = key, modifiers = 0) {
    const number = { Enter: 13, ' ': 32, Tab: 9, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key];
    await this.call('Input.dispatchKeyEvent', { type: 'rawKeyDown', key, code, modifiers, windowsVirtualKeyCode: number });
    await this.call('Input.dispatchKeyEvent', { type: 'keyUp', key, code, modifiers, windowsVirtualKeyCode: number });
  }

  /** The picture of the window as PNG. */
  async picture() {
    const { data } = await this.call('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }
}
