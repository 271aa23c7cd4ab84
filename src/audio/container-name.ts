import type { Container } from '../../engines/contract/index.ts';
import { withFile } from '../../lib/recording/file-bytes.ts';
import { isMatroska } from '../../lib/recording/webm.ts';

/** The name of a container for messages: webm files are one kind of Matroska, and the others have its name. */
export function nameOf(path: string, container: Container): string {
  const [isOther = false] = container === 'webm' ? withFile(path, (file) => [isMatroska(file)]) : [];
  return isOther ? 'Matroska' : container;
}
