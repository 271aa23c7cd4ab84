/** Recognizes marks within a line that chat models write and that are never spoken. Pure, in linear time. */

const number = String.raw`[1-9]\d{0,2}`;
const numbers = String.raw`${number}(?:\s?[,;–-]\s?${number}){0,20}`;
const source = 'cite|citation|source|ref|doc|document|quelle|fuente|fonte|来源|引用|出典';

/** Patterns of marks that are removed as a whole. */
export const silentMark = [
  // citations
  String.raw`[【[]\d{1,4}(?::\d{1,4})?†[^【】[\]]{0,200}[】\]]|【\d{1,4}:\d{1,4}】|[【［〔](?<=\S\s?.)${numbers}[】］〕]`,
  String.raw`\ue200(?:file)?cite[^\ue200\ue201]{0,1000}\ue201|:contentReference\[oaicite:\d{1,5}\](?:\{[^{}]{0,60}\})?`,
  String.raw`\[(?:${source})s?(?:_start|_end|[\s:._-]{0,3}\d[^[\]]{0,100})\]|\[citation needed\]`,
  // superscript footnote numbers
  String.raw`\$?\^\{?\[${numbers}\]\}?[\^$]?|<sup>(?<=[.,;:!?”»"]\s?<sup>)${numbers}<\/sup>`,
  String.raw`[¹²³⁰⁴-⁹](?<=[.,;:!?”»"].)[¹²³⁰⁴-⁹]{0,2}(?!\S)`,
  // chat turns and other control tokens
  String.raw`<\|(?:start|im_start|start_header_id)\|>\s?(?:system|user|assistant|tool)?|<\|channel\|>\s?[a-z]*`,
  String.raw`<start_of_turn>\s?(?:user|model)?|<(?:end_of_turn|bos|eos|pad|unk)>|<<\/?SYS>>|\[\/?(?:INST|SYSTEM_PROMPT)\]`,
  String.raw`<[|｜][^\s<>|｜]{1,60}[|｜]>`,
  // the end of a tool call whose beginning is missing
  String.raw`<\/(?:[a-z][\w-]{0,30}:)?(?:tool|function)(?:_[a-z]{1,20})?>`,
  // the reading of a character (ruby)
  String.raw`<r[tp](?:\s[^<>]*)?>[^<>]{0,200}(?:<\/r[tp]>|(?=<(?:r[tp]|\/ruby)\b))`,
  // an emoji given by its name
  String.raw`:(?<![\p{L}\p{N}:]:)(?:[-+]1|100|[a-z][a-z0-9_+-]{2,30}):(?![\p{L}\p{N}:])`,
].join('|');

// ------------------------------------------------------------------------------------------------------- citations

const bracketed = String.raw`\[{1,2}\^?${numbers}\^?\]{1,2}`;
const citations = new RegExp(String.raw`${bracketed}(?:[,;]?\s?${bracketed}){0,20}`, 'y');

/** These scripts have no spaces between words. */
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`;
const mayFollow = new RegExp(String.raw`^(?:$|[\s<${unspaced}]|(?![([{])\p{P})`, 'u');
const mayPrecede = new RegExp(
  [
    String.raw`(?<![=:[{<>∈+*/\\-])\s`,
    String.raw`(?![()[\]{}\\/-])\p{P}`,
    String.raw`[${unspaced}]`,
    String.raw`\p{L}\p{M}*(?=\P{ASCII})\p{L}\p{M}*`,
    String.raw`(?<![\w.$])(?:[A-Z][a-z]{2,}|[A-Z]{3,})`,
    '<sup>',
  ]
    .map((source) => `(?:${source})$`)
    .join('|'),
  'u',
);

/**
 * Text after which brackets are a citation only at the end of a clause, because lower-case words may be names of
 * arrays.
 */
const mayEndClause = /(?:(?<![\w.$])(?:[a-z]{3,}|[A-Z][A-Za-z]+|\d{2,})|[)%])$/;
const endOfClause = /^[.,;:!?…]*(?:["'”»)\s]|$)/;

/** The rest of a line that contains only the number and the address of a source. */
const addressAlone = /^\s*(?:<?https?:\/\/\S*)?\s*$/;

/**
 * Returns the end of the citations that begin at `index`: `[1]`, `[3, 4]`, `[1][2]`. `a[1]`, `x = [1]` and a number at
 * the beginning of a line are not citations. `isDefined` returns whether the text defines a link with that label.
 */
export function endOfCitations(line: string, index: number, isDefined: (label: string) => boolean): number | undefined {
  citations.lastIndex = index;
  const [found] = citations.exec(line) ?? [];
  if (found === undefined) return undefined;
  const end = index + found.length;
  const after = line.slice(end, end + 8);
  if (!mayFollow.test(after)) return undefined;
  const before = line.slice(Math.max(0, index - 32), index);
  if (before.trim() === '') return addressAlone.test(line.slice(end)) ? end : undefined;
  const isCited =
    isDefined(found.slice(1, -1)) ||
    mayPrecede.test(before) ||
    (mayEndClause.test(before) && endOfClause.test(after) && !/^\s+\S/.test(after)) ||
    (before.endsWith('(') && after.startsWith(')'));
  return isCited ? end : undefined;
}
