/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or their lower-case forms. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Proxies {
  /** Proxy for targets of that scheme; undefined means a direct connection. */
  readonly http: URL | undefined;
  readonly https: URL | undefined;
  readonly noProxy: string;
}

export function proxiesOf(env: Environment): Proxies {
  return {
    http: parseProxy(read(env, 'HTTP_PROXY').value),
    https: parseProxy(read(env, 'HTTPS_PROXY').value),
    noProxy: read(env, 'NO_PROXY').value,
  };
}

const expected = 'it must be an http or https address such as http://proxy.example.com:3128';

/** One message per variable that is not a valid proxy URL, without the value, which may contain a password. */
export function proxyMistakes(env: Environment): string[] {
  return ['HTTPS_PROXY', 'HTTP_PROXY']
    .map((variable) => read(env, variable))
    .filter(({ value }) => value !== '' && parseProxy(value) === undefined)
    .map(({ name }) => `${name}: its value is not allowed: ${expected}`);
}

/** The lower-case name takes precedence, as in curl. */
function read(env: Environment, variable: string): { readonly name: string; readonly value: string } {
  const lowerCase = variable.toLowerCase();
  const name = env[lowerCase] ? lowerCase : variable;
  return { name, value: env[name] ?? '' };
}

/** Returns undefined if it is not a valid proxy URL. The default scheme is http, as in curl. */
function parseProxy(value: string): URL | undefined {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  try {
    decodeURIComponent(url.username + url.password); // undici would throw at the first request
    return url;
  } catch {
    return undefined;
  }
}
