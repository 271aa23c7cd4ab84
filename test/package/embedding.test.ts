/** The service inside of another program: `createApp`. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient, type Client } from '../../src/client/index.ts';
import { createApp, loadSettings, RegistryError, SettingsError, type App } from '../../src/index.ts';
import { scripted } from '../client/support/scripted.ts';
import { connect, refusal, useSessions } from '../http/support/sessions.ts';
import { eventually } from '../api/support/eventually.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

useSessions();

interface Embedded {
  readonly app: App;
  readonly server: Server;
  readonly client: Client;
  readonly log: string[];
}

async function embed(config: string = scripted.config): Promise<Embedded> {
  const directory = await temporaryDirectory();
  await writeFiles(directory, { ...scripted.files, 'parlance.config.yaml': config });
  const env = { PATH: process.env.PATH, DATA_DIR: directory };
  const log: string[] = [];
  const note = (_facts: object, message: string) => void log.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  const app = await createApp({
    settings: loadSettings(env, directory),
    env,
    log: { ...logger, child: () => logger },
  });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const shouldUpgradeCallback = ({ url = '' }: IncomingMessage) => url.startsWith('/v1/realtime');
  const server = createServer({ shouldUpgradeCallback }, (req, res) => {
    if (req.url === '/mine') res.end('mine');
    else app.listener(req, res);
  })
    .on('upgrade', (...upgrade) => void app.upgrade(...upgrade))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { app, server, log, client: createClient({ baseUrl: originOf(server) }) };
}

const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const say = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

describe('an embedded service', () => {
  it('answers beside what its host answers', async () => {
    const { client, server } = await embed();
    expect(await (await fetch(`${originOf(server)}/mine`)).text()).toBe('mine');
    expect(await client.chat(say('hello'))).toMatchObject({ content: 'Grüß dich, 東京.' });
    expect(await client.transcribe(Buffer.from('RIFF\0\0\0\0WAVE'))).toMatchObject({ text: '12 bytes of wav' });
  });

  it('opens sessions on the server of its host, as the guide shows, and ends them when it is disposed of', async () => {
    const { app, server } = await embed();
    const { ws, next, closed } = await connect({ url: originOf(server) });
    ws.send('hello');
    expect(await next()).toBe('hello');
    expect((await refusal({ url: originOf(server) }, { origin: 'https://evil.example' })).status).toBe(403);
    await app[Symbol.asyncDispose]();
    expect(await closed).toBe(1012);
  });

  it('has the page', async () => {
    const { server } = await embed();
    const page = await fetch(originOf(server));
    expect(page.status).toBe(200);
    expect(await page.text()).toMatch(/<script type="module" src="assets\/main-/);
  });

  it('ends what is running when it is disposed of, and answers so', async () => {
    const { app, client, log } = await embed();
    const waiting = expect(client.chat(say('wait'))).rejects.toMatchObject({ status: 503, code: 'shutting-down' });
    await eventually(() => log.includes('the engine works')).toBe(true);
    await app[Symbol.asyncDispose]();
    await waiting;
    await eventually(() => log.includes('ended')).toBe(true);
  });

  it('refuses wrong settings with errors that can be told apart', async () => {
    expect(() => loadSettings({ PORT: 'eighty' })).toThrow(SettingsError);
    await expect(embed('engines: { mine: { use: nothing } }')).rejects.toThrow(RegistryError);
  });
});
