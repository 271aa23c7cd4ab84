// talk.mjs: sends a recording to a model, prints the answer as it arrives, and saves the spoken clips.
//   node talk.mjs memo.wav
import { writeFile } from 'node:fs/promises';
import { createClient, ParlanceError } from '@parlance/server/client';

const { PARLANCE_URL = 'http://127.0.0.1:8484', API_KEY } = process.env;
const client = createClient({ baseUrl: PARLANCE_URL, ...(API_KEY && { apiKey: API_KEY }) });
const [recording = 'memo.wav'] = process.argv.slice(2);

try {
  const { text, language } = await client.transcribe(recording);
  console.log(`You said (${language ?? 'unknown language'}): ${text}`);

  const messages = [{ role: 'user', content: `${text}\nread aloud: ${text}` }];
  const saved = [];
  for await (const event of client.streamChat({ messages })) {
    if (event.type === 'content.delta') process.stdout.write(event.delta);
    if (event.type === 'audio.created') saved.push(save(event.audio, `clip-${saved.length}.mp3`));
    if (event.type === 'chat.failed') throw ParlanceError.fromProblem(event.problem);
  }
  console.log(`\nSaved: ${(await Promise.all(saved)).join(', ') || 'nothing'}`);
} catch (error) {
  if (!(error instanceof ParlanceError)) throw error;
  console.error(`${error.code}: ${error.detail} (request ${error.requestId ?? 'unknown'})`);
  process.exitCode = 1;
}

/** A clip can be fetched at once, even while it is still being synthesized. */
async function save({ url }, file) {
  const response = await fetch(url);
  await writeFile(file, new Uint8Array(await response.arrayBuffer()));
  return file;
}
