// A folder that examples/web/serve.py serves, on any port.
import { spawn } from 'node:child_process';

/** script: where serve.py is. { address, end() }. */
export async function serve(script, folder, ...options) {
  const server = spawn('/usr/bin/python3', ['-B', script, '--port', '0', ...options, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((go, stop) => {
    server.stdout.once('data', (said) => go(String(said).trim()));
    server.once('exit', () => stop(new Error('serve.py ended')));
  });
  return { address, end: () => server.kill() };
}
