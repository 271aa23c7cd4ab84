// The Agents SDK in a live conversation in text: a tool, then a second turn. PARLANCE_URL names the service, ws://.../v1/realtime.
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents/realtime';
import { z } from 'zod';

const called = [];
const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    called.push(city);
    return `Sunny in ${city}.`;
  },
});
const agent = new RealtimeAgent({ name: 'Assistant', instructions: 'Be brief.', tools: [weather] });
const session = new RealtimeSession(agent, {
  transport: 'websocket',
  config: { outputModalities: ['text'], audio: { input: { turnDetection: null } } },
});
const errors = [];
session.on('error', (error) => errors.push(error));
session.transport.on('*', (event) => {
  if (event.type === 'response.done') ended();
});
let ended = () => {};
const done = () => new Promise((resolve) => (ended = resolve));

await session.connect({ apiKey: 'none', url: process.env.PARLANCE_URL });
let next = done();
session.sendMessage('call weather {"city": "Paris"}');
await next; // the call; its output and the next response follow
await done();
next = done();
session.sendMessage('Thank you');
await next;
const texts = session.history.flatMap((item) =>
  item.type === 'message' ? item.content.map(({ text, transcript }) => text ?? transcript) : [item.output],
);
console.log(JSON.stringify({ texts, called, errors }));
session.close();
