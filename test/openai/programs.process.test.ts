/**
 * Frameworks for agents against the OpenAI-compatible API, unchanged: each asks, runs its tool, and asks again with the whole
 * conversation, or talks. They are no devDependencies (test/programs has a lock of its own, which .ci/run installs).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { calls, says, sentTo } from '../engines/llm-agent/support.ts';
import { startLocalService } from '../support/local-service.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { askedOf, notedSandbox, scriptedTalk, toneEars, wordsHeard } from './realtime/scripted-engines.ts';
import { sandboxSpeech, toneSpeech } from './realtime/spoken-turns.ts';
import { startChatService } from './support/chat.ts';

// A program loads for half a minute where many others run.
vi.setConfig({ testTimeout: 120_000 });

const folder = join(import.meta.dirname, '../programs');
const isInstalled = existsSync(join(folder, 'node_modules'));

it('the programs are installed on CI', () => {
  expect(isInstalled || process.env.CI === undefined, 'npm ci --ignore-scripts --prefix test/programs').toBe(true);
});

const anyNumber = expect.any(Number) as number;

/** Runs a program that has a spoken conversation. Resolves with its last line. Calls `marked` when it prints the first one. */
async function speak(
  program: string,
  { url }: Pick<TestService, 'url'>,
  turns: readonly Buffer[],
  marked = () => {},
): Promise<unknown> {
  const names = turns.map((_, turn) => `${turn}.pcm`);
  const directory = await writeFiles(
    await temporaryDirectory(),
    Object.fromEntries(names.map((name, turn) => [name, turns[turn]])),
  );
  const args = [join(folder, program), ...names.map((name) => join(directory, name))];
  const running = promisify(execFile)(process.execPath, args, {
    timeout: 120_000,
    env: { ...process.env, PARLANCE_URL: `${url}/v1` },
  });
  running.child.stdout?.once('data', marked);
  const { stdout } = await running;
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

/** Connects each client with the service that `current` returns at that moment, as a load balancer does. */
async function startFront(current: () => TestService): Promise<{ readonly url: string }> {
  const front = createServer((client) => {
    const { hostname, port } = new URL(current().url);
    pipeline(client, connect(Number(port), hostname), client, () => {});
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void front.close());
  return { url: `http://127.0.0.1:${(front.address() as AddressInfo).port}` };
}

describe.skipIf(!isInstalled)('with npm ci --ignore-scripts --prefix test/programs', () => {
  it('agents-realtime.mjs runs a tool, hands over, is blocked by a guardrail, and rewrites its history in a live conversation', async () => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'agents-realtime.mjs')], {
      timeout: 120_000,
      env: { ...process.env, PARLANCE_URL: `${service.url.replace('http', 'ws')}/v1/realtime` },
    });
    const { before, ...talk } = JSON.parse(stdout) as { readonly before: readonly string[] };
    expect(before.slice(0, 8)).toEqual([
      ...['call weather {"city": "Paris"}', 'Sunny in Paris.'],
      'You said: call weather {"city": "Paris"}\nweather said: Sunny in Paris.',
      ...['call transfer_to_Expert {}', '{"assistant":"Expert"}'],
      'You said: call transfer_to_Expert {}\ntransfer_to_Expert said: {"assistant":"Expert"}',
      ...['private', 'You said: private'],
    ]);
    expect(before.slice(8)).toEqual([
      expect.stringContaining('Failed Guardrail Reason: No secrets.'),
      expect.stringContaining('You said: '),
    ]);
    expect(talk).toEqual({
      after: ['call weather {"city": "Paris"}', 'Who are you?', 'Thank you', 'You said: Thank you'],
      ...{
        called: ['Paris'],
        agents: ['Assistant', 'Expert'],
        blocked: ['Output guardrail triggered: {}'],
        errors: [],
      },
    });
  });

  const spoken = ['call weather {"city": "Paris"}', `say: ${'A long story. '.repeat(4)}`.trim(), 'Thank you'];

  it('agents-spoken.mjs speaks with the sandbox: a tool and two interruptions', async () => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    const sounds = await Promise.all(spoken.map((text) => sandboxSpeech(service, text)));
    expect(await speak('agents-spoken.mjs', service, sounds)).toEqual({
      ...{ said: spoken, called: ['Paris'], interrupted: 2, cut: [anyNumber, anyNumber], errors: [] },
    });
  });

  it('livekit-spoken.mjs speaks with the sandbox: a tool, two interruptions, and a restart of the service', async () => {
    await using first = await startTestService(notedSandbox);
    await using second = await startTestService(notedSandbox);
    let current = first;
    const front = await startFront(() => current);
    const turns = [...spoken, 'Are you still there?'];
    const sounds = await Promise.all(turns.map((text) => sandboxSpeech(first, text)));
    const talk = await speak('livekit-spoken.mjs', front, sounds, () => {
      current = second;
      void first.service.stop(60_000);
    });
    expect(talk).toEqual({ said: turns, called: ['Paris'], cut: ['deleted', 300], errors: [] });
    await first.service.stop(0);
    expect(first.log.filter(({ close }) => close !== undefined).map(({ close }) => close)).toEqual([1012]);
    const story = expect.stringMatching(/^assistant: A long story/) as string;
    expect(askedOf(second).at(-1)).toEqual([
      ...[`user: ${turns[0]}`, `user: ${turns[1]}`, story],
      ...['user: Thank you', 'assistant: You said: Thank you', `user: ${turns[3]}`],
    ]);
  });

  describeWith(['whisper-cli'], 'with whisper.cpp', () => {
    it('agents-spoken.mjs speaks: a tool and two interruptions', async () => {
      const wordMs = 300;
      await using service = await startLocalService(scriptedTalk({ ears: toneEars, wordMs }));
      const turns = [['alpha', 'bravo'], ['charlie'], ['delta', 'golf']] as const;
      const talk = await speak('agents-spoken.mjs', service, turns.map(toneSpeech));
      const said = turns.map((words) => words.join(' '));
      expect(talk).toEqual({ said, called: ['Paris'], interrupted: 2, cut: [anyNumber, anyNumber], errors: [] });
      const last = askedOf(service).at(-1)!;
      for (const [turn, ms] of (talk as { readonly cut: readonly number[] }).cut.entries()) {
        const answer = last[last.indexOf(`user: ${said[turn + 1]}`) - 1]!;
        // An answer of which nothing was heard is not there.
        const words = answer.startsWith('assistant: Word') ? wordsHeard(answer) : 0;
        expect(Math.abs(words - Math.round(ms / wordMs)), answer).toBeLessThanOrEqual(1);
      }
    });
  });

  it.each(['agents.mjs', 'mastra.mjs'])('%s runs its tool and continues', async (program) => {
    const { service, provider } = await startChatService([
      calls({ id: 'call_1', name: 'weather', args: '{"city":"Paris"}' }),
      ...[says('Sunny in Paris.'), says('It was Paris.')],
    ]);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, program)], {
      timeout: 120_000,
      env: {
        ...process.env,
        ...{ OPENAI_BASE_URL: `${service.url}/v1`, OPENAI_API_KEY: 'none' },
        ...{ OPENAI_AGENTS_DISABLE_TRACING: '1', MASTRA_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
      },
    });
    expect(JSON.parse(stdout)).toEqual(['Sunny in Paris.', 'It was Paris.']);
    expect(service.log.filter(({ path }) => path === '/v1/responses')).toHaveLength(3);
    const last = (await sentTo(provider)).at(-1)?.messages;
    const round = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'How is the weather in Paris?' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny in Paris.' },
    ];
    expect(last).toMatchObject([
      ...round,
      { role: 'assistant', content: 'Sunny in Paris.' },
      { role: 'user', content: 'And which city was it?' },
    ]);
  });
});
