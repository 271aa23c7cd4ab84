// The Agents SDK on a web page. Over a WebSocket, it neither records nor plays: the page sends what the user says.
/* global OfflineAudioContext, window */
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents/realtime';
import { z } from 'zod';

const rate = 24_000;
const seen = { errors: [], called: [], interrupted: 0 };
const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => {
    seen.called.push(city);
    return `Sunny in ${city}. `.repeat(100);
  },
});
const agent = new RealtimeAgent({ name: 'Assistant', instructions: 'Be brief.', tools: [weather] });
let session;

window.talk = (url, apiKey, input) => {
  session = new RealtimeSession(agent, { transport: 'websocket', config: { audio: { input } } });
  session.on('error', ({ error }) => seen.errors.push(error));
  session.on('audio_interrupted', () => (seen.interrupted += 1));
  return session.connect({ url, apiKey });
};

/** Sends a recording, a WAV file in base64, and a second of a room that is not quite silent. */
window.say = async (recording) => {
  const decoder = new OfflineAudioContext(1, 1, rate);
  const voice = (await decoder.decodeAudioData(Uint8Array.fromBase64(recording).buffer)).getChannelData(0);
  const sound = (_, at) => 32_767 * (voice[at] ?? 0) + ((at * at) % 101) / 3;
  session.sendAudio(Int16Array.from({ length: voice.length + rate }, sound).buffer);
};

window.seen = seen;
