import { readFile } from 'node:fs/promises';
import { sentence } from './parrot-model.ts';
import { recordingKind } from '../../test/support/recordings.ts';
import { speechSeconds, words } from '../../test/support/tone-model.ts';

export interface Clip {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Ten seconds as a browser records them. */
export async function makeClip(directory: string): Promise<Clip> {
  const kind = recordingKind('webm/opus as MediaRecorder writes it (no duration, live clusters)');
  const tailSeconds = 10 - speechSeconds({ words, tailSeconds: 0 });
  const path = await kind.make(words, { directory, tailSeconds });
  return { path, bytes: await readFile(path) };
}

/** Throws unless the transcript is complete: a run that failed early would cost too little. */
export function assertSaid(text: string): void {
  if (!text.includes(sentence)) throw new Error(`the model was to say its sentence, not: ${text}`);
}
