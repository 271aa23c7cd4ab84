/** Local models are warmed up before they answer, and hosted ones are not. */
import { expect, it } from 'vitest';
import type { Voice } from '../../engines/contract/index.ts';
import type { AnswerPlan, SpeechPlan } from '../../src/realtime/answer.ts';
import { warmUp } from '../../src/realtime/warm-up.ts';
import { createSpeechModelSelector } from '../../src/speech/speech-models.ts';

const voicesOf = (...languages: readonly string[]): Voice[] =>
  languages.map((language) => ({ id: `voice-${language}`, name: language, language }));

const models = [
  { id: 'english', local: true, voices: voicesOf('en') },
  { id: 'german', local: true, voices: voicesOf('de', 'fr') },
  { id: 'hosted', local: false },
];

/** Returns the calls of the engines. */
async function prepared(speech: Partial<SpeechPlan> | null, { local = true, defaultVoice = '' } = {}) {
  const calls: object[] = [];
  const engine = {
    warmUp: (call: object, options?: { readonly tools: readonly object[] }) =>
      Promise.resolve(void calls.push({ ...call, ...(options && { tools: options.tools }) })),
  };
  const availability = { available: true, code: 'ready', reason: 'Ready.' };
  const served = models.map((entry) => ({ id: entry.id, engineId: entry.id, entry, engine, availability }));
  const find = (id: string) => served.find((model) => model.id === id);
  const of = () => ({ all: served, find, default: served[0], failures: [], isNamed: false, knowsAll: true });
  const encode = () => {
    throw new Error('nothing is encoded');
  };
  const registry = { of } as never;
  const speakers = createSpeechModelSelector({ registry, defaultVoice: defaultVoice || undefined, encode });
  const tools = { toolsFor: () => Promise.resolve([{ name: 'look' }]), [Symbol.asyncDispose]: () => Promise.resolve() };
  const chat = { model: { engine, engineId: 'mind', entry: { id: 'mind', local } }, call: { messages: [] }, tools: {} };
  const selection = { model: null, voice: null, pointers: { model: '/model', voice: '/voice' } };
  const plan = { id: 'an-id', chat, speech: speech && { selection, encoding: 'pcm', ...speech } };
  const services = { tools, speakers } as unknown as Parameters<typeof warmUp>[1];
  await warmUp(plan as unknown as AnswerPlan, services, new AbortController().signal);
  return calls;
}

const selected = (fields: object) => ({
  selection: { model: null, voice: null, pointers: { model: '/model', voice: '/voice' }, ...fields },
});

it('a chat model gets the conversation and the tools', async () => {
  expect(await prepared(null)).toEqual([{ model: 'mind', messages: [], tools: [{ name: 'look' }] }]);
  expect(await prepared(null, { local: false })).toEqual([]);
});

it.each([
  ['the default', {}, { model: 'english' }],
  ['of the language', { language: 'de' }, { model: 'german', language: 'de' }],
  ['of a language with a longer code', { language: 'yue' }, { model: 'english' }],
  ['that is named', { ...selected({ voice: 'voice-fr' }), language: 'en' }, { model: 'german', voice: 'voice-fr' }],
])('a speech model gets the voice that speaks: %s', async (_what, speech, call) => {
  expect(await prepared(speech, { local: false })).toEqual([call]);
});

it('the voice of the settings is the one that speaks', async () => {
  const [call] = await prepared({ language: 'de' }, { local: false, defaultVoice: 'voice-en' });
  expect(call).toEqual({ model: 'english', voice: 'voice-en' });
});

it('a hosted voice is not called in advance', async () => {
  expect(await prepared(selected({ model: 'hosted' }), { local: false })).toEqual([]);
});
