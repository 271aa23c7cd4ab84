/** The words that are spoken of a text, and the time that it takes to find them. */
import { describe, expect, test } from 'vitest';
import { speakable } from '../../src/speech/speakable.ts';

describe('plain text comes through unchanged', () => {
  test.each([
    ...['2 * 3 * 4', '2*3*4', '2**3**4', 'snake_case_name', 'a < b', '3 > 2', 'C#', '#1', '1. April', '5 °C', '-5 °C'],
    ...['© ® ™ # * 1', '→ ↔ ✓', 'a[1][2]', 'f(x)', '[note](see the other page)', '|x| = 3', 'a | b', '~5', 'x_1 + y_2'],
    ...[' Good morning.\n', 'One.\n\nTwo.\n', 'C:\\*.txt *.md', 'a ** b', '5 ` 6', '„Größe“ – 5 %', '我们 และ'],
    ...['awww. nice', 'e.org/path', '<break time="60s"/>', '![alt][1] [a]', 'const\r\nline\r\n'],
    ...[
      'a < b and c > d',
      'if a <b and c> d',
      'List<String>',
      '<user@e.org>',
      'The mark <think> is text.',
      '</',
      '<!--',
    ],
    ...['AT&T; R&D & co', '&bogus; &#0; &#xd800;', '$5 and $10', '$5-$10', '$HOME/$USER', 'US$ 5 and A$ 6', '5 $ a'],
    ...['C:\\Users\\me\\.ssh\\(1)', '\\\\server\\_share', '[Anna]: Hello.', '[1]: see there', 'from [^a-z] on', 'a [^'],
    ...['x² ½ ™ ① 1º xⁿ tʰ', 'ชำ ຳ և ㅋㅋ', 'বা\u09dcি', 'schön 한국', '《全角，标点！》', 'ℹ'],
  ])('%j', (text) => {
    expect(speakable(text)).toBe(text);
  });
});

describe('of marks', () => {
  test.each([
    ['headings', '# Title #\n\n###### Small', 'Title\n\nSmall'],
    ['headings with a line below', 'Title\n=====\n\nOther\n---', 'Title\n\nOther'],
    ['emphasis', '**Bold**, *it*, __b__, _i_, ***both***, ~~gone~~', 'Bold, it, b, i, both, gone'],
    ['emphasis within emphasis', '**a *b* c** _d __e__ f_', 'a b c d e f'],
    ['emphasis within words', '*un*believable Donau**dampf**schiff', 'unbelievable Donaudampfschiff'],
    ['only one of a pair', '**a and *b* c', '**a and b c'],
    ['inline code', 'Run `npm **start**` or ``a ` b``.', 'Run npm **start** or a ` b.'],
    ['lists', '- one\n* two\n  + three\n1. four\n- [x] done\n- [ ] open', 'one\ntwo\nthree\n1. four\ndone\nopen'],
    ['quotes', '> said\n> > - deep', 'said\ndeep'],
    ['tables', '| a | b |\n|---|:-:|\n| **1** | `2` |\n\nx | y', 'a, b\n1, 2\n\nx | y'],
    ['tables without outer lines', 'a | b\n--- | ---\n1 | 2', 'a, b\n1, 2'],
    ['rules', 'a\n\n---\n\n* * *\nb', 'a\n\n\nb'],
    ['links', 'a [link](https://e.org "Title") and [**b**](/x_(y)).', 'a link and b.'],
    ['a link whose text is an address', 'x [https://e.org](https://e.org)', 'x'],
    ['images', 'See ![alt](a.png) and [![badge](b.svg)](https://e.org) here', 'See and here'],
    ['addresses', 'See https://e.org/a_(b), (https://x.y) or <https://y.z> www.e.org now', 'See , or now'],
    ['links that are defined elsewhere', '[a *b*][X] ![i][x] [x][] [y][]\n\n[x]: <https://e.org> "T"', 'a b x [y][]'],
    ['notes', 'A fact[^1]. Another.[^b]\n\n[^1]: A source.\n[^b]: It.', 'A fact. Another.'],
    ['escaped characters', '1\\. \\*no emphasis\\* snake\\_case \\$5 a\\b', '1. *no emphasis* snake_case $5 a\\b'],
    ['line breaks', 'one<br>two<br/>three<BR />\nfour', 'one\ntwo\nthree\nfour'],
    ['paragraphs', '<p>one</p><p class="x">two</p>', 'one\n\ntwo'],
    [
      'tags within lines',
      'H<sub>2</sub>O, <a href="https://e.org/?a=1">**a**</a><img alt="x">, 5<sup>th</sup>',
      'H2O, a, 5th',
    ],
    ['powers', '10<sup>6</sup>', '10^6'],
    ['details', '<details open>\n<summary>More</summary>\n\ntext</details>', 'More\n\ntext'],
    ['elements of their own', '<answer>\nYes. <x-y z="1">No.</x-y>\n</answer>', 'Yes. No.'],
    ['tags in code', '`<br>`, `&nbsp;` and `\\(`, from `<!--` to `-->`', '<br>, &nbsp; and \\(, from <!-- to -->'],
    ['comments', 'one <!-- not\n\nsaid --> two', 'one two'],
    ['styles', 'one\n<style>\np {}\n</style>\ntwo', 'one\n\ntwo'],
    [
      'entities',
      'ten&nbsp;euros, AT&amp;T, &lt;b&gt;, &#8364;&#x20AC; &eacute;t&Eacute;',
      'ten euros, AT&T, <b>, €€ étÉ',
    ],
    ['math within lines', 'so \\(x\\), $y_1 + 2$, \\[z\\] and $$a = b$$.', 'so x, y_1 + 2, z and a = b.'],
    ['math between lines', '\\[\nE = mc^2\n\\]\n$$\n\\frac{a}{b} \\leq \\alpha_{max}\n$$', 'E = mc^2\na/b ≤ alpha_max'],
    ['environments', '\\begin{align*}\na &= 2\\pi r \\\\\nb\n\\end{align*}', 'a = 2 pi r,\nb'],
    ['commands', '\\boxed{42}, \\frac{1}{2} and \\(\\text{speed} \\times \\sqrt{2}\\)', '42, 1/2 and speed × √2'],
    ['math that is not closed', '\\[\nx \\cdot y', 'x × y'],
    ['fences', 'Run:\n\n```js\n# a = *1*\n```\nEnd.', 'Run:\n\nEnd.'],
    ['fences of tildes around backticks', '~~~~\n```\n~~~\n~~~~\nx', 'x'],
    ['fences in lists', '- ```js\n  a\n  ```\n- b', 'b'],
    ['a fence that is not closed', 'a\n```\ncode', 'a'],
    ['emoji', 'Hi 🙂 there 👩🏽‍💻! 🇩🇪 1️⃣ ❤️ ☎ ✅ Done 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'Hi there! Done'],
  ])('%s: the words', (_what, markdown, words) => {
    expect(speakable(markdown)).toBe(words);
  });
});

describe('of letters', () => {
  test.each([
    ['mathematical ones', '𝐇𝐞𝐥𝐥𝐨 𝒽ℯ𝓁𝓁ℴ 𝟏𝟐', 'Hello hello 12'],
    ['full-width ones', 'Ｈｅｌｌｏ　１２', 'Hello 12'],
    ['half-width ones', 'ｶﾞ', 'ガ'],
    ['ligatures', 'The oﬃce ﬁle', 'The office file'],
    ['ones in circles and squares', 'ⓗⓔⓛⓛⓞ 🄷🄸', 'hello HI'],
    ['raised ones', '1ˢᵗ', '1st'],
    ['Roman numerals', 'Chapter Ⅳ', 'Chapter IV'],
    ['accents apart', 'scho\u0308n e\u0301te\u0301', 'schön été'],
    ['Hangul apart', '\u1112\u1161\u11ab\u1100\u116e\u11a8', '한국'],
    ['Bengali apart', '\u09ac\u09be\u09a1\u09bc\u09bf', 'বা\u09dcি'],
    ['styled emphasis', '**𝐛**_e\u0301_', 'bé'],
  ])('%s: the plain letters', (_what, text, plain) => {
    expect(speakable(text)).toBe(plain);
  });
});

describe('reasoning is not said', () => {
  test.each([
    ['at the beginning', '<think>I should greet the user.</think>Hello there.', 'Hello there.'],
    ['over lines', '\n<think>\nA.\n\n```\n</think>\n\nHello.', 'Hello.'],
    ['by other names', '<thinking>A.</thinking>\n<thought>B.</thought>Hello.', 'Hello.'],
    ['that does not end', '<think>I should', ''],
    [
      'of Open WebUI',
      '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> A.\n</details>\nHello.',
      'Hello.',
    ],
    ['amid the text', 'One. <details type="reasoning"><p>A.</p></details> Two.', 'One. Two.'],
    ['of Open WebUI that does not end', 'One.\n<details type="reasoning">\n> A.', 'One.'],
  ])('%s', (_where, text, spoken) => {
    expect(speakable(text)).toBe(spoken);
  });
});

test.each(['🙂🙂', '```\ncode\n```', '![a](b)', 'https://e.org', '---', '🎉!', '  \n', '****'])(
  'nothing is left of %j',
  (text) => {
    expect(speakable(text)).toBe('');
  },
);

describe('a million hostile characters take linear time', () => {
  const units = [
    ...[
      '*',
      '[',
      '`',
      'a`',
      '[a](',
      '[a]( ',
      '![',
      '](',
      '_a',
      '*a ',
      '**a *b ',
      'a** *',
      '~~',
      '> ',
      '- ',
      '# ',
      ' #',
    ],
    ...['| ', '|-', '(', '\\', 'www.', 'https://)', '<https://', '🙂', '👩‍', '1️⃣', '\n', '```\n', '` `` ', '["a](b "'],
    ...['<', '<a ', '<a b="', '<!--', '<details type=', '&#', '\\(', '\\a{', '\\a$', '$a', '[^a]', '[a]: /b\n[a][['],
    '\u0301\u0323',
  ];
  test.each(units)('%j', { timeout: 60_000 }, (unit) => {
    expect(speakable(`${unit.repeat(1_000_000 / unit.length)})`).length).toBeLessThanOrEqual(1_000_001);
  });
});
