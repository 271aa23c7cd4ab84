/** Reads the clips in the Link header of a chat response (RFC 8288). */
import { ParlanceError } from './errors.ts';

/**
 * Audio that can be fetched without an API key until ten minutes after its last use: usable as the `src` of an
 * `<audio>` element.
 */
export interface Clip {
  /** Absolute URL. */
  readonly url: string;
  /** Media type, such as `audio/mpeg`. */
  readonly content_type: string;
}

const link = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)/g;
const parameter = /;\s*([^\s=;,]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))/g;

/**
 * A path is relative to the URL of the service, which may itself have a path (behind a reverse proxy). Throws a
 * `ParlanceError`.
 */
export function absoluteUrl(url: string, root: string): string {
  try {
    return new URL(url.replace(/^\/(?!\/)/, ''), root).href;
  } catch (cause) {
    throw new ParlanceError('unexpected-answer', 'The URL of a clip is invalid: not an answer of Parlance.', { cause });
  }
}

/** Returns the links with `rel="enclosure"`, in header order. Throws a `ParlanceError`. */
export function clipsOf(header: string | null, root: string): Clip[] {
  return [...(header ?? '').matchAll(link)].flatMap(([, target = '', text = '']) => {
    const parameters = new Map(
      [...text.matchAll(parameter)].map(([, name = '', quoted, token]) => [name.toLowerCase(), quoted ?? token ?? '']),
    );
    if (parameters.get('rel') !== 'enclosure') return [];
    return [{ url: absoluteUrl(target, root), content_type: parameters.get('type') ?? '' }];
  });
}
