import { hash, randomBytes } from 'node:crypto';

/** `pl_NAME_` and 43 base64url characters (256 random bits), and its hash for the keys file. */
export function createToken(name: string) {
  const token = `pl_${name}_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: hash('sha256', token) };
}
