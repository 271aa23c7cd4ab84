/** Prism between a client and the service: it holds requests and answers against generated/openapi-3.2.json. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { tiedToUs } from '../../support/child-service.ts';
import { freePort } from '../../support/free-port.ts';

export interface Prism extends AsyncDisposable {
  /** Stands for the service's address with `/api/v1`. */
  readonly url: string;
}

const home = join(import.meta.dirname, '../../..');
const program = join(home, 'node_modules/@stoplight/prism-cli/dist/index.js');
const startsWithinMs = 60_000;

/** With `--errors`: what breaks the contract is answered by a problem of Prism's own. */
export async function startPrism(upstream: string): Promise<Prism> {
  const port = await freePort();
  const args = [
    'proxy',
    'generated/openapi-3.2.json',
    upstream,
    '--errors',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
  ];
  const [command, ...rest] = tiedToUs(process.execPath, program, ...args);
  const child = spawn(command, rest, { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  let said = '';
  const listening = Promise.withResolvers<boolean>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Prism is listening')) listening.resolve(true);
    });
  }
  const timer = setTimeout(() => listening.resolve(false), startsWithinMs);
  void exit.then(() => listening.resolve(false));
  const isListening = await listening.promise;
  clearTimeout(timer);
  const end = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  if (isListening) return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: end };
  await end();
  throw new Error(`Prism does not listen:\n${said}`);
}
