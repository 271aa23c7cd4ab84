// whistle-host.mjs: keeps the model loaded, and answers questions on stdin with samples on stdout.
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const tones = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, cancel, text } = JSON.parse(line);
  if (cancel !== undefined) continue; // the answer takes only a moment
  for (const letter of text.toLowerCase()) {
    const samples = new Int16Array(1_600); // 0.1 s
    for (let i = 0; i < samples.length; i += 1) {
      samples[i] = tones[letter] ? 8_000 * Math.sin((2 * Math.PI * tones[letter] * i) / 16_000) : 0;
    }
    say({ id, samples: Buffer.from(samples.buffer).toString('base64') });
  }
  say({ id, done: true });
}
