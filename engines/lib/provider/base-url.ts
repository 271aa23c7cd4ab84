/** Finds mistakes in a base URL, to explain responses that the right URL would not get. */

/** Endpoint paths that people copy together with the base URL. The engines append them. */
const endpoint =
  /\/(?:chat\/completions|completions|responses|messages|models|embeddings|audio\/(?:speech|transcriptions|translations))$/;

/** Also matches versions of other APIs, such as /v1beta/openai. */
const version = /\/v\d/;

export interface BaseUrlFix {
  /** The change to make to the URL, such as "add /v1 to the end of". */
  readonly change: string;
  /** False if the URL may be right as it is, because some APIs have no version. */
  readonly isCertain: boolean;
}

/** Returns how to fix a base URL, for a request to `path` below it; undefined if it looks right. */
export function baseUrlFix(baseUrl: string, path: string): BaseUrlFix | undefined {
  const [ending] = endpoint.exec(baseUrl) ?? [];
  if (ending !== undefined) return { change: `remove ${ending} from the end of`, isCertain: true };
  const isVersioned = version.test(new URL(baseUrl + path).pathname);
  return isVersioned ? undefined : { change: 'add /v1 to the end of', isCertain: false };
}
