/** The kit for speech catches what it is to catch. */
import { speechChecks } from '../../src/conformance/speech.ts';
import {
  badListings,
  badOptions,
  describeKit,
  firstOfEach,
  leavesProgram,
  litters,
  ownEngineError,
} from './support.ts';

/** Makes pcm, wav of 16 kHz and what looks like mp3, the latter two of a hundred bytes for a character. */
const good = `
  import { writeFile } from 'node:fs/promises';
  import { setTimeout as sleep } from 'node:timers/promises';
  ${ownEngineError}
  const heads = {
    mp3: () => Buffer.from('ID3'),
    pcm: () => Buffer.alloc(0),
    wav: (bytes) => {
      const head = Buffer.from('RIFF____WAVEfmt \\x10\\0\\0\\0\\x01\\0\\x01\\0\\x80\\x3e\\0\\0\\0\\x7d\\0\\0\\x02\\0\\x10\\0data____', 'latin1');
      head.writeUInt32LE(36 + bytes, 4);
      head.writeUInt32LE(bytes, 40);
      return head;
    },
  };
  export const parts = {
    heads,
    options: { type: 'object', additionalProperties: false, properties: { volume: { type: 'string' } } },
    models: [{ id: 'mouth', local: true, supports: ['speed', 'instructions'], voices: [{ id: 'ann', name: 'Ann', language: 'en' }] }],
    refuse: ({ model, voice = 'ann', format }) => {
      if (model !== 'mouth') throw new EngineError('unknown-model', 'There is no such model.');
      if (voice !== 'ann') throw new EngineError('voice-not-supported', 'It has one voice, ann.');
      if (!heads[format]) throw new EngineError('format-not-supported', 'It makes mp3, wav and pcm.');
    },
    work: async (context, { signal }) => {
      await using directory = await context.temporaryDirectory();
      await writeFile(directory.path + '/notes', 'of the work');
      await sleep(150, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    mediaType: (format) => ({ mp3: 'audio/mpeg', wav: 'audio/wav', pcm: 'audio/pcm' })[format],
    audio: async function* ({ text, format, speed = 1 }, { signal }) {
      const bytes = Math.round((format === 'pcm' ? 150 : 100) / speed);
      yield heads[format]([...text].length * bytes);
      for (const _ of text) {
        signal.throwIfAborted();
        yield Buffer.alloc(bytes);
      }
    },
  };
  export const engineOf = (own) => ({
    contract: 1,
    name: 'mouth',
    capability: 'speech',
    options: own.options,
    create: (_options, context) => ({
      models: own.models,
      ...(own.assets && { assets: own.assets }),
      async synthesize(call, options) {
        options.signal.throwIfAborted();
        own.refuse(call);
        await own.work(context, options);
        return { mediaType: own.mediaType(call.format), audio: own.audio(call, options) };
      },
    }),
  });
  export default engineOf(parts);`;

const models = (voice: string) => `models: [{ id: 'mouth', local: true, voices: [${voice}] }]`;

const bad = {
  ...firstOfEach(badListings),
  'an unknown model is rejected': {
    'accepts any model': `refuse: (call) => parts.refuse({ ...call, model: 'mouth' })`,
    'throws an ordinary error': `refuse: ({ model }) => { if (model !== 'mouth') throw new Error('no such model'); }`,
  },
  'listed voices have an id, a name, and a language or null; the default is one of them': {
    'names the language in English': models(`{ id: 'ann', name: 'Ann', language: 'english' }`),
    'has a voice without a name': models(`{ id: 'ann', name: '', language: 'en' }`),
    'has a default that it does not list': `models: [{ ...parts.models[0], defaultVoice: 'bob' }]`,
  },
  'text becomes audio, and longer text more audio': {
    'returns no audio': `audio: () => undefined`,
    'yields text': `audio: async function* () { yield 'ID3'; }`,
    'yields nothing': `audio: async function* () {}`,
    'yields an error page': `audio: async function* () { yield Buffer.from('<html>'); }`,
    'produces the same audio for every text': `audio: (call, options) => parts.audio({ ...call, text: 'a' }, options)`,
    'returns another media type': `mediaType: () => 'audio/mp3'`,
  },
  'every format is produced or rejected with format-not-supported': {
    'produces mp3 for every format': `audio: (call, options) => parts.audio({ ...call, format: 'mp3' }, options)`,
    'has a WAV header within its samples': `audio: async function* (call, options) {
      if (call.format !== 'wav') return yield* parts.audio(call, options);
      const bytes = call.text.length * 100;
      yield parts.heads.wav(44 + bytes);
      yield parts.heads.wav(bytes);
      yield Buffer.alloc(bytes);
    }`,
    'declares a wrong length': `audio: async function* (call, options) {
      if (call.format !== 'wav') return yield* parts.audio(call, options);
      yield parts.heads.wav(0x7fff_f000);
      yield Buffer.alloc(call.text.length * 100);
    }`,
    'rejects with another code': `refuse: (call) => {
      try { parts.refuse(call); } catch (error) { throw Object.assign(error, { code: 'content-rejected' }); }
    }`,
  },
  'pcm has the rate of the format': {
    'has the samples of its wav': `audio: async function* (call, options) {
      if (call.format !== 'pcm') return yield* parts.audio(call, options);
      yield Buffer.alloc(call.text.length * 100);
    }`,
    'ends with half a sample': `audio: async function* (call, options) {
      yield* parts.audio(call, options);
      if (call.format === 'pcm') yield Buffer.alloc(1);
    }`,
  },
  'a model that supports a speed keeps to it': {
    'speaks at one speed': `audio: ({ speed, ...call }, options) => parts.audio(call, options)`,
    'takes it for its inverse': `audio: (call, options) => parts.audio({ ...call, speed: 1 / call.speed }, options)`,
  },
  'a model that supports instructions accepts them': {
    'refuses them': `refuse: (call) => parts.refuse({ ...call, ...(call.instructions && { format: 'none' }) })`,
  },
  'an unlisted voice is rejected if voices are listed': {
    'accepts any voice': `refuse: (call) => parts.refuse({ ...call, voice: 'ann' })`,
  },
  'text without words returns audio or an EngineError': {
    'throws an ordinary error': `refuse: (call) => { parts.refuse(call); if (!/[a-z]/.test(call.text)) throw new Error(); }`,
  },
  'the stream ends promptly when the consumer stops reading': {
    'takes a second to end': `audio: async function* (...call) { try { yield* parts.audio(...call); } finally { await aSecond(); } }`,
  },
  'an aborted call rejects promptly with the abort reason': {
    'does not stop': `work: () => sleep(1000)`,
    'leaves a program running': leavesProgram('work'),
    'rejects with an error of its own': `work: (...call) => parts.work(...call).catch(() => { throw new Error(); })`,
  },
  'no files remain after a call, however it ends': {
    'writes to the temporary directory of the system': litters('work'),
    'leaves a directory': `work: async (context, options) => {
      await context.temporaryDirectory();
      await parts.work(context, options);
    }`,
  },
  ...firstOfEach(badOptions),
};

describeKit('speech', { checks: speechChecks, good, bad, toSubject: (subject) => subject });
