/**
 * The command line of all commands that read settings. An option for a setting sets its environment variable, so all
 * settings are validated in one place: the rules for PORT also apply to `--port`.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { messageOf } from '../../lib/errors.ts';
import { commandLine } from '../../lib/setup-command.ts';

interface Option {
  readonly about: string;
  /** Placeholder for the value in the usage. If absent, the option takes no value. */
  readonly value?: string;
  /** The environment variable that the option sets; absent if it sets none. */
  readonly variable?: string;
}

const options = {
  port: { value: 'NUMBER', variable: 'PORT', about: 'port to listen on; 0 selects a free one' },
  host: { value: 'ADDRESS', variable: 'HOST', about: 'address to listen on' },
  config: { value: 'FILE', variable: 'PARLANCE_CONFIG', about: 'the settings file, instead of parlance.config.yaml' },
  'env-file': { value: 'FILE', about: 'set variables from FILE; variables that are already set take precedence' },
  open: { about: 'open the page in the default browser' },
  bench: { about: 'measure the installed local models, with the recording FILE or a sentence that a voice speaks' },
  expect: { value: 'TEXT', about: 'what is said in FILE: the word errors are counted' },
} as const satisfies Readonly<Record<string, Option>>;

type OptionName = keyof typeof options;

export const startOptions = ['port', 'host', 'config', 'env-file', 'open'] as const satisfies readonly OptionName[];

interface Grammar {
  /** The name of the command, as in `parlance NAME`. */
  readonly command: string;
  /** Full sentences that describe the command. */
  readonly about: string;
  readonly example: readonly string[];
  readonly takes: readonly OptionName[];
  /** Name of the positional arguments in the usage; absent if the command takes none. */
  readonly rest?: string;
  /** Prints additional text after the usage for `--help`, such as names that depend on the settings. Never rejects. */
  readonly onHelp?: () => Promise<void>;
}

export interface CommandLine {
  readonly rest: readonly string[];
  readonly opensPage: boolean;
  readonly isBench: boolean;
  readonly expected: string | undefined;
  /** A line that names the `--env-file` that was read; undefined without the option. */
  readonly variablesFrom: string | undefined;
}

/**
 * Sets the variables that the arguments name. Returns undefined if the usage was printed (`--help`) or the arguments
 * are invalid (exit code 2).
 */
export function readCommandLine(grammar: Grammar): CommandLine | undefined {
  try {
    const { isHelp, envFile, variables, ...commandLine } = parseCommandLine(grammar, process.argv.slice(2));
    Object.assign(process.env, variables);
    if (isHelp) {
      console.log(usage(grammar));
      void grammar.onHelp?.();
      return undefined;
    }
    return { ...commandLine, variablesFrom: envFile === undefined ? undefined : setVariables(envFile) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage(grammar)}`);
    process.exitCode = 2;
    return undefined;
  }
}

export class UsageError extends Error {}

/** Throws a `UsageError`. */
export function parseCommandLine({ takes, rest }: Pick<Grammar, 'takes' | 'rest'>, args: readonly string[]) {
  const known = takes.map((name) => [name, { type: isFlag(options[name]) ? 'boolean' : 'string' }] as const);
  const help = { type: 'boolean', short: 'h' } as const;
  // `strict: false`, because the parser's own messages do not suggest a known option.
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: { ...Object.fromEntries(known), help },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string | undefined>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    given.set(token.name, token.value);
    if (token.name !== 'help') check(token, takes);
  }
  const [first] = positionals;
  if (rest === undefined && first !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(first)}`);
  const variables = takes.flatMap((name) => {
    const { variable }: Option = options[name];
    const value = given.get(name);
    return variable === undefined || value === undefined ? [] : [[variable, value] as const];
  });
  return {
    rest: positionals,
    opensPage: given.has('open'),
    isBench: given.has('bench'),
    expected: given.get('expect'),
    isHelp: given.has('help'),
    envFile: given.get('env-file'),
    variables: Object.fromEntries(variables),
  };
}

interface Token {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
}

function check({ name, rawName, value }: Token, takes: readonly OptionName[]): void {
  const known = takes.find((one) => one === name);
  if (known === undefined) throw new UsageError(unknownOption(rawName, takes));
  if (isFlag(options[known]) && value !== undefined) throw new UsageError(`--${name} takes no value`);
  if (!isFlag(options[known]) && !isGiven(value)) throw new UsageError(`--${name} needs a value: ${written(known)}`);
}

const isFlag = ({ value }: Option): boolean => value === undefined;

/** An argument that begins with a dash is the next option, so the value of this one is missing. */
const isGiven = (value: string | undefined) => value !== undefined && value !== '' && !value.startsWith('-');

const written = (name: OptionName) => ['--' + name, (options[name] as Option).value ?? []].flat().join(' ');

function unknownOption(name: string, takes: readonly OptionName[]): string {
  const meant = didYouMean(name, takes);
  const hint = meant === undefined ? '' : `; did you mean --${meant}?`;
  return `unknown option ${JSON.stringify(name)}${hint}`;
}

/**
 * Reads a file as Node.js does for its own `--env-file`, which Node.js recognizes even after the script. Without the
 * option, no file is read, because a `.env` in the working directory may belong to another project.
 */
function setVariables(file: string): string {
  const path = resolve(file);
  try {
    process.loadEnvFile(path);
  } catch (error) {
    throw new UsageError(`--env-file: ${path} cannot be read: ${messageOf(error)}`);
  }
  return `Variables from ${path}`;
}

export function usage({ command, about, example, takes, rest }: Grammar): string {
  return [
    `Usage: ${commandLine(command, '[options]', ...(rest === undefined ? [] : [rest]))}`,
    about,
    optionsOf(takes),
    `Example: ${commandLine(command, ...example)}`,
  ].join('\n\n');
}

/** Returns one line per option. */
export function optionsOf(names: readonly OptionName[]): string {
  const width = Math.max(...names.map((name) => written(name).length));
  return names.map((name) => `  ${written(name).padEnd(width)}  ${options[name].about}`).join('\n');
}
