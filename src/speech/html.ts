/** Recognizes HTML tags and entities. Pure, in linear time. */

// ---------------------------------------------------------------------------------------------------------------- tags

/** An attribute must have a value or a known name, because `a <b and c> d` is a comparison. */
export const tag =
  /<\/?[a-z][a-z0-9-]*(?:\s+(?:[a-z@:_][\w@:.-]*\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'=<>]+)|open|hidden|controls|checked|disabled|allowfullscreen))*\s*\/?>/i;

const blocks = new Set(
  (
    'address article aside blockquote body caption center details div dl fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr html main nav ol p pre section summary table tbody tfoot thead ul'
  ).split(' '),
);
const lines = new Set('br dd dt li option tr'.split(' '));
const cells = new Set(['td', 'th']);
const inlines = new Set(
  (
    'a abbr audio b bdi bdo big br button cite code data del dfn em font i iframe img input ins kbd label mark picture q ' +
    'rp rt ruby s samp small source span strike strong sub sup svg time tt u var video wbr'
  ).split(' '),
);

/**
 * Returns the names of all elements that the text closes, including elements that are not in HTML:
 * `<answer>Yes.</answer>`.
 */
export function closedElements(text: string): ReadonlySet<string> {
  return new Set(Array.from(text.matchAll(/<\/([a-z][a-z0-9-]*)\s*>/gi), ([, name = '']) => name.toLowerCase()));
}

/**
 * Returns the replacement for a tag: line ends or commas, which are pauses, or an empty text; undefined if the tag is
 * plain text.
 */
export function saidOfTag(markup: string, others: ReadonlySet<string>): string | undefined {
  const [, name = ''] = /^<\/?([a-z0-9-]*)/.exec(markup.toLowerCase()) ?? [];
  if (lines.has(name)) return '\n';
  if (blocks.has(name)) return '\n\n';
  if (cells.has(name)) return markup.startsWith('</') ? '' : ', ';
  return inlines.has(name) || others.has(name) ? '' : undefined;
}

// ------------------------------------------------------------------------------------------------------------ entities

export const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z0-9]{1,30});/i;

/** The entities that people and models write. An unknown entity is treated as text. */
const named = new Map(
  Array.from(
    (
      'amp & lt < gt > quot " apos \' lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ laquo « raquo » lsaquo ‹ rsaquo › ' +
      'ndash – mdash — minus − hellip … middot · bull • iexcl ¡ iquest ¿ sect § para ¶ deg ° ordf ª ordm º sup1 ¹ sup2 ² ' +
      'sup3 ³ frac12 ½ frac14 ¼ frac34 ¾ times × divide ÷ plusmn ± ne ≠ le ≤ ge ≥ asymp ≈ equiv ≡ infin ∞ radic √ sum ∑ ' +
      'permil ‰ micro µ cent ¢ pound £ yen ¥ euro € copy © reg ® trade ™ larr ← uarr ↑ rarr → darr ↓ harr ↔ rArr ⇒ ' +
      'szlig ß AElig Æ aelig æ OElig Œ oelig œ Oslash Ø oslash ø ETH Ð eth ð THORN Þ thorn þ pi π alpha α beta β gamma γ ' +
      'delta δ Delta Δ lambda λ mu μ sigma σ Sigma Σ omega ω Omega Ω theta θ phi φ'
    ).matchAll(/(\S+) (\S+)/g),
    ([, name = '', said = '']) => [name, said],
  ),
);

/** The suffixes of entities such as `&eacute;`, which consists of a letter and an accent. */
const marks = new Map(
  Object.entries({ grave: '\u0300', acute: '\u0301', circ: '\u0302', tilde: '\u0303', uml: '\u0308' }).concat(
    Object.entries({ ring: '\u030a', caron: '\u030c', cedil: '\u0327' }),
  ),
);

export function saidOfEntity(markup: string): string {
  const name = markup.slice(1, -1);
  if (name.startsWith('#')) return saidOfCode(name.slice(1)) ?? markup;
  if (/^(?:nbsp|emsp|ensp|thinsp|numsp)$/.test(name)) return ' ';
  if (/^(?:shy|zwnj|zwj|lrm|rlm)$/.test(name)) return '';
  const mark = marks.get(name.slice(1));
  return mark === undefined ? (named.get(name) ?? markup) : (name.charAt(0) + mark).normalize('NFC');
}

function saidOfCode(code: string): string | undefined {
  const point = /^x/i.test(code) ? parseInt(code.slice(1), 16) : Number(code);
  if (point === 0xa0) return ' ';
  if (point === 0xad) return '';
  return point < 0x20 || point > 0x10ffff || (point & 0x1ff800) === 0xd800 ? undefined : String.fromCodePoint(point);
}
