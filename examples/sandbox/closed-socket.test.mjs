import assert from 'node:assert';
import { once } from 'node:events';
import { test } from 'node:test';
import { startSandbox } from '@parlance/server/sandbox';
test('a live session ends when the service restarts', async () => {
  await using sandbox = await startSandbox();
  const audio = Buffer.from(await (await sandbox.speak('Good morning.', 'pcm')).bytes()).toString('base64');
  sandbox.next({ close: 1012, after: 3 });
  const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/v1/realtime?intent=transcription`);
  const events = [];
  socket.onmessage = ({ data }) => events.push(JSON.parse(data).type);
  socket.onopen = () => socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio }));
  assert.equal((await once(socket, 'close'))[0].code, 1012);
  assert.equal(events.length, 3);
});
