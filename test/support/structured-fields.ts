/** Reads a List of Items as RFC 9651 writes it; throws where it is not one. Bare items: strings, integers, tokens, true. */

export type Bare = string | number | boolean;

export interface Item {
  readonly value: Bare;
  readonly parameters: Readonly<Record<string, Bare>>;
}

export function parseList(field: string): Item[] {
  let rest = field.replace(/^ +/, '').replace(/ +$/, '');
  const take = (pattern: RegExp): string | undefined => {
    const [found] = pattern.exec(rest) ?? [];
    if (found !== undefined) rest = rest.slice(found.length);
    return found;
  };
  const expected = (what: string) => new Error(`not a list of RFC 9651, expected ${what} at: ${rest}`);

  function bareItem(): Bare {
    const text = take(/^"(?:[ !#-[\]-~]|\\["\\])*"/);
    if (text !== undefined) return text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
    const integer = take(/^-?\d{1,15}(?![\d.])/);
    if (integer !== undefined) return Number(integer);
    const token = take(/^[A-Za-z*][!#$%&'*+.^`|~\w:/-]*/);
    if (token === undefined) throw expected('an item');
    return token;
  }

  function item(): Item {
    const value = bareItem();
    const parameters: Record<string, Bare> = {};
    while (take(/^; */) !== undefined) {
      const key = take(/^[a-z*][a-z\d_.*-]*/);
      if (key === undefined) throw expected('a key');
      parameters[key] = take(/^=/) === undefined ? true : bareItem();
    }
    return { value, parameters };
  }

  const items: Item[] = [];
  while (rest !== '') {
    items.push(item());
    if (rest === '') return items;
    if (take(/^[ \t]*,[ \t]*/) === undefined || rest === '') throw expected('a further item');
  }
  return items;
}
