import { describe, expect, it } from 'vitest';
import { parseCommandLine, UsageError } from '../../src/bin/command-line.ts';

const start = { command: 'start', takes: ['port', 'host', 'config', 'env-file', 'open'] } as const;
const setup = { command: 'setup', takes: ['config'], rest: '[NAME ...]' } as const;

describe('a command line', () => {
  it('sets the variables of its options', () => {
    const args = ['--port', '0', '--host=::1', '--config', 'a=b.yaml', '--open', '--env-file', 'my.env'];
    expect(parseCommandLine(start, args)).toEqual({
      ...{ rest: [], opensPage: true, isBench: false, isHelp: false, envFile: 'my.env' },
      variables: { PORT: '0', HOST: '::1', PARLANCE_CONFIG: 'a=b.yaml' },
    });
  });

  it('may be empty', () => {
    expect(parseCommandLine(start, [])).toMatchObject({ opensPage: false, envFile: undefined, variables: {} });
  });

  it('is the last one where an option is repeated', () => {
    expect(parseCommandLine(start, ['--port', '1', '--port', '2']).variables).toEqual({ PORT: '2' });
  });

  it('passes on names, also after --', () => {
    expect(parseCommandLine(setup, ['voice', '--config', 'a', 'chat', '--', '--port']).rest).toEqual([
      ...['voice', 'chat', '--port'],
    ]);
  });

  it.each([['-h'], ['--help'], ['--help', '--port', '1']])('asks for help with %s', (...args) => {
    expect(parseCommandLine(start, args).isHelp).toBe(true);
  });
});

describe('is refused, with what is right', () => {
  it.each([
    [['--prot', '1'], 'unknown option "--prot"; did you mean --port?'],
    [['--constructor'], 'unknown option "--constructor"'],
    [['--__proto__=1'], 'unknown option "--__proto__"'],
    [['-p'], 'unknown option "-p"'],
    [['--\x1b[31m'], String.raw`unknown option "--\u001b[31m"`],
    [['--port'], '--port needs a value: --port NUMBER'],
    [['--host', '--open'], '--host needs a value: --host ADDRESS'],
    [['--config='], '--config needs a value: --config FILE'],
    [['--open=yes'], '--open takes no value'],
    [['serve'], 'unexpected argument "serve"'],
  ])('%j', (args, message) => {
    expect(() => parseCommandLine(start, args)).toThrow(new UsageError(message));
  });

  it('what another command takes', () => {
    expect(() => parseCommandLine(setup, ['--port', '1'])).toThrow('unknown option "--port"');
  });
});
