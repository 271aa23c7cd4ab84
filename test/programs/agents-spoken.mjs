// The Agents SDK with its own settings in a spoken conversation: the first turn calls a tool, and the user speaks again
// while each answer but the last is playing. The arguments are the sounds of the turns: 24 kHz, 16 bits.
// PARLANCE_URL names the service, http://.../v1.
import { readFile } from 'node:fs/promises';
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents/realtime';
import { z } from 'zod';

const [, , ...turns] = process.argv;
const pause = new ArrayBuffer(48_000);

const called = [];
const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => {
    called.push(city);
    return `It is sunny in ${city}. `.repeat(40);
  },
});
const agent = new RealtimeAgent({ name: 'Assistant', instructions: 'Be brief.', tools: [weather] });
const session = new RealtimeSession(agent, { transport: 'websocket' });
const [said, cut, errors] = [[], [], []];
let interrupted = 0;
session.on('error', (error) => errors.push(error));
session.on('audio_interrupted', () => (interrupted += 1));

const waiting = new Map();
const next = (type) => new Promise((resolve) => waiting.set(type, resolve));
session.transport.on('*', (event) => {
  if (event.type === 'conversation.item.input_audio_transcription.completed') said.push(event.transcript.trim());
  if (event.type === 'conversation.item.truncated') cut.push(event.audio_end_ms);
  waiting.get(event.type)?.();
});

await session.connect({ apiKey: 'none', url: `${process.env.PARLANCE_URL.replace('http', 'ws')}/realtime` });
for (const [turn, file] of turns.entries()) {
  const truncated = next('conversation.item.truncated');
  const { buffer } = new Uint8Array(await readFile(file));
  session.sendAudio(buffer);
  if (turn > 0) await truncated;
  const sound = next('response.output_audio.delta');
  session.sendAudio(pause);
  await sound;
}
console.log(JSON.stringify({ said, called, interrupted, cut, errors }));
session.close();
