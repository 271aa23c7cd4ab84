/**
 * `npm run soak`: ten minutes of mixed load on one service, with callers that disconnect and programs that are killed
 * (SOAK_SECONDS sets another length), beside live sessions of both types that stay, reconnect or disappear, that flood
 * the service, and that displace each other, because there are fewer places than sessions. Then it waits ten minutes
 * until the last clip has expired. Fails if a session, a child process, a file or a descriptor is
 * left, or if the heap has grown.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, fetch, FormData, type RequestInit } from 'undici';
import { createRandom } from '../test/fuzz/mutate.ts';
import { quiet, sound, voice } from '../test/realtime/support.ts';
import { spawnService, type ChildService } from '../test/support/child-service.ts';
import { freePort } from '../test/support/free-port.ts';
import { processes } from '../test/support/proc.ts';
import { requireProgram } from '../test/support/programs.ts';
import { writeToneModel } from '../test/support/tone-model.ts';
import { bearer } from '../test/keys/support/keys.ts';
import { startChatProvider } from './support/chat-services.ts';
import { startNode } from './support/children.ts';
import { makeClip } from './support/clip.ts';
import { liveRate, openLiveSession, type LiveSession } from './support/live-session.ts';
import { memoryOf, reportsMemory, type Memory } from './support/memory-of.ts';

const seconds = Number(process.env.SOAK_SECONDS ?? 600);
const seed = Number(process.env.SOAK_SEED ?? Date.now() % 2 ** 31);
const random = createRandom(seed);
console.log(`Seed ${seed} (again: SOAK_SEED=${seed} npm run soak)`);
const callers = 12;
const liveCallers = 12;
/** One caller has half of the live sessions, and further ones that flood the service. The other keys share the rest. */
const keys = ['many', 'some', 'few'] as const;
const places = 10;
const floodSessions = 2;
const floodMs = 5_000;
/** Interval of killing a child process, and of measuring the memory. */
const killMs = 1_500;
const lookMs = Math.max(2_000, (seconds * 1000) / 30);
/**
 * Longest time for which resources are kept: an idle connection to the provider for four seconds, a thread of an
 * encoder for thirty.
 */
const settleMs = 40_000;
/**
 * Maximum size of the heap at the end, relative to that after the warm-up: caches and compiled code still grow a
 * little.
 */
const mostGrowth = 1.1;
/** Clips are kept for ten minutes, and a little of the heap with each. */
const clipsGoneMs = 660_000;

await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-soak-'));
const modelFile = join(directory.path, 'tone.bin');
await writeToneModel(modelFile);
const { bytes: recording } = await makeClip(directory.path);
await using provider = await startChatProvider(40, 20);
const metricsPort = await freePort();
await using service = await spawnService({
  env: {
    ...{ NODE_ENV: 'production', WHISPER_CLI: requireProgram('whisper-cli'), METRICS_PORT: String(metricsPort) },
    ...{ API_KEYS: keys.join(','), REALTIME_SESSIONS: String(places) },
  },
  nodeOptions: reportsMemory,
  config: `engines:
  local: { use: whisper-cli, models: [{ id: local, file: "${modelFile}" }] }
  espeak: { use: espeak }
  fake: { use: llm-agent, baseUrl: "${provider.baseUrl}", models: [fake] }
  sandbox: { use: sandbox }
`,
});

/** The connections of the callers. They are closed before descriptors are counted. */
let connections = new Agent();
const outcomes = new Map<string, number>();
const count = (outcome: string) => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
const looks: Memory[] = [];
async function round(length: number): Promise<void> {
  const end = performance.now() + length * 1000;
  const isOver = () => performance.now() > end;
  const calling = Array.from({ length: callers }, () => call(isOver));
  const living = Array.from({ length: liveCallers }, (_, index) => live(isOver, index));
  await Promise.all([...calling, ...living, flood(isOver), kill(isOver), watch(isOver)]);
  await connections.destroy();
  connections = new Agent();
  await pause(settleMs);
}

async function call(isOver: () => boolean): Promise<void> {
  const kinds = Object.entries(requests);
  while (!isOver()) {
    const [kind, request] = kinds[Math.floor(random() * kinds.length)]!;
    const leaving = new AbortController();
    const leaves = random() < 0.3;
    const timer = leaves ? setTimeout(() => leaving.abort(), random() * 600) : undefined;
    const outcome = await request(leaving.signal).then(
      (status) => String(status),
      () => (leaves ? 'left' : 'broke off'),
    );
    clearTimeout(timer);
    count(`${kind}: ${outcome}`);
  }
}

/**
 * A third of the sessions stay until they expire, the others for up to a minute. Half of them send speech occasionally,
 * and half of these are conversations.
 */
async function live(isOver: () => boolean, index: number): Promise<void> {
  const isConversation = index % 4 === 3;
  const model = index % 8 === 7 ? 'sandbox-chat' : 'fake'; // local, whose answers begin early, or hosted
  const query = isConversation ? `model=${model}` : 'intent=transcription';
  while (!isOver()) {
    const key = keys[index % 2 === 0 ? 0 : index % keys.length]!;
    const session = await openLiveSession(service, { query, headers: bearer(key) }).catch(() => undefined);
    if (!session) {
      count('live session: no place');
      await pause(1_000);
      continue;
    }
    const end = performance.now() + (index % 3 === 0 ? Infinity : random() * 60_000);
    while (session.isOpen && !isOver() && performance.now() < end) {
      if (index % 2 === 0 || random() < 0.7) await session.speak(room, 100);
      else await (isConversation ? converse(session) : speakTurn(session));
    }
    count(`live session: ${session.isOpen ? await leave(session) : `closed with ${await session.closed}`}`);
  }
}

/** A process that floods the service for some seconds, again and again. */
async function flood(isOver: () => boolean): Promise<void> {
  for (let kind = 0; !isOver(); kind += 1) {
    const name = ['events', 'sound', 'fragments'][kind % 3]!;
    const script = join(import.meta.dirname, 'support/flood.ts');
    await using child = startNode(script, service.url, name, String(floodSessions), 'many');
    const isOpen = await child.firstLine.then(
      () => true,
      () => false,
    );
    count(`flood of ${name}: ${isOpen ? 'open' : 'no place'}`);
    await pause(floodMs);
  }
}

const room = sound(liveRate, [quiet, 3_000]);
const turn = sound(liveRate, [quiet, 300], [voice, 700], [quiet, 300], [voice, 500], [quiet, 1_000]);

/** Sometimes it stops in the middle of a word. */
async function speakTurn(session: LiveSession): Promise<void> {
  const breaksOff = random() < 0.3;
  if (breaksOff) return session.speak(turn.subarray(0, turn.length / 4), 20);
  const outcome = session.transcript().then(
    () => 'transcribed',
    () => 'failed',
  );
  await session.speak(turn, 20);
  count(`live turn: ${await outcome}`);
}

/** Interrupts the answer by speech, cancels it, or lets it end. */
async function converse(session: LiveSession): Promise<void> {
  const ended = session.next('response.done').then(
    ({ response }) => `answer: ${response?.status}`,
    () => 'answer: refused, or the session closed',
  );
  session.say(question);
  session.say({ type: 'response.create' });
  const chance = random();
  if (chance < 0.5) await session.speak(turn, 20);
  else if (chance < 0.75) session.say({ type: 'response.cancel' });
  count(`live ${await ended}`);
}

const question = {
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Say many words.' }] },
};

async function leave(session: LiveSession): Promise<string> {
  const how = (['close', 'terminate', 'freeze'] as const)[Math.floor(random() * 3)]!;
  session.leave(how);
  if (how === 'freeze') await pause(frozenMs);
  session.thaw();
  const code = await Promise.race([session.closed, pause(5_000)]);
  return `${how}, ${code === undefined ? 'close not answered within 5 s' : `closed with ${code}`}`;
}

/** The service closes the socket of a client that does not answer two pings, one every 20 s. */
const frozenMs = 75_000;

async function openSessions(): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  return Number(/^parlance_realtime_sessions (\d+)$/m.exec(await answer.text())?.[1]);
}

async function send(
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> },
): Promise<number> {
  const headers = { ...init.headers, ...bearer('some') };
  const answer = await fetch(`${service.url}/api/v1${path}`, { ...init, headers, dispatcher: connections });
  await answer.arrayBuffer();
  return answer.status;
}

const post = (path: string, body: unknown, signal: AbortSignal) =>
  send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), signal });

/** A typical mix of calls; those that use the processor are a part of it. */
const requests: Readonly<Record<string, (signal: AbortSignal) => Promise<number>>> = {
  listing: (signal) => send('/models', { signal }),
  probe: (signal) => send('/transcribe', { signal }),
  'wrong body': (signal) => post('/chat', { messages: [{}] }, signal),
  'plain chat': (signal) => post('/chat', { model: 'fake', messages: hello }, signal),
  'streamed chat': (signal) => post('/chat/stream', { model: 'fake', messages: hello }, signal),
  'chat that reads aloud': (signal) => post('/chat', { model: 'sandbox-chat', messages: readAloud }, signal),
  'mp3 speech': (signal) => post('/tts', { text, model: 'espeak', format: 'mp3' }, signal),
  'wav speech': (signal) => post('/tts', { text, model: 'espeak', format: 'wav' }, signal),
  transcription: (signal) => transcribe(recording, signal),
  'damaged recording': (signal) => transcribe(recording.subarray(0, 300), signal),
};

const hello = [{ role: 'user', content: 'Say many words.' }];
const readAloud = [{ role: 'user', content: 'read aloud: yes no hello' }];
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(10);

function transcribe(bytes: Buffer, signal: AbortSignal): Promise<number> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), 'recording');
  form.set('model', 'local');
  return send('/transcribe', { method: 'POST', body: form, signal });
}

/** Kills one of the service's programs at a time, as the kernel does when memory runs out. */
async function kill(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(killMs);
    const [victim] = children().toSorted(() => random() - 0.5);
    if (victim) {
      try {
        process.kill(victim.pid, 'SIGKILL');
      } catch {
        continue; // the process has ended meanwhile
      }
      count('killed children');
    }
  }
}

async function watch(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(lookMs);
    if (!isOver()) looks.push(await memoryOf(service));
  }
}

/** The warning of Node.js about files that were not closed. */
function warnings(): string[] {
  return service.said.stderr.split('\n').filter((line) => /^\(node:\d+\)/.test(line));
}

/** Descendants of the service, at any depth. */
function children({ pid }: Pick<ChildService, 'pid'> = service) {
  const all = processes();
  const found = all.filter(({ parent }) => parent === pid);
  for (const { pid: own } of found) found.push(...all.filter(({ parent }) => parent === own));
  return found;
}

/** The target of each descriptor, without numbers that vary. */
function openDescriptors(): string[] {
  const folder = `/proc/${service.pid}/fd`;
  const sockets = new Map(['tcp', 'unix'].flatMap((family) => socketsOf(family)));
  return readdirSync(folder).flatMap((name) => {
    try {
      const target = readlinkSync(join(folder, name));
      return [sockets.get(target) ?? target.replace(/:\[\d+\]$/, '')];
    } catch {
      return []; // closed meanwhile
    }
  });
}

/** TCP sockets with ports and state in hexadecimal digits, as in /proc/net/tcp; the others by their family. */
function socketsOf(family: string): [link: string, description: string][] {
  const lines = readFileSync(`/proc/${service.pid}/net/${family}`, 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => {
    const fields = line.trim().split(/\s+/);
    const inode = family === 'tcp' ? fields[9] : fields[6];
    const ends = family === 'tcp' ? ` ${fields[1]} ${fields[2]} state ${fields[3]}` : '';
    return [`socket:[${inode}]`, `${family} socket${ends}`];
  });
}

/** Returns the targets that occur more often than before. */
function surplus(before: readonly string[], after: readonly string[]): string[] {
  const known = [...before];
  return after.filter((one) => {
    const at = known.indexOf(one);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

async function report(before: readonly string[], after: readonly string[]): Promise<void> {
  const growth = looks.at(-1)!.heapUsed / looks[0]!.heapUsed;
  for (const [key, times] of [...outcomes].toSorted()) console.log(`${String(times).padStart(7)}  ${key}`);
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  console.log(`heap after collection, MB: ${looks.map(({ heapUsed }) => megabytes(heapUsed)).join(' ')}`);
  console.log(`resident, MB: ${looks.map(({ rss }) => megabytes(rss)).join(' ')}`);
  const sessions = await openSessions();
  const left = children().map(({ commandLine }) => commandLine);
  const failures = [
    growth > mostGrowth && `the heap has grown: ${growth.toFixed(2)} times`,
    after.length > before.length && `descriptors are left open: ${surplus(before, after).join(', ')}`,
    warnings().length > 0 && `Node warns: ${warnings().join('; ')}`,
    sessions !== 0 && `sessions are left: ${sessions}`,
    left.length > 0 && `children are left: ${left.join('; ')}`,
  ].filter((failure) => failure !== false);
  console.log(`heap ${growth.toFixed(3)} times the first look's, descriptors ${before.length} -> ${after.length}`);
  console.log(`children left ${left.length}, sessions left ${sessions}`);
  const files = await service.leftovers();
  console.log(`files left ${files.length}`);
  if (files.length > 0) failures.push(`files are left, such as ${files.slice(0, 10).join(' ')}`);
  for (const failure of failures) console.error(`FAILED: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

async function untilClipsAreGone(): Promise<void> {
  const end = performance.now() + clipsGoneMs;
  while (performance.now() < end && (await service.leftovers()).length > 0) await pause(5_000);
}

await round(30); // warms up: everything is loaded, and every pool is full
looks.push(await memoryOf(service));
const before = openDescriptors();
await round(seconds);
await untilClipsAreGone();
const after = openDescriptors();
looks.push(await memoryOf(service));
await report(before, after);
