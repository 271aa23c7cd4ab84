/** The output of check-engine: each result as soon as it is known, and where in the engine a failure happened. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { Nonconformance, OutOfTime, runChecks } from '../../src/conformance/kit.ts';
import { openRecorder, spokenWords } from '../../src/conformance/recordings.ts';
import { createReport } from '../../src/conformance/report.ts';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';

/** Says hello, and does something beside it. */
const engine = (deed: string) => `
  export default {
    contract: 1,
    name: 'mind',
    capability: 'chat',
    options: { type: 'object', properties: {}, additionalProperties: false },
    create: () => ({
      models: [{ id: 'mind', local: true }],
      async *complete(_call, { signal }) {
        signal.throwIfAborted();
        ${deed}
        yield { type: 'step-started', step: 0 };
        yield { type: 'content-delta', step: 0, delta: 'Hello.' };
        const result = { content: 'Hello.', finishReason: 'stop', reasoning: null, usage: null };
        yield { type: 'completed', result };
      },
    }),
  };`;

/** No one has to wait for 20 seconds. */
const fastTimers = `--import=data:text/javascript,${encodeURIComponent(`
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (listener, ms) => setTimeout(listener, ms / 40);`)}`;

const check = (source: string, ...args: readonly string[]) => checkWith({}, source, ...args);

async function checkWith(env: Readonly<Record<string, string>>, source: string, ...args: readonly string[]) {
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, { 'engine.mjs': source });
  await mkdir(join(cwd, 'temporary'));
  const end = await runScript('src/bin/check-engine.ts', ['./engine.mjs', ...args], {
    cwd,
    env: { TMPDIR: join(cwd, 'temporary'), ...env },
  });
  expect(await readdir(join(cwd, 'temporary'))).toEqual([]);
  return end;
}

describe('check-engine', () => {
  it('reports where an engine throws, and the cause', async () => {
    const { code, stdout } = await check(
      engine(`throw new Error('It broke.', { cause: new TypeError('no such thing') });`),
    );
    expect(stdout).toMatch(
      / {2}BROKEN {2}a question is answered.*\n {10}Error: It broke\.\n {10} +at Object\.complete \(.*engine\.mjs:11:\d+\)\n {10}.*\n/,
    );
    expect(stdout).toContain('because of TypeError: no such thing');
    expect(stdout).not.toContain('conformance/');
    expect(stdout).toContain('same failure as above');
    expect(code).toBe(1);
  });

  it('treats an uncaught error as a broken rule, and continues', async () => {
    const { code, stdout, stderr } = await check(engine(`void Promise.reject(new Error('left alone'));`));
    expect(stdout).toMatch(
      / {2}BROKEN {2}a question is answered.*\n {10}uncaught exception or unhandled rejection\n {10}because of Error: left alone\n/,
    );
    expect(stdout).toContain('  ok      valid options are accepted');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  });

  it('names the machines that a local model connects to', async () => {
    const { code, stdout } = await check(engine(`await fetch('http://provider.invalid/').catch(() => undefined);`));
    expect(stdout).toMatch(/ {2}BROKEN {2}a local model .*\n {10}mind is listed as local, .* provider\.invalid/);
    expect(code).toBe(1);
  });

  it('reports that no tool call was made', async () => {
    const rule = 'a tool called by the model is run, and its result is used';
    const { stdout } = await check(engine(''));
    expect(stdout).toContain(`  skipped ${rule} (the model called no tool; with --calls-tools this fails)\n`);
    const declared = await check(engine(''), '--calls-tools');
    expect(declared.stdout).toContain(`  BROKEN  ${rule}\n          the model was asked to call the tool`);
  });

  it('skips features that an engine does not claim', async () => {
    const { stdout } = await check(engine(''));
    expect(stdout).toMatch(/ {2}skipped a model that supports tools .* \(the model does not support tools\)\n/);
    expect(stdout).toMatch(/ {2}skipped a model that supports json .* \(the model does not support json\)\n/);
  });

  it('reports that models that are not local were not checked', async () => {
    const { stdout } = await check(engine('').replace('local: true', 'local: false'));
    expect(stdout).toContain('  skipped a local model connects to no other machine (no available model is local)\n');
  });

  it('exits, whatever the engine keeps alive', async () => {
    const { stdout } = await check(engine('setInterval(() => undefined, 1000);'));
    expect(stdout).toContain('  ok      a question is answered');
  });

  it('reports why an engine cannot be opened, without a stack of the kit', async () => {
    const source = engine('').replace(
      'create: () => (',
      `create: () => { throw new Error('no one is home'); }, x: () => (`,
    );
    expect(await check(source)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'engines.subject: the engine mind could not be created: no one is home\n',
    });
  });

  it('accepts a wrong option only with an OptionsError, which stops the start', async () => {
    const rule = 'valid options are accepted, and invalid ones stop the start';
    const choosy = (error: string) =>
      engine('')
        .replace('properties: {}', 'properties: { volume: {} }')
        .replace(
          'create: () => (',
          `create: ({ volume }) => { if (volume !== 'loud') throw ${error}; return engine(); } }; const engine = () => (`,
        )
        .replace(/\}\),\s*\};$/, '});');
    const said = `Object.assign(new Error('no'), { [Symbol.for('parlance.options-error')]: true })`;
    const options = ['--options', '{"volume":"loud"}'] as const;
    expect((await check(choosy(said), ...options)).stdout).toContain(`  ok      ${rule}`);
    const plain = (await check(choosy(`new Error('no')`), ...options)).stdout;
    expect(plain).toContain(`  BROKEN  ${rule}\n          option "volume" accepts any value`);
  });

  it('does not treat an exit of the process by the engine as success', async () => {
    const { code, stderr } = await check(engine('process.exit(0);'));
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'the engine ended the process\n' });
  });

  it('reports an engine that does not start', async () => {
    const never = engine('').replace('create: () => (', 'create: () => new Promise(() => undefined), x: () => (');
    const { code, stderr } = await checkWith({ NODE_OPTIONS: fastTimers }, never);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'the engine did not start within 20 s\n' });
  });

  it('reports invalid arguments', async () => {
    const { code, stderr } = await check(engine(''), '--options', '{words: 1}');
    expect(stderr).toMatch(/^--options is not JSON: .*\n\nUsage: npm run check-engine -- ENGINE /);
    expect(code).toBe(2);
    for (const options of ['null', '[]', '5'])
      expect((await check(engine(''), '--options', options)).stderr).toMatch(/^--options is not a JSON object\n/);
    expect((await check(engine(''), '--words', 'engine.mjs')).stderr).toMatch(
      /^--words: engine\.mjs is not a WAV file of /,
    );
  });
});

describe('the kit', () => {
  it('does not wait forever', async () => {
    const never = { name: 'a call ends', run: () => new Promise<void>(() => undefined) };
    const [result, next] = await runChecks([never, { name: 'so does the next', run: () => Promise.resolve() }], {}, 50);
    expect(result?.failure).toBeInstanceOf(OutOfTime);
    expect(String(result?.failure)).toBe('Nonconformance: timeout: the check took more than 0.05 s');
    expect(next).toEqual({ check: 'so does the next' });
  });

  it('reports a failure once', () => {
    const lines: string[] = [];
    const tell = createReport((line) => lines.push(line));
    const cause = new EngineError('engine-failed', 'It failed.');
    cause.stack = 'EngineError: It failed.\n    at mine (/engine.js:1:2)\n    at its (node:events:3:4)';
    tell({ check: 'one' });
    for (const check of ['two', 'three'])
      tell({ check, failure: new Nonconformance('It should not fail.', { cause }) });
    tell({ check: 'four', failure: new Nonconformance('It fails with It failed.', { cause }) });
    tell({ check: 'five', failure: 'no error' });
    expect(lines.join('\n').split('\n')).toEqual([
      '  ok      one',
      '  BROKEN  two',
      '          It should not fail.',
      '          because of EngineError (engine-failed): It failed.',
      '              at mine (/engine.js:1:2)',
      '  BROKEN  three',
      '          same failure as above',
      '  BROKEN  four',
      '          It fails with It failed.',
      '              at mine (/engine.js:1:2)',
      '  BROKEN  five',
      "          'no error'",
    ]);
  });

  it('accepts recordings only in the format whose duration it can compute', async () => {
    const folder = await temporaryDirectory();
    const words = await readFile(spokenWords);
    const wrong = {
      'rate.wav': toneWav({ words: ['alpha'], rate: 44_100 }),
      'none.wav': words.subarray(44),
      'cut.wav': words.subarray(0, 20),
    };
    for (const [name, content] of Object.entries(wrong)) {
      const path = join(folder, name);
      await writeFile(path, content);
      await expect(openRecorder(path)).rejects.toThrow('is not a WAV file of 16 kHz, mono, 16 bits');
    }
  });
});
