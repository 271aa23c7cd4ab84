// The Agents SDK in its default mode (responses): two turns, the first with a tool. OPENAI_BASE_URL names the service.
import { Agent, run, tool } from '@openai/agents';
import { z } from 'zod';

const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `Sunny in ${city}.`,
});
const agent = new Agent({ name: 'Assistant', instructions: 'Be brief.', model: 'remote', tools: [weather] });

const first = await run(agent, 'How is the weather in Paris?');
const again = [...first.history, { role: 'user', content: 'And which city was it?' }];
const second = await run(agent, again, { stream: true });
await second.completed;
console.log(JSON.stringify([first.finalOutput, second.finalOutput]));
