import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sentence, writeParrotModel } from './parrot-model.ts';
import { describeWith, run } from './programs.ts';
import { temporaryDirectory } from './temporary.ts';
import { toneWav } from './tone-model.ts';

// What whisper's own ggml-tiny.bin and ggml-base.bin have.
const sizes = [
  { size: 'tiny', bytes: 77_691_713 },
  { size: 'base', bytes: 147_951_465 },
] as const;

test.each(sizes)('has the size of a real model: $size', async ({ size, bytes }) => {
  const model = join(await temporaryDirectory(), 'model.bin');
  await writeParrotModel(model, { size });
  expect(Math.abs((await stat(model)).size - bytes)).toBeLessThan(50_000);
});

describeWith(['whisper-cli'], 'the parrot model', (programs) => {
  test('says its sentence whatever it hears, and where that ends', { timeout: 120_000 }, async () => {
    const directory = await temporaryDirectory();
    const [model, silence, output] = [
      join(directory, 'model.bin'),
      join(directory, 'silence.wav'),
      join(directory, 'out'),
    ];
    await writeParrotModel(model, { size: 'tiny' });
    await writeFile(silence, toneWav({ words: [], rate: 16_000, tailSeconds: 9.5 }));
    // One thread: several wait for each other in vain when other programs have the cores.
    const inHaste = ['-t', '1', '-bs', '1', '-bo', '1'];
    await run(
      programs['whisper-cli'],
      [...['-np', '-m', model, '-l', 'auto', ...inHaste], ...['-oj', '-of', output, '-f', silence]],
      { deadlineMs: 110_000 },
    );
    expect(JSON.parse(await readFile(`${output}.json`, 'utf8'))).toMatchObject({
      result: { language: 'en' },
      transcription: [{ text: expect.stringContaining(sentence) as string, offsets: { from: 0, to: 10_000 } }],
    });
  });
});
