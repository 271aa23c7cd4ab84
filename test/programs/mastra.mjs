// Mastra with a model of its router (`openai/...`): two turns, the first with a tool. OPENAI_BASE_URL names the service.
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

const weather = createTool({
  id: 'weather',
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async (input) => `Sunny in ${(input.context ?? input).city}.`,
});
const agent = new Agent({
  id: 'assistant',
  name: 'Assistant',
  instructions: 'Be brief.',
  model: 'openai/remote',
  tools: { weather },
});

const question = { role: 'user', content: 'How is the weather in Paris?' };
const first = await agent.generate([question]);
const again = [question, ...first.response.messages, { role: 'user', content: 'And which city was it?' }];
const second = await agent.stream(again);
console.log(JSON.stringify([first.text, await second.text]));
