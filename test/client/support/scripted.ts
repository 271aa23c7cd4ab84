/** An engine for each capability in one module, as its author would write it: what they do hangs on what they are told. */
import type { TestServiceOptions } from '../../support/service.ts';

const source = `
import { setTimeout as wait } from 'node:timers/promises';

const options = { type: 'object', properties: {} };
const common = (...entries) => ({
  models: entries,
});

/** Until the caller has disconnected, as the log says. */
async function untilAborted(context, signal) {
  context.log.info({}, 'the engine works');
  try {
    await wait(60_000, undefined, { signal });
  } finally {
    context.log.info({}, 'ended');
  }
}

function failure(code, message) {
  const error = Object.assign(new Error(message), { code, retryAfter: 7 });
  error[Symbol.for('parlance.engine-error')] = true;
  return error;
}

const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5, reasoningTokens: 0 };
const chat = (context) => ({
  ...common({ id: 'scripted', local: true }),
  async *complete({ messages }, { signal, tools }) {
    const said = messages.at(-1).content;
    if (said === 'rate limit') throw failure('provider-rate-limited', 'Too fast.');
    yield { type: 'step-started', step: 0 };
    if (said === 'read aloud') {
      const readAloud = tools.find(({ name }) => name === 'read_aloud');
      const args = { text: 'Hello.' };
      yield { type: 'tool-started', step: 0, call: 0, name: 'read_aloud', arguments: args };
      const events = [];
      const output = await readAloud.run(args, { signal, emit: (event) => events.push(event) });
      for (const event of events) yield { type: 'tool-event', step: 0, call: 0, event };
      yield { type: 'tool-finished', step: 0, call: 0, name: 'read_aloud', ok: true, output, durationMs: 1 };
      yield { type: 'step-started', step: 1 };
    }
    const step = said === 'read aloud' ? 1 : 0;
    for (const delta of ['Grüß ', 'dich, ', '東京.']) yield { type: 'content-delta', step, delta };
    if (said === 'wait') await untilAborted(context, signal);
    if (said === 'fail midway') throw failure('provider-error', 'It fell over.');
    yield { type: 'completed', result: { content: 'Grüß dich, 東京.', finishReason: 'stop', reasoning: null, usage } };
  },
});

const speech = (context) => ({
  ...common({ id: 'voice', local: true, voices: [{ id: 'low', name: 'Low', language: 'en' }] }),
  async synthesize({ text, format }, { signal }) {
    async function* audio() {
      yield Buffer.from(format + ':' + text);
      if (text === 'wait') await untilAborted(context, signal);
    }
    return { mediaType: format === 'wav' ? 'audio/wav' : 'audio/mpeg', audio: audio() };
  },
});

const transcription = (context) => ({
  ...common({ id: 'ear', local: true, supports: ['segment'] }),
  async transcribe({ recording: { bytes, container }, language, timestamps = [] }, { signal, onSegment, onProgress }) {
    const text = bytes + ' bytes of ' + container;
    const segments = [{ startMs: 0, endMs: 1200, text }];
    onSegment?.(segments[0]);
    onProgress?.(1200, 1500);
    if (language === 'zz') await untilAborted(context, signal);
    if (language === 'xx') throw failure('provider-error', 'It fell over.');
    return { text, language: language ?? null, durationMs: 1500, ...(timestamps.length > 0 && { segments }) };
  },
});

export default Object.entries({ chat, speech, transcription }).map(([capability, create]) => ({
  contract: 1,
  name: 'scripted-' + capability,
  capability,
  options,
  create: (_options, context) => create(context),
}));
`;

/** Say \`wait\`, \`rate limit\`, \`fail midway\` or \`read aloud\` to the chat, \`wait\` to the voice; language \`zz\` makes the ear wait, \`xx\` fail. */
export const scripted = {
  config: 'engines: { scripted: { use: ./scripted.mjs } }\n',
  files: { 'scripted.mjs': source },
} as const satisfies TestServiceOptions;
