/** Progress and lines on one terminal: the bars are its last line, whatever is written. */
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgress } from '../../src/bin/progress.ts';
import { createTerminal } from '../../src/bin/terminal.ts';

/** What is to be seen on a terminal of this width. A line that is too long wraps, and only its last row can be erased. */
function openScreen({
  columns = 60,
  isTTY = true,
  env = {},
}: { columns?: number; isTTY?: boolean; env?: NodeJS.ProcessEnv } = {}) {
  let written = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done();
    },
  });
  const terminal = createTerminal(Object.assign(stream, { isTTY, columns }) as unknown as NodeJS.WriteStream, env);
  const rows = () => {
    const shown = [''];
    // eslint-disable-next-line no-control-regex -- as a terminal is sent it
    for (const part of written.split(/(\r\x1b\[2K|\x1b\[1A|\n)/)) {
      if (part === '\n') shown.push('');
      else if (part === '\x1b[1A') shown.pop();
      else if (part === '\r\x1b[2K') shown[shown.length - 1] = '';
      else for (const char of part) {
        if (shown.at(-1)!.length === columns) shown.push('');
        shown.push(`${shown.pop()}${char}`);
      }
    }
    return shown;
  }; // prettier-ignore
  return { terminal, progress: createProgress(terminal), rows, stream, written: () => written };
}

describe('on a terminal', () => {
  it('the bar is the last line, and a line is written above it', () => {
    const { terminal, progress, rows } = openScreen();
    progress.show('building', 'building', 0);
    progress.show('building', 'building', 0.5);
    terminal.print('a line');
    terminal.print('two\nlines');
    progress.show('building', 'building', 0.75);
    expect(rows()).toEqual(['a line', 'two', 'lines', 'building [##################......]  75 %']);
    progress.end();
    expect(rows().at(-1)).toBe('');
  });

  it('each step has a line, with the newest of it; one that is done says how long it took', () => {
    const { progress, rows } = openScreen({ columns: 70 });
    progress.show('a', 'building', 0.1);
    progress.show('b', 'another process is downloading', null);
    progress.show('b', 'downloading', 0.5);
    expect(rows()).toEqual([
      'building [##......................]  10 %',
      'downloading [############............]  50 %',
    ]);
    expect(progress.unfinished()).toEqual(['building', 'downloading']);
    progress.finish('a');
    expect(rows()[0]).toMatch(/^building: done in \d+ ms$/);
    expect(rows().slice(1)).toEqual(['downloading [############............]  50 %']);
    progress.drop('b');
    expect(rows().at(-1)).toBe('');
  });

  it.each([1, 2, 20, 40, 60, 200])('no bar wraps in %i columns', (columns) => {
    const { progress, rows } = openScreen({ columns });
    for (let i = 0; i <= 10; i += 1) {
      progress.show('downloading a-model-with-a-name.bin', 'downloading a-model-with-a-name.bin', i / 11);
      progress.show('安装模型', '安装模型', null);
    }
    expect(rows()).toHaveLength(2);
  });

  it('a step commands no terminal', () => {
    const { progress, written } = openScreen();
    progress.show('a\x1b[2Jb\nc', 'a\x1b[2Jb\nc', 0.5);
    expect(written()).toContain('a\\u001b[2Jb c');
    expect(written()).not.toContain('\x1b[2J');
  });

  it('what ends without having begun draws nothing', () => {
    const { progress, rows } = openScreen();
    progress.finish('there');
    progress.drop('there');
    expect(rows()).toEqual(['']);
  });

  it('one that was closed throws nothing', () => {
    const { terminal, progress, stream } = openScreen();
    stream.destroy(new Error('EIO'));
    progress.show('building', 'building', 0.5);
    expect(() => terminal.print('a line')).not.toThrow();
  });
});

describe.each([
  ['elsewhere', { isTTY: false }],
  ['on a terminal that cannot erase', { env: { TERM: 'dumb' } }],
])('%s', (_what, options) => {
  it('a line per tenth, and no control characters', () => {
    const { progress, written } = openScreen(options);
    for (let i = 0; i < 100; i += 1) progress.show('it', 'building', i / 100);
    progress.finish('it');
    progress.end();
    const lines = written().split('\n').slice(0, -1);
    expect(lines).toHaveLength(11);
    expect(lines[5]).toBe('building [############............]  50 %');
    expect(lines[10]).toMatch(/^building: done in /);
    // eslint-disable-next-line no-control-regex
    expect(written()).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  });
});
