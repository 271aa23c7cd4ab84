/** What happens when the process has no file descriptors left: calls fail as `overloaded`, and the process lives on. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAtMachineLimit } from '../../lib/resource-limits.ts';
import { run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';

const home = resolve(import.meta.dirname, '../..');
const descriptors = 100;

/** In a process of its own: `takeDescriptors(3)` opens files until three more could be opened, and returns what closes them. */
const prelude = `
import { closeSync, openSync } from 'node:fs';
import { runProgram, startProgram } from '${home}/src/system/child-process/child.ts';
import { streamProgram } from '${home}/src/system/child-process/stream-program.ts';
import { isAtMachineLimit } from '${home}/lib/resource-limits.ts';

function takeDescriptors(free) {
  const taken = [];
  try {
    for (;;) taken.push(openSync('/dev/null'));
  } catch (error) {
    if (error.code !== 'EMFILE') throw error;
  }
  for (let count = 0; count < free; count += 1) closeSync(taken.pop());
  return () => taken.forEach((descriptor) => closeSync(descriptor));
}

/** An error event without a listener ends the process before this resolves. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const outcome = async (make) => {
  try {
    return { value: await make() };
  } catch (error) {
    const { code, message, retryAfter } = error;
    return { code, message, retryAfter, isAtLimit: isAtMachineLimit(error) };
  } finally {
    await settled();
  }
};
const call = { signal: new AbortController().signal, timeoutMs: 60_000, cwd: '/' };
const say = (value) => console.log(JSON.stringify(value));
`;

/** The JSON that the script says. Rejects when the process fails. */
async function runWithFewDescriptors(script: string): Promise<unknown> {
  // A file, since threads would inherit the options that source on the command line needs.
  const file = join(await temporaryDirectory(), 'script.mjs');
  await writeFile(file, prelude + script);
  return JSON.parse(await run('/bin/sh', ['-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', process.execPath, file]));
}

const overloaded = { code: 'overloaded', retryAfter: 1, isAtLimit: true };

describe('out of file descriptors', () => {
  it('a program that cannot be started is overloaded, and starts when descriptors are free again', async () => {
    const said = await runWithFewDescriptors(`
      const read = async (free) => {
        const { output, exit } = streamProgram('/bin/echo', ['out'], { ...call, input: 'in' });
        const chunks = [];
        for await (const chunk of output) chunks.push(chunk);
        return [Buffer.concat(chunks).toString(), (await exit).code];
      };
      const run = async () => (await runProgram('/bin/echo', ['out'], call)).stdout;
      const start = async () => (await startProgram('/bin/echo', ['out'], call).exit).code;
      const found = [];
      for (let free = 0; free < 8; free += 1) {
        const release = takeDescriptors(free);
        found.push(...[await outcome(run), await outcome(start), await outcome(read)]);
        release();
      }
      say({ found, after: [await outcome(run), await outcome(start), await outcome(read)] });
    `);
    const { found, after } = said as { readonly found: readonly object[]; readonly after: unknown };
    const succeeded = [{ value: 'out\n' }, { value: 0 }, { value: ['out\n', 0] }];
    expect(found.slice(0, 3)).toMatchObject([overloaded, overloaded, overloaded]);
    for (const [index, one] of found.entries()) {
      expect('value' in one ? [one] : [], `attempt ${index}`).toEqual('value' in one ? [succeeded[index % 3]] : []);
      if (!('value' in one)) expect(one).toMatchObject(overloaded);
      expect(JSON.stringify(one)).not.toContain('echo');
    }
    expect(after).toEqual(succeeded);
  });

  it('an MCP server that cannot be started is a failed connection', async () => {
    const said = await runWithFewDescriptors(`
      const { StdioTransport } = await import('${home}/src/tools/mcp/stdio.ts');
      const connect = async () => {
        const transport = new StdioTransport({
          program: '/bin/cat', args: [], env: {}, cwd: '/', onStderr: () => undefined, parse: JSON.parse,
        });
        const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
        try {
          await transport.start();
          const echo = new Promise((resolve) => (transport.onmessage = resolve));
          await transport.send(message);
          return await echo;
        } finally {
          await transport.close();
        }
      };
      const release = takeDescriptors(0);
      const found = await outcome(connect);
      release();
      say({ found, after: await outcome(connect) });
    `);
    expect(said).toEqual({
      found: { code: 'EMFILE', message: expect.stringContaining('EMFILE') as string, isAtLimit: true },
      after: { value: { jsonrpc: '2.0', method: 'notifications/initialized' } },
    });
  });

  it('threads that cannot start reject their calls as overloaded, however many descriptors are missing', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'recording.wav');
    await writeFile(path, toneWav({ words: ['alpha'], rate: 16_000 }));
    const said = await runWithFewDescriptors(`
      import { problemAnswer } from '${home}/src/contract/problems.ts';
      import { decodeWithWasm } from '${home}/src/audio/wasm/index.ts';
      import { createEncoder } from '${home}/src/audio/encode/index.ts';
      const { signal } = call;
      let count = 0;
      const decode = async () => {
        const wavPath = \`${directory}/\${(count += 1)}.wav\`;
        return (await decodeWithWasm({ path: '${path}', container: 'wav', wavPath, maxSeconds: 60 }, { signal })).endMs > 0;
      };
      const { encode } = createEncoder({ ffmpeg: undefined, temporaryDirectory: undefined });
      async function* samples() { yield new Int16Array(48_000); }
      const speak = async () => {
        let bytes = 0;
        for await (const chunk of encode({ sampleRate: 24_000, samples: samples() }, 'mp3', { signal }).audio) bytes += chunk.length;
        return bytes > 0;
      };
      const answer = async (make) => {
        try {
          return await make();
        } catch (error) {
          return problemAnswer(error, 'id').body.code;
        } finally {
          await settled();
        }
      };
      const found = [];
      for (let free = 0; free < 16; free += 1) {
        const release = takeDescriptors(free);
        found.push(await answer(decode), await answer(speak));
        release();
      }
      say({ found, after: [await answer(decode), await answer(speak)] });
    `);
    const { found, after } = said as { readonly found: readonly unknown[]; readonly after: unknown };
    expect(found.slice(0, 2)).toEqual(['overloaded', 'overloaded']);
    for (const one of found) expect([true, 'overloaded']).toContain(one);
    expect(after).toEqual([true, true]);
  });
});

describe('an error is a machine limit', () => {
  const failure = (message: string, facts: object = {}) => Object.assign(new Error(message), facts);

  it.each([
    ['no file descriptors in the process', failure('x', { code: 'EMFILE' })],
    ['no file descriptors in the machine', failure('x', { code: 'ENFILE' })],
    ['no further processes', failure('x', { code: 'EAGAIN', syscall: 'spawn /bin/sh' })],
    ['no memory for a process', failure('x', { code: 'ENOMEM', syscall: 'spawn /bin/sh' })],
    ['no further threads', failure('x', { code: 'ERR_WORKER_INIT_FAILED' })],
    ['an error of a thread, without its code', failure("EMFILE: too many open files, open '/x'")],
    ['one that caused it', failure('x', { cause: failure('y', { cause: failure('z', { code: 'EMFILE' }) }) })],
  ])('%s', (_what, error) => {
    expect(isAtMachineLimit(error)).toBe(true);
  });

  it.each([
    ['an answer that would block', failure('x', { code: 'EAGAIN', syscall: 'read' })],
    ['a program that does not exist', failure('x', { code: 'ENOENT', syscall: 'spawn /bin/sh' })],
    ["a provider's text", failure('the provider said: EMFILE: too many open files')],
    ['no error', 'EMFILE: too many open files'],
  ])('but not %s', (_what, error) => {
    expect(isAtMachineLimit(error)).toBe(false);
  });
});
