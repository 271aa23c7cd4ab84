/** Reads the clips in the Link header of a chat response (RFC 8288). */

/** Audio that can be fetched for ten minutes without an API key: usable as the `src` of an `<audio>` element. */
export interface Clip {
  /** Absolute URL. */
  readonly url: string;
  /** Media type, such as `audio/mpeg`. */
  readonly content_type: string;
}

const link = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)/g;
const parameter = /;\s*([^\s=;,]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))/g;

/** A path is relative to the URL of the service, which may itself have a path (behind a reverse proxy). */
export function absoluteUrl(url: string, root: string): string {
  return new URL(url.replace(/^\/(?!\/)/, ''), root).href;
}

/** Returns the links with `rel="enclosure"`, in header order. */
export function clipsOf(header: string | null, root: string): Clip[] {
  return [...(header ?? '').matchAll(link)].flatMap(([, target = '', text = '']) => {
    const parameters = new Map(
      [...text.matchAll(parameter)].map(([, name = '', quoted, token]) => [name.toLowerCase(), quoted ?? token ?? '']),
    );
    if (parameters.get('rel') !== 'enclosure') return [];
    return [{ url: absoluteUrl(target, root), content_type: parameters.get('type') ?? '' }];
  });
}
