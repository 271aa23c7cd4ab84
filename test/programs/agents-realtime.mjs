// The Agents SDK in a live conversation in text: a tool, a handoff, an answer that a guardrail blocks, and a history that the
// program rewrites. PARLANCE_URL names the service, ws://.../v1/realtime.
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
const expert = new RealtimeAgent({ name: 'Expert', instructions: 'Be exact.' });
const agent = new RealtimeAgent({ name: 'Assistant', instructions: 'Be brief.', tools: [weather], handoffs: [expert] });
const guardrail = {
  name: 'No secrets',
  execute: async ({ agentOutput }) => ({ outputInfo: {}, tripwireTriggered: agentOutput.includes('private') }),
};
const session = new RealtimeSession(agent, {
  transport: 'websocket',
  outputGuardrails: [guardrail],
  config: { outputModalities: ['text'], audio: { input: { turnDetection: null } } },
});
const [agents, blocked, errors] = [[], [], []];
session.on('error', (error) => errors.push(error));
session.on('agent_handoff', (_context, from, to) => agents.push(from.name, to.name));
session.on('guardrail_tripped', (_context, _agent, { message }) => blocked.push(message));

const waiting = new Map();
const next = (type) => new Promise((resolve) => waiting.set(type, resolve));
session.transport.on('*', (event) => waiting.get(event.type)?.());
/** Sends the text, and waits for this many responses. */
async function say(text, responses = 1) {
  let done = next('response.done');
  session.sendMessage(text);
  for (let count = 1; count < responses; count++) {
    await done;
    done = next('response.done');
  }
  await done;
}
const texts = () =>
  session.history.flatMap((item) =>
    item.type === 'message' ? item.content.map(({ text, transcript }) => text ?? transcript) : [item.output],
  );

await session.connect({ apiKey: 'none', url: process.env.PARLANCE_URL });
await say('call weather {"city": "Paris"}', 2); // the call; its output and the next response follow
await say('call transfer_to_Expert {}', 2);
await say('private', 2);
const before = texts();

// Another question takes the place of the second one, and all answers go.
const [first, second] = session.history.filter(({ role }) => role === 'user');
const added = next('conversation.item.added');
const content = [{ type: 'input_text', text: 'Who are you?' }];
session.updateHistory([first, { ...second, itemId: 'item_corrected', content }]);
await added;
await say('Thank you');
console.log(JSON.stringify({ before, after: texts(), called, agents, blocked, errors }));
session.close();
