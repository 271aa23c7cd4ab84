/** Real proxies with the blocks of docs/guides/reverse-proxy.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from '../docs/support/pages.ts';
import { tiedToUs } from '../support/child-service.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/processes.ts';
import { writeFiles } from '../support/temporary.ts';

interface Place {
  readonly directory: string;
  /** Where the proxy listens: host and port. */
  readonly at: string;
  /** Where the service listens. */
  readonly service: string;
}

export interface Proxy {
  /** The text of its configuration file. */
  readonly configure: (place: Place) => string;
  readonly args: (file: string) => readonly string[];
}

const guide = (language: string) => blocksOf('docs/guides/reverse-proxy.md', language);

/** `edit` changes the block of the guide. */
export const nginx = (edit: (server: string, path: string) => string = (server) => server): Proxy => ({
  configure: ({ directory, at, service }) => {
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = kinds.map((kind) => `${kind}_temp_path ${directory}/tmp;`);
    const [server = '', path = ''] = guide('nginx');
    const http = edit(server, path).replace('listen 80;', `listen ${at};`).replace('127.0.0.1:8484', service);
    return `daemon off; master_process off; pid ${directory}/pid; error_log stderr; events {}
      http { access_log off; absolute_redirect off; ${temporary.join(' ')} ${http} }`;
  },
  args: (file) => ['-e', 'stderr', '-c', file],
});

export const proxies: Readonly<Record<string, Proxy>> = {
  nginx: nginx(),
  caddy: {
    configure: ({ directory, at, service }) =>
      `{\nadmin off\nauto_https off\nstorage file_system ${directory}/tmp\n}\n${guide('caddyfile')[0]!
        .replace('voice.example.com', `http://${at}`)
        .replace('127.0.0.1:8484', service)}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  haproxy: {
    configure: ({ at, service }) =>
      guide('haproxy')[0]!.replace('bind :80', `bind ${at}`).replace('127.0.0.1:8484', service),
    args: (file) => ['-db', '-f', file],
  },
};

export interface StartedProxy extends AsyncDisposable {
  readonly url: string;
}

export interface ProxyOptions {
  /** Of the service. */
  readonly url: string;
  readonly port?: number;
  /** Where the proxy answers once it is up. */
  readonly probe?: string;
}

export async function startProxy(program: string, proxy: Proxy, options: ProxyOptions): Promise<StartedProxy> {
  const { url, port = await freePort(), probe = '/readyz' } = options;
  const directory = await mkdtemp(join(tmpdir(), 'parlance-proxy-'));
  await mkdir(join(directory, 'tmp'));
  const at = `127.0.0.1:${port}`;
  await writeFiles(directory, { config: proxy.configure({ directory, at, service: new URL(url).host }) });
  const [command, ...args] = tiedToUs(program, ...proxy.args(join(directory, 'config')));
  const env = { HOME: directory, PATH: process.env.PATH };
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(`${program} answers`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} has ended: ${said}`);
    const answer = await fetch(`http://${at}${probe}`).catch(() => undefined);
    return answer?.ok ?? false;
  });
  return {
    url: `http://${at}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}
