/** Speech of the local engine: the time to its first byte, and the overhead of the service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromium, type Page } from 'playwright-core';
import { spawnService, type ChildService } from '../test/support/child-service.ts';
import { requireProgram } from '../test/support/programs.ts';
import { interleave, mean, median, processorMsOf, processorMsOfChildren } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const sentence = 'The quick brown fox jumps over the lazy dog, and nobody minds it at all. ';
const characters = 2_000;
const text = sentence.repeat(Math.ceil(characters / sentence.length)).slice(0, characters);

export async function benchSpeech({ rounds }: BenchOptions): Promise<Row[]> {
  await using service = await spawnService({
    env: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
    config: 'engines: { espeak: { use: espeak } }',
  });
  await using browser = await chromium.launch({
    executablePath: requireProgram('chromium'),
    args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'],
  });
  const page = await browser.newPage();
  await page.goto(`${service.url}/healthz`); // same origin as the clip
  const espeak = [requireProgram('espeak-ng'), '--stdin', '--stdout', '-v', 'en'];
  // The bitrate of the service; the default of ffmpeg is half of it.
  const mp3 = [requireProgram('ffmpeg'), '-v', 'error', '-i', 'pipe:0', '-b:a', '64k', '-f', 'mp3', 'pipe:1'];
  const ours = (work: () => Promise<Times>) => withProcessorTime(work, () => processorMsOf(service.pid));
  const theirs = (work: () => Promise<Times>) => withProcessorTime(work, processorMsOfChildren);
  const costs = await interleave(
    {
      mp3: () => ours(() => speak(service, 'mp3')),
      wav: () => ours(() => speak(service, 'wav')),
      bare: () => theirs(() => pipe(espeak)),
      encoded: () => theirs(() => pipe(espeak, mp3)),
      clip: () => ours(() => playClip(page)),
    },
    rounds,
  );
  const of = (name: keyof typeof costs, which: keyof Times) => median(costs[name].map((round) => round[which]));
  // Processor time is counted in hundredths of a second, so that a median would be too coarse.
  const processor = (name: keyof typeof costs) => mean(costs[name].map(({ processorMs }) => processorMs));
  const row = (what: string, measured: number, against: number, by: string) => ({
    what,
    measured: milliseconds(measured),
    against: `${milliseconds(against)} ${by}`,
    ratio: measured / against,
  });
  return [
    {
      ...row(`${characters} characters as mp3, first byte`, of('mp3', 'firstMs'), of('mp3', 'lastMs'), 'to the last'),
      goal: { atMost: 0.2 },
    },
    {
      ...row('  as a clip, POST to its sound in Chromium', of('clip', 'firstMs'), 300, 'goal'),
      goal: { atMost: 1 },
    },
    {
      ...row('  as wav, whole', of('wav', 'lastMs'), of('bare', 'lastMs'), 'espeak-ng'),
      goal: { atMost: 1.3 },
      note: 'The service removes markup from the text, and stores the sound on disk, so that espeak-ng does not wait for a slow client. That takes about 30 ms for two minutes of sound.',
    },
    row('    processor time (mean)', processor('wav'), processor('bare'), 'espeak-ng'),
    row('  as mp3, whole', of('mp3', 'lastMs'), of('encoded', 'lastMs'), 'espeak-ng | ffmpeg'),
    row('    processor time (mean)', processor('mp3'), processor('encoded'), 'espeak-ng | ffmpeg'),
  ];
}

interface Times {
  readonly firstMs: number;
  readonly lastMs: number;
}

interface SpeechCost extends Times {
  readonly processorMs: number;
}

async function withProcessorTime(work: () => Promise<Times>, processor: () => number): Promise<SpeechCost> {
  const before = processor();
  const times = await work();
  return { ...times, processorMs: processor() - before };
}

async function speak({ url }: ChildService, format: string): Promise<Times> {
  const started = performance.now();
  const answer = await fetch(`${url}/api/v1/tts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, format, voice_id: 'en' }),
  });
  if (answer.status !== 200 || !answer.body) throw new Error(`${answer.status}: ${await answer.text()}`);
  return timesOf(answer.body, started);
}

/** From the POST of a clip to the `playing` event, and to the end of its DELETE. */
async function playClip(page: Page): Promise<Times> {
  const body = JSON.stringify({ text, voice_id: 'en' });
  return page.evaluate<Times>(`(async () => {
    const started = performance.now();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch('/api/v1/tts/clips', { method: 'POST', headers, body: ${JSON.stringify(body)} });
    const { url } = await answer.json();
    const audio = new Audio(url);
    const playing = new Promise((resolve, reject) => {
      audio.onplaying = resolve;
      audio.onerror = () => reject(audio.error);
    });
    await audio.play();
    await playing;
    const firstMs = performance.now() - started;
    audio.src = '';
    await fetch(url, { method: 'DELETE' });
    return { firstMs, lastMs: performance.now() - started };
  })()`);
}

/**
 * Runs programs one after the other, as a shell does. Resolves when they have ended, because their processor time
 * counts only then.
 */
async function pipe(first: readonly string[], ...rest: readonly (readonly string[])[]): Promise<Times> {
  const started = performance.now();
  const children = [first, ...rest].map(([program = '', ...args]) =>
    spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  children.forEach((child, index) => void children[index - 1]?.stdout.pipe(child.stdin));
  children[0]?.stdin.end(text);
  const sound = children.at(-1)?.stdout;
  if (!sound) throw new Error('nothing was started');
  const exits = children.map((child) => once(child, 'exit'));
  const times = await timesOf(sound, started);
  await Promise.all(exits);
  return times;
}

async function timesOf(chunks: AsyncIterable<Uint8Array>, started: number): Promise<Times> {
  let firstMs: number | undefined;
  let bytes = 0;
  for await (const chunk of chunks) {
    firstMs ??= performance.now() - started;
    bytes += chunk.length;
  }
  if (firstMs === undefined || bytes < characters * 50) throw new Error(`the speech has only ${bytes} bytes`);
  return { firstMs, lastMs: performance.now() - started };
}

if (import.meta.main) await runBenchmarks([benchSpeech]);
