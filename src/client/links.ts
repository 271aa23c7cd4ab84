/** The clips that a chat's answer announces in its Link header (RFC 8288). */

/** Audio that can be fetched now, for a short while, without a token: what an `<audio>` element takes as its `src`. */
export interface Clip {
  /** Absolute. */
  readonly url: string;
  readonly content_type: string;
}

const link = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)/g;
const parameter = /;\s*([^\s=;,]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))/g;

/** The links with the relation `enclosure`, in their order. */
export function clipsOf(header: string | null, base: string): Clip[] {
  return [...(header ?? '').matchAll(link)].flatMap(([, target = '', text = '']) => {
    const parameters = new Map(
      [...text.matchAll(parameter)].map(([, name = '', quoted, token]) => [name.toLowerCase(), quoted ?? token ?? '']),
    );
    if (parameters.get('rel') !== 'enclosure') return [];
    return [{ url: new URL(target, base).href, content_type: parameters.get('type') ?? '' }];
  });
}
