/** What is answered before the upgrade. */
import { expect, it } from 'vitest';
import type { Connecting } from '../../../src/contract/session.ts';
import { problemAnswer } from '../../../src/contract/problems.ts';
import { connectRealtime } from '../../../src/openai/realtime/connect.ts';
import { toErrorResponse } from '../../../src/openai/errors.ts';
import { servicesWith, update } from './support.ts';

const connect = async (connecting: Partial<Connecting>, services = servicesWith()) =>
  connectRealtime({ query: {}, session: undefined, ...connecting } as Connecting, services);

const intent = 'transcription';

const errorOf = (connecting: Promise<unknown>): Promise<unknown> => connecting.catch((error: unknown) => error);

it.each([
  ['for a conversation with an unknown model', { model: 'absent' }, 'model_not_found', 'model'],
  ['for a conversation with a model that cannot load', { model: 'tired' }, 'engine_failed', null],
  ['for a call', { intent, call_id: 'rtc_1' }, 'invalid_request', 'call_id'],
  ['with an unknown model', { intent, model: 'absent' }, 'model_not_found', 'model'],
  ['with a model that cannot load', { intent, model: 'broken' }, 'engine_failed', null],
])('a connection %s is refused', async (_what, query, code, param) => {
  const error = await errorOf(connect({ query }));
  expect(toErrorResponse(problemAnswer(error, ''), error)).toMatchObject({ error: { code, param } });
});

it('a connection is refused if the default model cannot load', async () => {
  const services = servicesWith([{ id: 'broken', isBroken: true }]);
  expect(await errorOf(connect({ query: { intent } }, services))).toMatchObject({ code: 'engine-failed' });
});

it.each([
  ['its intent', { query: { intent } }],
  ['an alias as the transcription model', { query: { intent, model: 'gpt-live-transcribe' } }],
  ['a conversation, whatever the alias', { query: { model: 'gpt-realtime-2.1' } }],
  [
    'the session of a client secret, whatever the URL says',
    { query: { model: 'gpt-realtime' }, session: update({}).session },
  ],
])('a connection is accepted for %s', async (_what, connecting) => {
  expect(await connect(connecting)).toBeInstanceOf(Function);
});

it('a transcription session is refused if transcription is switched off, and a conversation takes no audio', async () => {
  const services = { ...servicesWith(), transcribeEnabled: false };
  expect(await errorOf(connect({ query: { intent } }, services))).toMatchObject({ code: 'transcription-disabled' });
  expect(await connect({ query: {} }, services)).toBeInstanceOf(Function);
});
