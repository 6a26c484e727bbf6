// Headless Firefox with a profile of its own, told by WebDriver BiDi which page to open: FIREFOX names another. Needs Node's WebSocket
// (node --experimental-websocket before 22).
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where it listens, which it says when it has started. */
function listens(browser) {
  return new Promise((done, stop) => {
    let said = '';
    browser.stderr.on('data', (part) => {
      said += part;
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(said);
      if (found) done(found[1]);
    });
    browser.on('error', stop);
    browser.on('exit', (code) => stop(new Error(`Firefox ended with ${code}: ${said.slice(-500)}`)));
  });
}

/** Calls of the protocol, one after another. */
async function connect(address) {
  const socket = new WebSocket(address);
  const waiting = new Map();
  let last = 0;
  await new Promise((done, stop) => {
    socket.onopen = done;
    socket.onerror = () => stop(new Error(`${address} cannot be reached`));
  });
  socket.onmessage = ({ data }) => {
    const { id, type, result, error, message } = JSON.parse(data);
    const { done, stop } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (type === 'error') stop?.(new Error(`${error}: ${message}`));
    else done?.(result);
  };
  return (method, params) => new Promise((done, stop) => {
    waiting.set(++last, { done, stop });
    socket.send(JSON.stringify({ id: last, method, params }));
  });
}

/** Starts it and opens the page: { process, end() }. */
export async function startFirefox(address) {
  const profile = await mkdtemp(join(tmpdir(), 'hologram-firefox-'));
  const browser = spawn(process.env.FIREFOX ?? 'firefox-esr', ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } });
  const end = async () => {
    if (browser.exitCode === null && browser.pid) {
      const gone = new Promise((go) => browser.once('exit', go));
      browser.kill();
      await gone;
    }
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const call = await connect(`${await listens(browser)}/session`);
    await call('session.new', { capabilities: {} });
    const { contexts: [{ context }] } = await call('browsingContext.getTree', { maxDepth: 0 });
    await call('browsingContext.navigate', { context, url: address, wait: 'none' });
  } catch (error) {
    await end();
    throw error;
  }
  return { process: browser, end };
}
