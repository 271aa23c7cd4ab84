import { createHash, randomBytes } from 'node:crypto';

export interface NewToken {
  /** `pl_NAME_` and 43 base64url characters (256 random bits). */
  readonly token: string;
  /** For the keys file. */
  readonly sha256: string;
}

export function createToken(name: string): NewToken {
  const token = `pl_${name}_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: createHash('sha256').update(token).digest('hex') };
}
