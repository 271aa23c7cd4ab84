/** `parlance key new NAME`: makes a token and its entry for the keys file. Nothing is stored. Exit code 2: wrong usage. */
import { stringify } from 'yaml';
import { keyName } from '../keys/schema.ts';
import { createToken } from '../keys/new-token.ts';

const usage = `key new NAME
  NAME  of the key, in the log and in metrics: 1 to 32 of a-z, 0-9, - and _, such as web-app; not key-N.
        The name of a key that exists makes one more token for it: until the old one is removed, both are valid.`;

const [verb, name, ...rest] = process.argv.slice(2);

if (verb === '--help' || verb === '-h') {
  console.log(usage);
} else if (verb !== 'new' || name === undefined || rest.length > 0) {
  console.error(usage);
  process.exitCode = 2;
} else if (!keyName.test(name)) {
  console.error(`"${name}" is not a name for a key.\n\n${usage}`);
  process.exitCode = 2;
} else {
  const { token, sha256 } = createToken(name);
  const entry = stringify([{ name, sha256 }]).trimEnd(); // quotes a name such as null or 0x10
  console.log(`The token, for the client. It is shown only now:

${token}

Its entry in the file of API_KEYS_FILE, below \`keys:\`. SIGHUP makes the service read the file again.
Without a list of \`operations\` the key may do everything but start and stop preparations:

${entry.replaceAll(/^/gm, '  ')}`);
}
