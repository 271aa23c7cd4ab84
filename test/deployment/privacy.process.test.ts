/**
 * A recording that is transcribed on this machine stays on it: proven where there is no other machine, with somebody
 * listening who would love to receive it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { spawnService, startChildService, type ChildService } from '../support/child-service.ts';
import { describeWith, findProgram, run } from '../support/programs.ts';
import { recordingKind } from '../support/recordings.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openNamespace, type Namespace } from './namespace.ts';
import {
  describeAsRoot,
  spoken,
  standIns,
  toAnswer,
  transcribe,
  whisperEngine,
  writeModels,
  type Answer,
} from './support.ts';

/** An engine as a third party writes it: sends each recording to a provider. */
const hostedEngine = `
import { readFile } from 'node:fs/promises';
export default {
  contract: 1,
  name: 'hosted',
  capability: 'transcription',
  options: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'], additionalProperties: false },
  create: ({ url }, context) => ({
    models: [{ id: 'hosted', local: false }],
    async transcribe({ recording }, { signal }) {
      const answer = await context.fetch(url, { method: 'POST', body: await readFile(recording.path), signal });
      return { ...(await answer.json()), language: null };
    },
  }),
};
`;

const browserRecording = 'webm/opus as MediaRecorder writes it (no duration, live clusters)';

describeAsRoot('in a network that ends at this machine', () => {
  describeWith(['ffmpeg', 'whisper-cli', 'curl', 'nsenter'], 'with real programs', (programs) => {
    const resources = new AsyncDisposableStack();
    let namespace: Namespace;
    let heardByProvider: readonly string[];
    let service: ChildService;
    let recordingPath: string;
    beforeAll(async () => {
      namespace = resources.use(await openNamespace());
      heardByProvider = await namespace.start(process.execPath, join(import.meta.dirname, 'programs/listener.mjs'));
      const port = /\d+$/.exec(heardByProvider[0]!)![0];
      const models = resources.use(await writeModels(['good', 'fails']));
      recordingPath = await recordingKind(browserRecording).make(['alpha', 'bravo'], {
        directory: models.directory,
        language: 'de',
      });
      const program = programs['whisper-cli'];
      const engines = [
        `hosted: { use: ./hosted.mjs, url: 'http://127.0.0.1:${port}/' }`,
        `absent: ${whisperEngine(models, ['absent'], { program })}`,
        `local: ${whisperEngine(models, ['good'], { program })}`,
        `broken: ${whisperEngine(models, ['fails'], { program: standIns.whisper })}`,
      ];
      const started = await spawnService({
        config: `engines:\n${engines.map((line) => `  ${line}\n`).join('')}`,
        files: { 'hosted.mjs': hostedEngine },
        through: () => namespace.enter,
      });
      service = resources.use(started);
    });
    afterAll(() => resources.disposeAsync());

    const curl = async (...args: string[]): Promise<Answer> => {
      const [enter, ...rest] = namespace.enter;
      const write = ['-sS', '-w', '\n%{http_code}'];
      const text = await run(enter, [...rest, programs.curl, ...write, ...args], { deadlineMs: 30_000 });
      const [body = '', status] = text.split('\n');
      return { status: Number(status), body: JSON.parse(body) as Answer['body'] };
    };
    const sendTo =
      (path: string) =>
      (...fields: string[]) =>
        curl(...['-F', `file=@${recordingPath}`, ...fields.flatMap((field) => ['-F', field])], service.url + path);
    const send = sendTo('/api/v1/transcribe');
    const sendOpenAI = sendTo('/v1/audio/transcriptions');
    const calls = () => heardByProvider.filter((line) => line === 'connection').length;

    test('there is no way out', async () => {
      await expect(curl('--max-time', '5', 'http://192.0.2.1/')).rejects.toThrow(/unreachable|connect/i);
    });

    test('a provider beside the local model is listed as not local, and the default is local', async () => {
      const { body } = await curl(`${service.url}/api/v1/transcribe/models`);
      expect(body).toMatchObject({
        data: [
          { id: 'hosted', engine: 'hosted', local: false, available: true },
          { id: 'absent', engine: 'absent', local: true, available: false },
          { id: 'good', engine: 'local', local: true, available: true },
          { id: 'fails', engine: 'broken', local: true, available: true },
        ],
        default: 'absent',
      });
    });

    test.each([
      ['gives its words', 'good', { status: 200, body: { ...spoken, model: 'good' } }],
      ['that fails says so', 'fails', { status: 500, body: { code: 'engine-failed' } }],
      ['that cannot work says so', 'absent', { status: 503, body: { code: 'model-unavailable' } }],
    ])('a local model %s, and the provider receives nothing', async (_how, model, expected) => {
      const before = calls();
      expect(await send(`model=${model}`)).toMatchObject(expected);
      expect(calls()).toBe(before);
    });

    test.each([
      ['gives its words', 'good', { status: 200, body: { text: spoken.text, language: 'german' } }],
      ['that fails says so', 'fails', { status: 500, body: { error: { code: 'engine_failed' } } }],
      ['that cannot work says so', 'absent', { status: 503, body: { error: { code: 'model_unavailable' } } }],
    ])('a local model %s through the OpenAI-compatible API, too', async (_how, model, expected) => {
      const before = calls();
      expect(await sendOpenAI(`model=${model}`, 'response_format=verbose_json')).toMatchObject(expected);
      expect(calls()).toBe(before);
    });

    test('a default that cannot work is not replaced by the provider', async () => {
      const before = calls();
      expect(await send()).toMatchObject({ status: 503, body: { code: 'model-unavailable' } });
      for (const alias of ['model=whisper-1', 'model=']) {
        const body = { error: { code: 'model_unavailable' } };
        expect(await sendOpenAI(alias)).toMatchObject({ status: 503, body });
      }
      expect(calls()).toBe(before);
    });

    test('neither the listings nor the probe call the provider', async () => {
      const before = calls();
      for (const path of ['transcribe/models', 'transcribe?model=hosted', 'transcribe?model=good']) {
        expect(await curl(`${service.url}/api/v1/${path}`)).toMatchObject({ status: 200 });
      }
      expect(await curl(`${service.url}/v1/models`)).toMatchObject({ status: 200 });
      expect(calls()).toBe(before);
    });

    test('the provider does receive what is sent to it by name', async () => {
      const before = calls();
      const answer = await send('model=hosted');
      expect(answer).toMatchObject({ status: 200, body: { text: 'transcribed by the provider', model: 'hosted' } });
      await expect.poll(calls).toBe(before + 1);
    });
  });
});

describe('as the kernel sees it', () => {
  describeWith(['ffmpeg', 'whisper-cli', 'whisper-host'], 'with real programs', (programs) => {
    test.for([
      ['whisper-host', {}],
      ['whisper-cli', { keepLoaded: false }],
    ] as const)(
      'neither the service nor %s connects to anything while it transcribes',
      async ([name, options], { skip }) => {
        const strace = findProgram('strace');
        if (strace === undefined) return skip('needs strace (apt-get install strace); not even CI insists on it');
        const models = await writeModels(['good']);
        onTestFinished(() => models[Symbol.asyncDispose]());
        const trace = join(await temporaryDirectory(), 'trace');
        // -D: the tracer is the grandchild, so that the pid is the service's.
        const flags = ['-D', '-f', '-qq', '--seccomp-bpf', '-e', 'trace=connect,execve', '-s', '200', '-o', trace];
        const service = await startChildService({
          config: `engines: { local: ${whisperEngine(models, ['good'], { program: programs['whisper-cli'], ...options })} }`,
          through: () => [strace, ...flags],
        });
        const directory = await temporaryDirectory();
        const path = await recordingKind(browserRecording).make(['alpha', 'bravo'], { directory, language: 'de' });
        const bytes = await readFile(path);
        expect(await transcribe(service, bytes)).toMatchObject({ status: 200, body: spoken });
        const form = new FormData();
        form.set('file', new File([bytes], 'recording'));
        const answer = await fetch(`${service.url}/v1/audio/transcriptions`, { method: 'POST', body: form });
        expect(await toAnswer(answer)).toMatchObject({ status: 200, body: { text: spoken.text } });
        // The tracer writes on its own time; all calls of the programs come before the end of the last one.
        service.kill('SIGTERM');
        await service.exit;
        const calls = await readFile(trace, 'utf8');
        expect(calls).toContain(`execve("${programs.ffmpeg}"`);
        expect(calls).toContain(`execve("${programs[name]}"`);
        expect(calls.split('\n').filter((line) => line.includes('connect('))).toEqual([]);
      },
    );
  });
});
