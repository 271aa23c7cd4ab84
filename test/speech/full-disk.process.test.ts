/** On a full disk, the model gets an error, readers see a broken transfer, and no file is left. */
import { expect, test } from 'vitest';
import { describeAsRoot } from '../deployment/support.ts';
import { startChildService, type ChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { requireProgram } from '../support/programs.ts';
import type { Schemas } from '../../src/contract/operations.ts';
import { addressOf, chatBody, open, scriptedEngines, sound, startReading } from './support.ts';

/** A disk of one megabyte in the process's own mount namespace. */
const onSmallDisk = (dataDir: string) => [
  requireProgram('unshare'),
  '--mount',
  '/bin/sh',
  '-c',
  `"${requireProgram('mount')}" -t tmpfs -o size=1m none "$1" && shift && exec "$@"`,
  'sh',
  dataDir,
];

async function readAloud(service: ChildService, text: string) {
  const script = chatBody({ calls: [[{ text }]] });
  const { headers, body } = await createApi(service.url).post('/api/v1/chat', script);
  const { said } = JSON.parse((body as Schemas['ChatResult']).content) as { said: string[] };
  return { said, path: /<\/api\/v1([^>]*)>/.exec(headers.get('link') ?? '')?.[1] };
}

describeAsRoot('on a full disk', () => {
  test('a clip that does not fit is storage-full before its first byte, and a broken transfer after it', async () => {
    const env = { DISK_BUDGET: '1000000000' }; // so that the disk itself comes to its end
    const service = await startChildService({ ...scriptedEngines(), env, through: onSmallDisk });

    const atOnce = await readAloud(service, '2000000');
    expect(atOnce.path).toBeUndefined();
    expect(atOnce.said).toEqual([expect.stringMatching(/^The disk of the service is full/)]);
    expect(await service.leftovers()).toEqual([]);

    const halfWay = await readAloud(service, '1000 gate:go 2000000');
    const reading = await startReading(addressOf(service, halfWay.path!));
    await expect.poll(() => reading.received).toBe(sound(0, 1000));
    await open(service, 'go');
    expect(await reading.ended).toBe('broken');
    await expect.poll(() => service.leftovers()).toEqual([]);
    // Its log comes through a pipe, and may be behind what the disk shows.
    const failure = () => service.log().find(({ msg }) => msg === 'the synthesis of a clip failed');
    await expect.poll(failure).toMatchObject({ err: { code: 'ENOSPC' } });

    const fitting = await readAloud(service, '150');
    const { status, text } = await createApi(service.url).get(`/api/v1${fitting.path!}`);
    expect({ status, text }).toEqual({ status: 200, text: sound(0, 150) });
  });
});
