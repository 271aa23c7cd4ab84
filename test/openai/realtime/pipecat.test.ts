/**
 * The test replays the messages that pipecat sends in a conversation (written by hand from
 * src/pipecat/services/openai/realtime/llm.py at acead05), and checks that pipecat could read every event.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLiveSession, type LiveSession } from '../../support/realtime-client.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { endsOfPipecat } from './pipecat-events.ts';
import { sandboxSpeech } from './spoken-turns.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const frameBytes = 960;
/** The last 500 ms of sound before an interruption, which pipecat sends again. */
const replayedBytes = 24_000;
const firstSound = 'response.output_audio.delta';

const speechOf = (text: string) => sandboxSpeech(service, text);

class Pipecat {
  readonly live: LiveSession;

  constructor(live: LiveSession) {
    this.live = live;
  }

  send(event: object): void {
    this.live.say({ event_id: randomUUID(), ...event });
  }

  /** The first context; the settings are sent again with it. */
  begin(context: string, session: object = {}): void {
    const update = { type: 'session.update', session: { type: 'realtime', model: 'gpt-realtime-2.1', ...session } };
    this.send(update);
    this.#create({ type: 'message', role: 'user', content: [{ type: 'input_text', text: context }] });
    this.send(update);
    this.#answer();
  }

  /** Answers the call as soon as its arguments are complete. */
  async answerCall(output: string): Promise<void> {
    const [call] = await this.live.until('response.function_call_arguments.done');
    const { call_id } = call as unknown as { readonly call_id: string };
    this.#create({ type: 'function_call_output', call_id, output });
    this.#answer();
  }

  #create(item: object): void {
    this.send({ type: 'conversation.item.create', item: { id: randomUUID().replaceAll('-', ''), ...item } });
  }

  #answer(): void {
    this.send({ type: 'response.create', response: { output_modalities: ['audio'] } });
  }

  truncate(): void {
    const playing = this.live.events.findLast(({ type }) => type === firstSound);
    const place = { item_id: playing?.item_id, content_index: 0, audio_end_ms: 100 };
    this.send({ type: 'conversation.item.truncate', ...place });
  }

  /** A turn that its own detector has found, while an answer plays. */
  interrupt(speech: Buffer): void {
    const onset = speech.subarray(0, replayedBytes);
    this.live.sound(onset, frameBytes);
    this.send({ type: 'input_audio_buffer.clear' });
    this.send({ type: 'input_audio_buffer.append', audio: onset.toString('base64') });
    this.send({ type: 'response.cancel' });
    this.truncate();
    this.live.sound(speech.subarray(replayedBytes), frameBytes);
    this.send({ type: 'input_audio_buffer.commit' });
    this.send({ type: 'response.create' });
  }

  retrieve(id: string): void {
    this.send({ type: 'conversation.item.retrieve', item_id: id, event_id: `rci_${id}` });
  }
}

const open = async () => new Pipecat(await openLiveSession(service, 'model=gpt-realtime-2.1'));

/** The status of each response, and what it said. */
const answersOf = ({ events }: LiveSession) =>
  events.flatMap(({ type, response }) => {
    if (type !== 'response.done') return [];
    const { status, output } = response as unknown as { status: string; output: readonly { content?: Content }[] };
    return [[status, output[0]?.content?.[0]?.transcript]];
  });
type Content = readonly { readonly transcript: string }[];

it('with its own turn detection: a tool, two interruptions, a turn without a transcript, and items', async () => {
  const pipecat = await open();
  const { live } = pipecat;
  const transcription = { model: 'gpt-realtime-whisper' };
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  pipecat.begin('call weather {"city": "Paris"}', {
    instructions: 'Be brief.',
    audio: { input: { transcription, noise_reduction: { type: 'near_field' }, turn_detection: null } },
    tools: [{ type: 'function', name: 'weather', description: 'The weather of a city.', parameters }],
  });
  await pipecat.answerCall('It is sunny, and it stays like this for a long time. '.repeat(20));
  await live.until(firstSound);
  pipecat.interrupt(await speechOf('And then?'));
  await live.until('response.done', 3);
  pipecat.interrupt(await speechOf('fail: provider-overloaded'));
  await live.until('response.done', 4);

  const [truncated] = await live.until('conversation.item.truncated', 2);
  pipecat.retrieve('absent');
  pipecat.retrieve(truncated!.item_id!);
  await live.until('conversation.item.retrieved');
  const errors = live.events.map(({ error }) => error);
  expect(errors).toContainEqual(
    expect.objectContaining({ code: 'item_retrieve_invalid_item_id', event_id: 'rci_absent' }),
  );
  expect(answersOf(live)).toEqual([
    ['completed', undefined],
    ['cancelled', expect.any(String)],
    ['completed', 'You said: And then?'],
    ['completed', 'You said: And then?'],
  ]);
  expect(live.events.map(({ type }) => type)).toContain('conversation.item.input_audio_transcription.failed');
  expect(endsOfPipecat(live.events)).toEqual([]);
});

it('with the turn detection of the service: a response that fails, and two interruptions', async () => {
  const pipecat = await open();
  const { live } = pipecat;
  pipecat.begin('fail: provider-overloaded');
  await live.until('response.done');
  for (const turn of [1, 2, 3]) {
    live.sound(await speechOf('say: One sentence. And another one.'), frameBytes);
    const started = (await live.until('input_audio_buffer.speech_started', turn)).at(turn - 1);
    if (turn > 1) pipecat.truncate();
    const before = live.events.slice(0, live.events.indexOf(started!));
    const heard = before.filter(({ type }) => type === firstSound).length;
    await live.until(firstSound, heard + 1);
  }
  await live.until('conversation.item.truncated', 2);
  expect(answersOf(live)[0]).toEqual(['failed', undefined]);
  expect(endsOfPipecat(live.events)).toEqual([]);
});
