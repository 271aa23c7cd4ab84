/**
 * Recordings are joined by concatenating their files, but the demuxer reads only the first. These functions find the
 * sections of a file, each a recording of its own, and throw when they lose their way before its end.
 */
import type { Container } from '../../../engines/contract/index.ts';
import { undecodable } from '../failures.ts';
import { withFile } from './file-bytes.ts';
import type { FileView } from './file-view.ts';
import { flacSections } from './flac-sections.ts';
import { mp4Sections } from './mp4-sections.ts';
import { oggSections } from './ogg-sections.ts';
import { wavSections } from './wav-sections.ts';
import { webmSections } from './webm-sections.ts';

/** MP3 has no sections: its frames follow each other, whatever file they are from. */
const finders: Readonly<Record<Exclude<Container, 'mp3'>, (file: number, fileBytes: number) => FileView[]>> = {
  webm: webmSections,
  mp4: mp4Sections,
  ogg: oggSections,
  wav: wavSections,
  flac: flacSections,
};

/** Each section has a decoder of its own. */
const maxSections = 256;

export function sectionsOf(path: string, container: keyof typeof finders): FileView[] {
  const sections = [...withFile(path, finders[container])];
  if (sections.length > maxSections) {
    throw undecodable(`the ${container} file is joined from more than ${maxSections} recordings`);
  }
  return sections;
}
