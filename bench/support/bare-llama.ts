/** node-llama-cpp alone: answers each line of stdin, and prints the processor milliseconds and the tokens. */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Library } from '../../engines/llama-local/library-types.ts';

const [, , directory = '', modelPath = '', maxTokens = '', contextSize = ''] = process.argv;
const library = (await import(pathToFileURL(join(directory, 'dist/index.js')).href)) as Library;
const llama = await library.getLlama({
  build: 'never',
  skipDownload: true,
  progressLogs: false,
  gpu: false,
  maxThreads: 1,
});
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: Number(contextSize), threads: 1 });
const contextSequence = context.getSequence();
const chat = new library.LlamaChat({ contextSequence });
console.log('ready');
for await (const text of createInterface({ input: process.stdin })) {
  const before = [process.cpuUsage(), contextSequence.tokenMeter.getState()] as const;
  const history = [{ type: 'user', text } as const, { type: 'model', response: [] } as const];
  await chat.generateResponse(history, {
    maxTokens: Number(maxTokens),
    temperature: 0.7,
    topP: 0.8,
    topK: 20,
    onResponseChunk: () => {},
  });
  const { user, system } = process.cpuUsage(before[0]);
  const { usedOutputTokens: tokens } = contextSequence.tokenMeter.diff(before[1]);
  console.log(JSON.stringify({ processorMs: (user + system) / 1_000, tokens }));
}
process.exit();
