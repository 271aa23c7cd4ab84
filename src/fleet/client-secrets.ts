/**
 * Client secrets that every front accepts. Redis has only their hashes: what belongs to a secret is encrypted with it, so
 * that Redis can neither read it nor forge one.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto';
import { ProblemError } from '../contract/problems.ts';
import type { SecretStore, StoredSecret } from '../keys/client-secrets.ts';
import type { RedisSecrets } from './redis-secrets.ts';
import { pseudonymOf } from './ticket.ts';

/** `secret`: FLEET_SECRET. */
export function shareClientSecrets(redis: RedisSecrets, secret: string): SecretStore {
  const keyOf = (token: string) => createHmac('sha256', secret).update(`client-secret\n${token}`).digest();
  return {
    async add(token, stored, most) {
      const sealed = seal(keyOf(token), JSON.stringify(stored));
      const entry = { digest: hash('sha256', token), owner: pseudonymOf(secret, stored.key ?? ''), sealed };
      return available(redis.add(entry, Math.max(1, stored.expires - Date.now()), most));
    },
    async find(token) {
      const sealed = await available(redis.find(hash('sha256', token)));
      return sealed === undefined ? undefined : open(keyOf(token), sealed);
    },
  };
}

async function available<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    const detail = 'Client secrets are unavailable for the moment; try again later.';
    throw new ProblemError('overloaded', detail, { cause, headers: { 'Retry-After': '5' } });
  }
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

function seal(key: Buffer, text: string): string {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, key, iv);
  const sealed = [sealing.update(text, 'utf8'), sealing.final()];
  return Buffer.concat([iv, sealing.getAuthTag(), ...sealed]).toString('base64url');
}

/** Undefined for what no front of this fleet has sealed. */
function open(key: Buffer, sealed: string): StoredSecret | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  try {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes));
    opening.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    const text = Buffer.concat([opening.update(bytes.subarray(ivBytes + tagBytes)), opening.final()]).toString();
    return JSON.parse(text) as StoredSecret;
  } catch {
    return undefined;
  }
}
