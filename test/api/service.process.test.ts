/** The service as a process: what it prints at its start, and how signals end it; a second signal is in test/deployment/crash.process.test.ts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { keysFile } from '../keys/support/keys.ts';
import { endsSoon, startChildService, startProcess } from '../support/child-service.ts';
import { createApi, type Api, type Call } from '../support/http.ts';
import { echo, patient } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { multipart, multipartType, recording } from './support/forms.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 120_000 }); // services in processes of their own, however busy the machine is

const form: Call = { headers: multipartType, body: multipart(recording) };
const transcribe = (at: Api) => at.send('POST', '/api/v1/transcribe', form);

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  /** A service with a request in flight, which ends when told to. */
  async function startBusy() {
    const child = await startChildService(patient);
    const answer = transcribe(createApi(child.url));
    answer.catch(() => undefined);
    await eventually(() => child.said.stdout).toContain('the engine works');
    return { child, answer, finish: () => writeFile(join(child.dir, 'finish'), '') };
  }

  const refuses = (url: string) =>
    connectRaw(url).then(
      (connection) => connection[Symbol.dispose](),
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    );

  it('lets requests in flight finish, accepts no more, and exits with 0', async () => {
    const { child, answer, finish } = await startBusy();
    child.kill(signal);
    await eventually(() => refuses(child.url)).toBe('ECONNREFUSED');
    await finish();
    expect(await answer).toMatchObject({ status: 200, body: { text: 'at last' } });
    expect(await endsSoon(child)).toEqual({ code: 0, signal: null });
  });

  it('exits with 0 at once when nothing is in flight, despite a kept-alive and a preconnected connection', async () => {
    const child = await startChildService(echo);
    using _preconnected = await connectRaw(child.url);
    using connection = await connectRaw(child.url);
    await connection.send(requestHead('GET', '/api/v1/models', {}));
    await connection.answer('GET', '/api/v1/models');
    child.kill(signal);
    expect(await endsSoon(child)).toEqual({ code: 0, signal: null });
  });
});

/**
 * An engine that sends a signal to its own process when the service first calls one of its functions. Its
 * model is loaded once the signal has been handled.
 */
const signalingEngine = (place: 'create' | 'warmUp', signal: NodeJS.Signals) => ({
  config: 'engines: { signaling: { use: ./signaling.mjs } }\n',
  files: {
    'signaling.mjs': `
let sent;
function send(place) {
  if (place !== '${place}' || sent) return;
  sent = new Promise((resolve) => '${place}' === 'create' ? resolve() : process.once('${signal}', resolve));
  process.kill(process.pid, '${signal}');
}
export default {
  contract: 1, name: 'signaling', capability: 'transcription', options: { type: 'object', properties: {} },
  create: (_options, { log }) => {
    send('create');
    return {
      models: [{ id: 'first', local: true }],
      async warmUp() {
        send('warmUp');
        await sent;
      },
      transcribe: async () => ({ text: '', language: null }),
      [Symbol.asyncDispose]: async () => log.info({}, 'closed'),
    };
  },
};
`,
  },
});

describe.each<[NodeJS.Signals, 'create' | 'warmUp', string]>([
  ['SIGTERM', 'create', 'starts'],
  ['SIGINT', 'warmUp', 'loads its models'],
])('%s at %s, while the service %s', (signal, place) => {
  it('stops the service as a later one does, and exits with 0', async () => {
    const env = { PORT: '0', TRANSCRIBE_SETUP: 'off' };
    const child = await startProcess('src/bin/start.ts', { ...signalingEngine(place, signal), env });
    expect({ exit: await child.exit, stderr: child.said.stderr }).toMatchObject({ exit: { code: 0, signal: null } });
    expect(child.said.stdout).toContain('closed');
  });
});

it('SIGHUP while the service starts reloads the keys file once it has started', async () => {
  const { config, files } = signalingEngine('create', 'SIGHUP');
  const keys = { 'keys.yaml': keysFile({ name: 'app' }) };
  const child = await startChildService({ config: `apiKeysFile: keys.yaml\n${config}`, files: { ...files, ...keys } });
  await eventually(() => child.said.stdout).toContain('the keys file was reloaded');
});

describe('a start', () => {
  it('prints the URL and what works', async () => {
    const child = await startChildService(echo);
    await eventually(() => child.said.stderr).toContain(`${child.url}/docs`);
    await eventually(() => child.said.stderr).toMatch(/Transcription\s+works with first/);
    expect((await createApi(child.url).get('/healthz')).body as Schemas['Problem']).toEqual({ status: 'ok' });
  });

  it('names the page as browsers see it behind a proxy', async () => {
    const env = { PUBLIC_URL: 'https://voice.example.com', ALLOW_OPEN: 'true' };
    const child = await startChildService({ ...echo, env });
    const where = `listens on ${child.url} (page: https://voice.example.com/, API reference: https://voice.example.com/docs)`;
    await eventually(() => child.said.stderr).toContain(where);
  });
});
