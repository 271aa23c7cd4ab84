/** Label values of the metrics. Callers must not be able to create new values. */

/** The methods of RFC 9110, plus PATCH, as in OpenTelemetry. */
const methods: ReadonlySet<string> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'],
]);

export function methodLabel(method: string): string {
  return methods.has(method) ? method : '_OTHER';
}

export function routeLabel(template: string | undefined): string {
  return template ?? 'unmatched';
}

/** Replaces values that are not in the list. */
export const other = 'other';

/**
 * Returns a function that passes through the first `most` distinct values and replaces all others with `other`, because
 * a provider may list any number of models, and an MCP server any number of tools.
 */
export function bounded(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return other;
    known.add(value);
    return value;
  };
}
