import fc from '../support/fast-check.ts';
import { expect, it } from 'vitest';
import { ByteBuffer } from '../../src/http/body/byte-buffer.ts';

it('collects chunks of any size in order', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 4000, max: 9000 })));
  fc.assert(
    fc.property(sizes, (lengths) => {
      const chunks = lengths.map((length, i) => Buffer.alloc(length, i));
      const body = new ByteBuffer();
      for (const chunk of chunks) body.add(chunk);
      expect(body.take().equals(Buffer.concat(chunks))).toBe(true);
      expect(body.take()).toHaveLength(0);
    }),
  );
});
