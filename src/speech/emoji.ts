/** Removes emoji, because voices would speak their names. Pure, in linear time. */

/** Pictographs such as `↔` count only if a variation selector makes them emoji; `©`, `®` and `™` never count. */
const sign = String.raw`(?:[[\p{Extended_Pictographic}\p{Emoji_Modifier}]&&[\p{Emoji_Presentation}\u2600-\u27bf\u{1f000}-\u{1ffff}]]\ufe0f?|[\p{Extended_Pictographic}--[©®™]]\ufe0f)`;
const person = String.raw`${sign}\p{Emoji_Modifier}?[\u{e0020}-\u{e007f}]*`;
const keycap = String.raw`[0-9#*]\ufe0f?\u20e3`;
const flag = String.raw`\p{Regional_Indicator}{1,2}`;
const one = String.raw`(?:${keycap}|${flag}|${person}(?:\u200d${person})*)`;
const emoji = new RegExp(` ?${one}`, 'gv');
const first = new RegExp(String.raw`^\s*${one}`, 'v');

export const withoutEmoji = (text: string): string => text.replace(emoji, '');

/** An emoji at the beginning of a line is a bullet. */
export const startsWithEmoji = (line: string): boolean => first.test(line);
