/**
 * Returns a function that tests a name against patterns: names with * as a wildcard; a leading "!" excludes. Without an
 * including pattern, all names except the excluded ones pass.
 */
export function createNameFilter(patterns: readonly string[]): (name: string) => boolean {
  const included = patterns.filter((pattern) => !pattern.startsWith('!')).map(toExpression);
  const excluded = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => toExpression(pattern.slice(1)));
  return (name) =>
    (included.length === 0 || included.some((one) => one.test(name))) && !excluded.some((one) => one.test(name));
}

function toExpression(pattern: string): RegExp {
  const literal = (part: string) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`);
}
