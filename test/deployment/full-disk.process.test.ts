/** A disk without room: a request that needs some is told so, the log has the cause, and what fits still works. */
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnService, type ChildService, type ProcessOptions } from '../support/child-service.ts';
import { decoders } from '../support/local-service.ts';
import { bearer, keysFile, tokenOf } from '../keys/support/keys.ts';
import { describeWith, requireProgram, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';
import {
  describeAsRoot,
  recording,
  spoken,
  transcribe,
  whisperEngine,
  writeModels,
  type Answer,
  type Models,
} from './support.ts';

const pageBytes = 4096;
const patience = { timeout: 10_000 };

/** A disk of its own for the data directory, in the process's own mount namespace: nothing stays mounted. */
const onDisk = (options: string) => (dataDir: string) => [
  requireProgram('unshare'),
  '--mount',
  '/bin/sh',
  '-c',
  `"${requireProgram('mount')}" -t tmpfs -o ${options} none "$1" && shift && exec "$@"`,
  'sh',
  dataDir,
];

/** The small disk as it looks from here. */
const diskOf = ({ pid, dataDir }: ChildService): string => `/proc/${pid}/root${dataDir}`;
const freeBytes = (service: ChildService): number => statfsSync(diskOf(service)).bavail * pageBytes;

/** Takes all of the disk but so many bytes. */
function fillUpTo(service: ChildService, roomBytes: number): Disposable {
  const path = join(diskOf(service), 'ballast');
  writeFileSync(path, Buffer.alloc(freeBytes(service) - roomBytes));
  return { [Symbol.dispose]: () => rmSync(path) };
}

const pagesFor = (bytes: number): number => Math.ceil(bytes / pageBytes) * pageBytes;

/** A minute of speech and silence: small as flac, 2 MB once it is decoded, 6 MB as it was recorded. */
const long = toneWav({ words: ['alpha'], rate: 48_000, tailSeconds: 60 });

describeAsRoot('on a full disk', () => {
  describeWith(['ffmpeg', 'whisper-cli', 'mount'], 'with real programs', (programs) => {
    let models: Models;
    let flac: Buffer;
    beforeAll(async () => {
      models = await writeModels(['tones']);
      const directory = await mkdtemp(join(tmpdir(), 'parlance-flac-'));
      const path = join(directory, 'long.flac');
      await run(programs.ffmpeg, ['-loglevel', 'error', '-f', 'wav', '-i', 'pipe:0', path], { input: long });
      flac = await readFile(path);
      await rm(directory, { recursive: true });
    });
    afterAll(() => models[Symbol.asyncDispose]());

    function start(size: string, { program = programs['whisper-cli'], ...options }: ProcessOptions & Program = {}) {
      const config = `engines: { local: ${whisperEngine(models, ['tones'], { program })} }`;
      // A budget that lets the disk itself come to its end.
      const env = { DISK_BUDGET: '1000000000', ...options.env };
      return spawnService({ ...options, env, config, through: onDisk(size) });
    }

    describe.each(Object.keys(decoders) as (keyof typeof decoders)[])('decoding by %s', (decoder) => {
      let service: ChildService;
      let freeAtFirst: number;
      beforeAll(async () => {
        service = await start('size=1m', { env: decoders[decoder] });
        freeAtFirst = freeBytes(service);
      });
      afterAll(() => service[Symbol.asyncDispose]());

      const outcomeOf = async (bytes: Uint8Array) => {
        const answer = await transcribe(service, bytes);
        await nothingIsLeft(service, freeAtFirst);
        return answer;
      };

      test.each([
        ['an upload that does not fit', () => long],
        ['a small recording whose sound does not fit', () => flac],
      ])('%s is storage-full, and a recording that fits still works', async (_what, bytes) => {
        const answer = await outcomeOf(bytes());
        expect(answer).toMatchObject({ status: 503, body: { code: 'storage-full' } });
        await expect.poll(() => causeInLog(service, answer), patience).toContain('ENOSPC');
        expect(JSON.stringify(answer.body)).not.toMatch(/ENOSPC|tmp|\//);
        expect(await outcomeOf(recording)).toMatchObject({ status: 200, body: spoken });
      });

      test('sound that misses its last page on the disk is not taken for all that was said', async () => {
        {
          using _ballast = fillUpTo(service, 2 * pagesFor(recording.length) - pageBytes);
          const answer = await transcribe(service, recording);
          expect(answer).toMatchObject({ status: 503, body: { code: 'storage-full' } });
        }
        expect(await outcomeOf(recording)).toMatchObject({ status: 200, body: spoken });
      });

      test('twenty uploads at once leave the disk as it was', async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => transcribe(service, long)));
        expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['storage-full']));
        expect(await outcomeOf(recording)).toMatchObject({ status: 200, body: spoken });
      });
    });

    test('whisper-cli that cannot write its result is engine-failed, with its own words in the log', async () => {
      const directory = await temporaryDirectory();
      const program = join(directory, 'whisper-cli');
      // Takes what is left of the disk, in the directory where it works, and then lets the real one work there.
      const script = `#!/bin/sh\ncat /dev/zero >ballast 2>/dev/null\nexec "${programs['whisper-cli']}" "$@"\n`;
      await writeFile(program, script, { mode: 0o755 });
      await using service = await start('size=1m', { program });
      const before = freeBytes(service);
      const answer = await transcribe(service, recording);
      expect(answer).toMatchObject({ status: 500, body: { code: 'engine-failed' } });
      await expect.poll(() => causeInLog(service, answer), patience).toContain('wrote no usable JSON');
      await nothingIsLeft(service, before);
      await writeFile(program, script.replace(/^cat.*$/m, ''));
      expect(await transcribe(service, recording)).toMatchObject({ status: 200, body: spoken });
    });

    test('a disk that takes no further file is storage-full too', async () => {
      await using service = await start('size=1m,nr_inodes=3');
      const answer = await transcribe(service, recording);
      expect(answer).toMatchObject({ status: 503, body: { code: 'storage-full' } });
      await expect.poll(() => causeInLog(service, answer), patience).toContain('ENOSPC');
    });
  });
});

describeAsRoot('on a disk that is read-only', () => {
  const onDisks = (options: string) => (dataDir: string) => [
    ...[requireProgram('unshare'), '--mount', '/bin/sh', '-c'],
    `mkdir "$1/tmp" && "${requireProgram('mount')}" -t tmpfs -o ${options} none "$1/tmp" && shift && exec "$@"`,
    ...['sh', dataDir],
  ];
  const config = 'engines: { sandbox: { use: sandbox } }';

  test('a service ends as on any other, and writes what its keys have used', async () => {
    const files = { 'keys.yaml': keysFile({ name: 'app', limits: { tokensPerDay: 1000 } }) };
    const env = { API_KEYS_FILE: 'keys.yaml' };
    await using service = await spawnService({ config, files, env, through: onDisks('size=1m') });
    const chat = { messages: [{ role: 'user', content: 'Hello' }] };
    const headers = { 'content-type': 'application/json', ...bearer(tokenOf('app')) };
    const answer = await fetch(`${service.url}/api/v1/chat`, { method: 'POST', headers, body: JSON.stringify(chat) });
    expect(answer.status).toBe(200);
    const enter = ['--target', String(service.pid), '--mount', 'mount', '-o', 'remount,ro', `${service.dataDir}/tmp`];
    await run(requireProgram('nsenter'), enter);
    service.kill('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expect(service.log().map(({ msg }) => msg)).toContain(
      'temporary files could not be removed; the next start removes them',
    );
    expect(JSON.parse(await readFile(join(service.dataDir, 'usage.json'), 'utf8'))).toMatchObject({
      keys: { app: {} },
    });
  });

  test('a start names the directory that cannot be written', async () => {
    await expect(spawnService({ config, through: onDisks('ro') })).rejects.toThrow(
      /DATA_DIR: (\S+) cannot be used: EROFS: read-only file system, mkdir '\1\/tmp\/parlance-/,
    );
  });
});

async function nothingIsLeft(service: ChildService, freeBefore: number): Promise<void> {
  await expect.poll(() => service.leftovers(), patience).toEqual([]);
  await expect.poll(() => freeBytes(service), patience).toBe(freeBefore); // nor a file that somebody still holds open
}

interface Program {
  readonly program?: string;
}

/** Out of the log's line about the request that was answered so: it may reach us after the answer. */
function causeInLog(service: ChildService, { body }: Answer): string {
  const line = service.log().find(({ id, msg }) => id === body.instance && msg === 'a request failed');
  return JSON.stringify(line?.err ?? null);
}
