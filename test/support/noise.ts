import { createCipheriv } from 'node:crypto';

/** Bytes that cannot be compressed, the same for the same seed. */
export function noise(bytes: number, seed = 1): Buffer<ArrayBuffer> {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16));
  return Buffer.from(cipher.update(Buffer.alloc(bytes)));
}
