/**
 * One scripted engine for everything: transcription, chat, speech. The id of a model says how it behaves:
 * `fine` works; `talkative` (chat) shows every event but a failure, which `late-failure` shows, as in a transcription;
 * `endless` (speech) never ends; `lawless` (transcription) answers what the contract does not allow; `crash` throws what no contract foresees; and
 * each code of an engine's failure fails with it.
 */
import { engineErrorCodes } from '../../../engines/contract/index.ts';
import { parameters } from '../../../src/transcription/parameters.ts';
import type { TestServiceOptions } from '../../support/service.ts';

/** All that the contract lets a transcription ask for. */
const supports = parameters.flatMap(([, { api, features }]) => (api ? features : []));

const source = `
import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';

const codes = ${JSON.stringify(engineErrorCodes)};
const retryAfter = { 'provider-rate-limited': 7 };

/** As an engine of another package throws it: known by its brand. */
function failWhereAsked(model) {
  if (model === 'crash') throw new TypeError('the secret of the engine');
  if (!codes.includes(model)) return;
  const error = new Error('It fails on purpose.');
  throw Object.assign(error, { [Symbol.for('parlance.engine-error')]: true, code: model, retryAfter: retryAfter[model] });
}

function define(capability, more, verb) {
  const models = ['fine', ...more, 'crash', ...codes].map((id) => ({ id, local: true, supports: ${JSON.stringify(supports)} }));
  const create = (_options, { dataDir }) => ({
    models,
    ...verb,
    ...(capability === 'speech' && { assets: [['installed', true], ['endless', false], ['another', false]].map((group) => groupIn(dataDir)(...group)) }),
  });
  return { contract: 1, name: 'scripted-' + capability, capability, options: { type: 'object', properties: {} }, create };
}

const transcription = define('transcription', ['late-failure', 'lawless'], {
  async transcribe({ recording, model, language, timestamps = [] }, { onSegment, onProgress, onQueued }) {
    failWhereAsked(model);
    if (model === 'late-failure') {
      onQueued?.(0);
      await wait(0);
    }
    if (model === 'lawless') return { text: 'fine', language: 'English' };
    const text = recording.bytes + ' bytes of ' + recording.container;
    const times = [{ startMs: 0, endMs: 400, text }];
    onSegment?.(times[0]);
    onProgress?.(400, 500);
    if (model === 'late-failure') {
      await wait(0);
      failWhereAsked('provider-error');
    }
    return {
      ...{ text, language: language ?? null, durationMs: 500 },
      ...(timestamps.includes('segment') && { segments: times }),
      ...(timestamps.includes('word') && { words: times }),
    };
  },
});

const chat = define('chat', ['talkative', 'late-failure'], {
  async *complete({ messages, model }, { signal, tools }) {
    failWhereAsked(model);
    yield { type: 'step-started', step: 0 };
    let step = 0;
    if (model === 'talkative') {
      yield* useTools(tools, signal);
      yield { type: 'step-started', step: ++step };
    }
    const content = messages.at(-1).content;
    yield { type: 'content-delta', step, delta: content };
    if (model === 'late-failure') failWhereAsked('provider-error');
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, reasoningTokens: 0 };
    const reasoning = model === 'talkative' ? 'Let me read that.' : null;
    yield { type: 'completed', result: { content, finishReason: 'stop', reasoning, usage } };
  },
});

/** Reads aloud, really, and says how far it is. */
async function* useTools(tools, signal) {
  const at = { step: 0, call: 0 };
  const args = { text: 'Good morning.' };
  yield { type: 'reasoning-delta', step: 0, delta: 'Let me read that.' };
  yield { type: 'tool-started', ...at, name: 'read_aloud', arguments: args };
  yield { type: 'tool-event', ...at, event: { type: 'progress', progress: 1, total: 2, message: 'half' } };
  const events = [];
  const tool = tools.find(({ name }) => name === 'read_aloud');
  const output = await tool?.run(args, { signal, emit: (event) => events.push(event) });
  for (const event of events) yield { type: 'tool-event', ...at, event };
  const outcome = tool ? { ok: true, output } : { ok: false, error: 'there is no such tool' };
  yield { type: 'tool-finished', ...at, name: 'read_aloud', durationMs: 1, ...outcome };
}

const mediaTypes = {
  ...{ mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', opus: 'audio/ogg' },
  ...{ flac: 'audio/flac', aac: 'audio/aac', pcm: 'audio/pcm' },
};

const groupIn = (dataDir) => (id, isReady) => ({ id, assets: [{
  ...{ kind: 'made', id, title: 'Part ' + id, bytes: 1000, license: 'MIT', verb: 'downloading', source: 'npm' },
  path: join(dataDir, id),
  isReady: () => isReady,
  async make({ signal, progress }) {
    progress(0.5);
    await wait(3_600_000, undefined, { signal });
  },
}] });

const speech = define('speech', ['endless'], {
  async synthesize({ text, model, format }, { signal }) {
    failWhereAsked(model);
    async function* speak() {
      yield Buffer.from(format + ': ' + text);
      if (model === 'endless') await wait(3_600_000, undefined, { signal });
    }
    return { mediaType: mediaTypes[format], audio: speak() };
  },
});

export default [transcription, chat, speech];
`;

export const scripted: Required<Pick<TestServiceOptions, 'config' | 'files'>> = {
  config: 'engines: { scripted: { use: ./scripted.mjs } }\n',
  files: { 'scripted.mjs': source },
};
