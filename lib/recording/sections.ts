/**
 * Recordings may be joined by concatenating their files, but demuxers read only the first. These functions find the
 * sections of a file, each a separate recording, and throw a `DamagedRecording` if they cannot reach the end of the
 * file.
 */
import { DamagedRecording } from './damage.ts';
import { withFile } from './file-bytes.ts';
import type { FileView } from './file-view.ts';
import { flacSections } from './flac.ts';
import { mp4Sections } from './mp4.ts';
import { oggSections } from './ogg.ts';
import { wavSections } from './riff.ts';
import { webmSections } from './webm.ts';

/** MP3 has no sections: its frames follow each other, whichever file they come from. */
const finders = {
  webm: webmSections,
  mp4: mp4Sections,
  ogg: oggSections,
  wav: wavSections,
  flac: flacSections,
} satisfies Record<string, (file: number, fileBytes: number) => FileView[]>;

/** Each section has its own decoder. */
const maxSections = 256;

export function sectionsOf(path: string, container: keyof typeof finders): FileView[] {
  const sections = [...withFile(path, finders[container])];
  if (sections.length > maxSections) {
    throw new DamagedRecording(`the ${container} file is joined from more than ${maxSections} recordings`);
  }
  return sections;
}
