/** SIGHUP reads the keys file again, in a real process. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startChildService, type ChildService } from '../support/child-service.ts';
import { bearer, keysFile, tokenOf } from './support/keys.ts';

/** Answers once the file `go` is there. */
const patient = `
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export default {
  contract: 1, name: 'patient', capability: 'chat', options: { type: 'object', properties: {} },
  create: () => ({
    models: [{ id: 'patient', local: true }],
    async *complete() {
      yield { type: 'step-started', step: 0 };
      while (!existsSync('go')) await wait(5);
      yield { type: 'content-delta', step: 0, delta: 'Done.' };
      yield { type: 'completed', result: { content: 'Done.', finishReason: 'stop', reasoning: null, usage: null } };
    },
  }),
};
`;

const start = (...names: readonly string[]) =>
  startChildService({
    config: 'apiKeysFile: keys.yaml\nengines: { patient: { use: ./patient.mjs } }\n',
    files: { 'patient.mjs': patient, 'keys.yaml': keysFile(...names.map((name) => ({ name }))) },
  });

async function statusFor({ url }: ChildService, name: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/models`, { headers: bearer(tokenOf(name)) });
  await response.arrayBuffer();
  return response.status;
}

/** Replaces the file and sends the signal; resolves with the line of the log that says what came of it. */
async function reload(service: ChildService, text: string) {
  const isOurs = ({ msg }: { msg: string }) => msg.startsWith('the keys file');
  const before = service.log().filter(isOurs).length;
  await writeFile(join(service.dir, 'keys.yaml'), text);
  service.kill('SIGHUP');
  await expect.poll(() => service.log().filter(isOurs).length, { timeout: 20_000, interval: 5 }).toBe(before + 1);
  return service.log().findLast(isOurs)!;
}

it('adds and removes keys, keeps them if the file is invalid, and ends no stream', async () => {
  const service = await start('goes', 'stays');
  const stream = await fetch(`${service.url}/api/v1/chat/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(tokenOf('goes')) },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(stream.status).toBe(200);
  expect(await reload(service, keysFile({ name: 'stays' }, { name: 'comes' }))).toMatchObject({
    ...{ level: 40, added: ['comes'], removed: ['goes'], changed: [] },
  });
  const statuses = () => Promise.all(['goes', 'stays', 'comes'].map((name) => statusFor(service, name)));
  expect(await statuses()).toEqual([401, 200, 200]);
  expect(await reload(service, 'keys: [{ name: hush')).toMatchObject({ level: 50 });
  expect(await statuses()).toEqual([401, 200, 200]);
  await writeFile(join(service.dir, 'go'), '');
  expect(await stream.text()).toContain('event: chat.completed');
  const said = service.said.stdout + service.said.stderr;
  for (const secret of [...['goes', 'stays', 'comes'].map((name) => tokenOf(name)), 'hush']) {
    expect(said).not.toContain(secret);
  }
});

it('without the last key, every request is rejected', async () => {
  const service = await start('app');
  await reload(service, 'keys: []');
  expect(await statusFor(service, 'app')).toBe(401);
  expect((await fetch(`${service.url}/api/v1/models`)).status).toBe(401);
});

it('SIGHUP reads the certificate again; the start names the https and wss addresses', async () => {
  const fixtures = join(import.meta.dirname, '../fixtures/tls');
  const env = { TLS_CERT: join(fixtures, 'localhost.pem'), TLS_KEY: join(fixtures, 'localhost-key.pem') };
  await using service = await startChildService({ config: 'engines: { made-up: { use: sandbox } }\n', env });
  expect(service.url).toMatch(/^https:/);
  await expect.poll(() => service.said.stderr).toContain(`${service.url.replace('https', 'wss')}/v1/realtime`);
  service.kill('SIGHUP');
  await expect.poll(() => service.log().map(({ msg }) => msg)).toContain('the certificate was reloaded');
});

it('without a keys file, SIGHUP ends the process', async () => {
  const service = await startChildService({ env: { PARLANCE_SANDBOX: 'true', API_KEYS: tokenOf('app') } });
  service.kill('SIGHUP');
  expect((await service.exit).signal).toBe('SIGHUP');
});
