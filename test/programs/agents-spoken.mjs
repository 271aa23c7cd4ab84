// The Agents SDK with its own settings in a spoken conversation: the user speaks while each answer but the last is playing.
// PARLANCE_URL names the service, ws://.../v1/realtime.
import { RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';

const interruptions = 2;
const rate = 24_000;

/** A tone of one second, or silence. */
const samples = (ms, peak) =>
  Int16Array.from({ length: (rate * ms) / 1000 }, (_, at) => peak * Math.sin((2 * Math.PI * 440 * at) / rate)).buffer;
const say = () => {
  session.sendAudio(samples(600, 0));
  session.sendAudio(samples(1_000, 12_000));
};
const pause = () => session.sendAudio(samples(1_000, 0));

const session = new RealtimeSession(new RealtimeAgent({ name: 'Assistant' }), {
  transport: 'websocket',
});
const errors = [];
let interrupted = 0;
let truncated = 0;
session.on('error', (error) => errors.push(error));
session.on('audio_interrupted', () => (interrupted += 1));

const waiting = new Map();
const next = (type) => new Promise((resolve) => waiting.set(type, resolve));
session.transport.on('*', (event) => {
  if (event.type === 'conversation.item.truncated') truncated += 1;
  waiting.get(event.type)?.();
});

await session.connect({ apiKey: 'none', url: process.env.PARLANCE_URL });
for (let turn = 0; turn <= interruptions; turn += 1) {
  const sound = next('response.output_audio.delta');
  if (turn === 0) say();
  pause();
  await sound;
  if (turn === interruptions) break;
  const cut = next('conversation.item.truncated');
  say();
  await cut;
}
console.log(JSON.stringify({ interrupted, truncated, errors }));
session.close();
