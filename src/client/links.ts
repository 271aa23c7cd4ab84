/** Reads the clips in the Link header of a chat response (RFC 8288). */

/** Audio that can be fetched for a short time without a token, for example by an `<audio>` element. */
export interface Clip {
  /** Absolute URL. */
  readonly url: string;
  readonly content_type: string;
}

const link = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)/g;
const parameter = /;\s*([^\s=;,]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))/g;

/** Resolves a path relative to the service, whose URL may also have a path behind a reverse proxy. */
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
