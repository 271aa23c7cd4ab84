/** One settings file with engines of every origin: the listings say where a model comes from, and each one answers. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { whisperLanguages } from '../../lib/languages.ts';
import { callsOf } from '../engines/hosted-stt/support.ts';
import { says } from '../engines/llm-agent/support.ts';
import { createApi } from '../support/http.ts';
import { describeWith } from '../support/programs.ts';
import { answers, startProvider, type Behavior, type RawProvider } from '../support/provider.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { writeToneModel } from '../support/tone-model.ts';

/** Of somebody else, beside the settings: it repeats what it is told. */
const parrot = `
  export default {
    contract: 1,
    name: 'parrot',
    capability: 'chat',
    options: { type: 'object', properties: { mood: { type: 'string' } }, additionalProperties: false },
    create: ({ mood }) => ({
      models: [{ id: 'parrot', name: 'A parrot', local: true }],
      async *complete({ messages }) {
        yield { type: 'step-started', step: 0 };
        const content = messages.at(-1).content + ', ' + mood;
        yield { type: 'content-delta', step: 0, delta: content };
        yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
      },
    }),
  };`;

/** Of somebody else, as a package: its speech is its text. */
const whisperer = `
  export default {
    contract: 1,
    name: 'whisperer',
    capability: 'speech',
    options: { type: 'object', properties: {}, additionalProperties: false },
    create: () => ({
      models: [{ id: 'whisperer', local: true, voices: [{ id: 'low', name: 'Low', language: null }] }],
      synthesize: async ({ text }) => ({
        mediaType: 'audio/mpeg',
        audio: (async function* () { yield Buffer.from('whispered: ' + text); })(),
      }),
    }),
  };`;

/** What a provider does with each of its operations. */
const byPath =
  (operations: Readonly<Record<string, Behavior>>): Behavior =>
  (call) =>
    (operations[call.path] ?? answers(404, {}))(call);

async function start({ baseUrl }: RawProvider, whisper: string) {
  const folder = await temporaryDirectory();
  await writeToneModel(join(folder, 'tones.bin'));
  await writeFiles(folder, {
    'parrot.mjs': parrot,
    'node_modules/parlance-whisperer/package.json': {
      name: 'parlance-whisperer',
      type: 'module',
      exports: './index.js',
    },
    'node_modules/parlance-whisperer/index.js': whisperer,
    'settings.yaml': `
      engines:
        here: { use: whisper-cli, program: ${whisper}, models: [{ id: tones, file: tones.bin }] }
        voice: { use: tts, baseUrl: "${baseUrl}", local: false, models: [{ id: singer, voices: [anna, bob], formats: [mp3] }] }
        bird: { use: ./parrot.mjs, mood: 'merrily' }
        night: { use: parlance-whisperer }
        openai:
          - { use: hosted-stt, baseUrl: "${baseUrl}", local: false, models: [scribe] }
          - { use: llm-agent, baseUrl: "${baseUrl}", local: false }`,
  });
  const service = await startTestService({ env: { PARLANCE_CONFIG: join(folder, 'settings.yaml') } });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { ...createApi(service.url), ...callsOf(service) };
}

const ready = { available: true, code: 'ready', reason: 'Ready.' };
const times = ['prompt', 'temperature', 'segment', 'word', 'keywords', 'languages', 'translate'];
const chat = ['tools', 'json'];
const speech = ['speed', 'instructions'];
/** The first bytes of an mp3: no sound follows, none is wanted. */
const song = `ÿû\u0090d${'\0'.repeat(414)}`;

describeWith(['whisper-cli'], 'five instances of mixed origin', ({ 'whisper-cli': whisper }) => {
  test('are listed with their origin, and work', async () => {
    const provider = await startProvider();
    provider.behave(
      byPath({
        '/v1/models': answers(200, { data: [{ id: 'thinker' }] }),
        '/v1/audio/transcriptions': answers(200, { text: 'written', language: 'english', duration: 1.5 }),
        '/v1/chat/completions': says('thought'),
        '/v1/audio/speech': async ({ body, socket }) => {
          await body;
          const head = `HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ncontent-length: ${song.length}\r\n\r\n`;
          socket.write(`${head}${song}`, 'latin1');
        },
      }),
    );
    const { get, post, transcribe } = await start(provider, whisper);
    const questionFor = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] });

    expect((await get('/api/v1/transcribe/models')).body).toEqual({
      data: [
        {
          id: 'tones',
          name: 'tones',
          engine: 'here',
          local: true,
          ...ready,
          supports: times,
          languages: [...whisperLanguages, 'haw'],
        },
        { id: 'scribe', name: 'scribe', engine: 'openai', local: false, ...ready, supports: ['prompt', 'temperature'] },
      ],
      default: 'tones',
    });
    expect((await get('/api/v1/models')).body).toEqual({
      data: [
        { id: 'parrot', name: 'A parrot', engine: 'bird', local: true, ...ready, supports: [] },
        { id: 'openai/thinker', name: 'openai/thinker', engine: 'openai', local: false, ...ready, supports: chat },
      ],
      default: 'parrot',
    });
    const low = [{ id: 'low', name: 'Low', language: null }];
    const voices = ['anna', 'bob'].map((id) => ({ id, name: id, language: null }));
    expect((await get('/api/v1/tts/models')).body).toEqual({
      data: [
        {
          id: 'singer',
          name: 'singer',
          engine: 'voice',
          local: false,
          ...ready,
          supports: speech,
          voices,
          default_voice: 'anna',
        },
        {
          id: 'whisperer',
          name: 'whisperer',
          engine: 'night',
          local: true,
          ...ready,
          supports: [],
          voices: low,
          default_voice: null,
        },
      ],
      default: 'whisperer',
    });

    expect((await transcribe()).body).toMatchObject({ model: 'tones', text: 'alpha bravo' });
    expect(provider.calls.map(({ path }) => path)).toEqual(['/v1/models']); // nothing of the recording has left
    expect((await transcribe({ model: 'scribe' })).body).toMatchObject({ model: 'scribe', text: 'written' });
    expect((await post('/api/v1/chat', questionFor('parrot'))).body).toMatchObject({ content: 'hello, merrily' });
    expect((await post('/api/v1/chat', questionFor('openai/thinker'))).body).toMatchObject({
      content: 'thought',
    });
    const singing = await post('/api/v1/tts', { model: 'singer', text: 'la', voice_id: 'bob' });
    expect(singing.text).toBe(Buffer.from(song, 'latin1').toString());
    expect((await post('/api/v1/tts', { model: 'whisperer', text: 'la' })).text).toBe('whispered: la');

    const asked = provider.calls.map(async ({ path, body }) => [path, String(await body)] as const);
    const [, , chatAsked, speechAsked] = await Promise.all(asked);
    expect(chatAsked).toEqual(['/v1/chat/completions', expect.stringContaining('"model":"thinker"')]);
    expect(speechAsked).toEqual(['/v1/audio/speech', expect.stringContaining('"model":"singer"')]);
    expect(speechAsked?.[1]).toContain('"voice":"bob"');
  });
});
