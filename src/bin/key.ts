/**
 * `parlance key`: creates tokens for the keys file, lists its keys, and removes a key. Exit code 1: the command failed;
 * 2: wrong usage.
 */
import { stringify } from 'yaml';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { SettingsError, loadSettings } from '../settings/load.ts';
import { readKeysFile } from '../keys/keys-file.ts';
import { createToken } from '../keys/key.ts';
import { revokeKey } from '../keys/revoke.ts';
import { keyName } from '../keys/schema.ts';
import { readCommandLine, usage } from './command-line.ts';
import { listKeys } from './list-keys.ts';

const grammar = {
  command: 'key',
  about: `Creates API keys for the keys file (API_KEYS_FILE), lists them, and revokes one.

key new NAME     creates a token and prints it once, with its entry for the keys file; neither is stored
key list         lists the keys: the first digits of their token hashes, permissions, limits, and usage today
key revoke NAME  removes all entries of the name from the keys file

NAME appears in the log and in metrics: 1 to 32 of a-z, 0-9, - and _, such as web-app. \`new\` with the name of an
existing key creates another token for it; both are valid until the old one is removed.`,
  example: ['new', 'web-app'],
  takes: ['config', 'env-file'],
  rest: 'new NAME | list | revoke NAME',
} as const;

const commandLine = readCommandLine(grammar);
try {
  if (commandLine) await run(commandLine.rest);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  fail(error.message);
}

async function run([verb, name, ...more]: readonly string[]): Promise<void> {
  if (verb === 'list' && name === undefined) await list();
  else if (verb === 'revoke' && name !== undefined && more.length === 0) await revoke(name);
  else if (verb !== 'new' || name === undefined || more.length > 0) refuse();
  else if (keyName.test(name)) makeToken(name);
  else refuse(`${JSON.stringify(name)} is not a valid key name.\n\n`);
}

function makeToken(name: string): void {
  const { token, sha256 } = createToken(name);
  const entry = stringify([{ name, sha256 }]).trimEnd(); // `stringify` quotes names such as null and 0x10
  console.log(`The token for the client, which is not shown again:

${token}

Add this entry to the file of API_KEYS_FILE, below \`keys:\`. SIGHUP makes the service read the file again.
Without a list of \`operations\`, the key may do everything except start and stop preparations:

${entry.replaceAll(/^/gm, '  ')}`);
}

async function list(): Promise<void> {
  const lines = await listKeys(loadSettings(process.env));
  console.log(lines.length > 0 ? lines.join('\n') : 'There are no keys: neither API_KEYS nor API_KEYS_FILE is set.');
}

async function revoke(name: string): Promise<void> {
  const { apiKeysFile: path } = loadSettings(process.env);
  if (path === undefined)
    return fail('API_KEYS_FILE is not set; to revoke a token of API_KEYS, remove it from that variable');
  const count = await revokeKey(path, name);
  if (count === 0) {
    const names = (await readKeysFile(path)).map((entry) => entry.name);
    const meant = didYouMean(name, names);
    return fail(`${path} has no key ${JSON.stringify(name)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`);
  }
  const [what, it] = count === 1 ? ['its token', 'it'] : [`its ${String(count)} tokens`, 'them'];
  console.log(
    `Removed ${name} from ${path}, with ${what}. A running service accepts ${it} until it reads the file again: send it SIGHUP.`,
  );
}

function refuse(why = ''): void {
  console.error(`${why}${usage(grammar)}`);
  process.exitCode = 2;
}

function fail(why: string): void {
  console.error(`key: ${why}`);
  process.exitCode = 1;
}
