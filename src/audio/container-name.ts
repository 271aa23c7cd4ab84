import type { Container } from '../../engines/contract/index.ts';
import { withFile } from '../../lib/recording/file-bytes.ts';
import { isMatroska } from '../../lib/recording/webm.ts';

/**
 * Returns the name of a container for messages: WebM is a subset of Matroska, so a Matroska file that is not WebM is
 * called Matroska.
 */
export function nameOf(path: string, container: Container): string {
  const [isOther = false] = container === 'webm' ? withFile(path, (file) => [isMatroska(file)]) : [];
  return isOther ? 'Matroska' : container;
}
