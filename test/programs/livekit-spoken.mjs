// The realtime model of LiveKit's plugin with its own settings in a spoken conversation: the first turn calls a tool, and
// the user speaks again while each answer but the last is playing. Nothing was heard of the first answer, which the plugin
// deletes, and 300 ms of the second. Then it prints `restart`, waits until it has connected again, and has the last turn.
// The arguments are the sounds of the turns: 24 kHz, 16 bits. PARLANCE_URL names the service, http://.../v1.
import { readFile } from 'node:fs/promises';
import { initializeLogger, llm } from '@livekit/agents';
import { realtime } from '@livekit/agents-plugin-openai';
import { AudioFrame } from '@livekit/rtc-node';
import { z } from 'zod';

const [, , ...turns] = process.argv;
initializeLogger({ pretty: false, level: 'silent' });

const called = [];
const weather = llm.tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => {
    called.push(city);
    return `It is sunny in ${city}. `.repeat(40);
  },
});

const session = new realtime.RealtimeModel({ baseURL: process.env.PARLANCE_URL, apiKey: 'none' }).session();
const [said, cut, errors] = [[], [], []];
const interruptions = ['conversation.item.deleted', 'conversation.item.truncated'];
session.on('error', ({ error }) => errors.push(error.message));
session.on('input_audio_transcription_completed', ({ isFinal, transcript }) => isFinal && said.push(transcript.trim()));
session.on('openai_server_event_received', ({ type, audio_end_ms: ms }) => {
  if (!interruptions.includes(type)) return;
  cut.push(ms ?? 'deleted');
  session.emit('cut');
});
const next = (type) => new Promise((resolve) => session.once(type, resolve));

const push = (samples) => session.pushAudio(new AudioFrame(samples, 24_000, 1, samples.length));
const say = async (file) => push(new Int16Array(new Uint8Array(await readFile(file)).buffer));
const pause = () => push(new Int16Array(24_000));

/** Resolves with the message of the next answer once it sounds. */
async function answer(generation) {
  const { value: message } = await (await generation).messageStream[Symbol.asyncIterator]().next();
  await message.audioStream[Symbol.asyncIterator]().next();
  return message;
}

await session.updateInstructions('Be brief.');
await session.updateTools(new llm.ToolContext([weather]));
let generation = next('generation_created');
await say(turns[0]);
pause();
for await (const { callId, name, args } of (await generation).functionStream) {
  const output = await weather.execute(JSON.parse(args));
  const context = session.chatCtx.copy();
  context.items.push(llm.FunctionCallOutput.create({ callId, name, output, isError: false }));
  await session.updateChatCtx(context);
}
let { messageId } = await answer(session.generateReply());
for (const [turn, audioEndMs] of [0, 300].entries()) {
  const [started, isCut] = [next('input_speech_started'), next('cut')];
  await say(turns[turn + 1]);
  await started;
  await session.interrupt();
  await session.truncate({ messageId, modalities: ['audio', 'text'], audioEndMs });
  await isCut;
  generation = next('generation_created');
  pause();
  ({ messageId } = await answer(generation));
}

const reconnected = next('session_reconnected');
console.log('restart');
await reconnected;
generation = next('generation_created');
pause(); // The plugin loses the first event after it has reconnected: 100 ms of this pause.
await say(turns[3]);
pause();
await answer(generation);
console.log(JSON.stringify({ said, called, cut, errors }));
// Closing the session does not end the native part of the SDK.
process.exit();
