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
    ...[
      'a[1] and list[0]',
      'matrix[1][2] = 3',
      'items[2].name',
      'x = [1, 2]',
      'in [0, 1]',
      '[sic]',
      '[2024]',
      'He [Anna] said',
      'std::vec::Vec',
      'Note: so: it',
    ],
    ...[
      'Use the <tool_call> tag.',
      '重点【注意】',
      'The token <eos',
      'a <| b |> c',
      'a | b |',
      '||x||',
      '– 5 %',
      'One\ntwo',
    ],
    ...[
      'We meet on\n1. April in Bonn.',
      'C:\\Users\\\nmore',
      '"So," he said\nand left.',
      'x² ½ ™ ① 1º xⁿ tʰ',
      'ชำ ຳ և ㅋㅋ',
      'বা\u09dcি',
      'schön 한국',
      '《全角，标点！》',
      'ℹ',
    ],
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
    ['lists', '- one\n* two\n  + three\n1. four\n- [x] done\n- [ ] open', 'one.\ntwo.\nthree.\n1. four.\ndone.\nopen'],
    ['quotes', '> said\n> > - deep', 'said.\n\ndeep'],
    ['tables', '| a | b |\n|---|:-:|\n| **1** | `2` |\n\nx | y', 'a, b.\n\n1, 2\n\nx | y'],
    ['tables without outer lines', 'a | b\n--- | ---\n1 | 2', 'a, b.\n\n1, 2'],
    ['rules', 'a\n\n---\n\n* * *\nb', 'a\n\n\nb'],
    ['links', 'a [link](https://e.org "Title") and [**b**](/x_(y)).', 'a link and b.'],
    ['a link whose text is an address', 'x [https://e.org](https://e.org)', 'x'],
    ['images', 'See ![alt](a.png) and [![badge](b.svg)](https://e.org) here', 'See and here'],
    ['addresses', 'See https://e.org/a_(b), (https://x.y) or <https://y.z> www.e.org now', 'See , or now'],
    ['links that are defined elsewhere', '[a *b*][X] ![i][x] [x][] [y][]\n\n[x]: <https://e.org> "T"', 'a b x [y][]'],
    ['notes', 'A fact[^1]. Another.[^b]\n\n[^1]: A source.\n[^b]: It.', 'A fact. Another.'],
    ['escaped characters', '1\\. \\*no emphasis\\* snake\\_case \\$5 a\\b', '1. *no emphasis* snake_case $5 a\\b'],
    ['line breaks', 'one<br>two<br/>three<BR />\nfour', 'one.\ntwo.\nthree.\nfour'],
    ['paragraphs', '<p>one</p><p class="x">two</p>', 'one.\n\ntwo'],
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
    [
      'math between lines',
      '\\[\nE = mc^2\n\\]\n$$\n\\frac{a}{b} \\leq \\alpha_{max}\n$$',
      'E = mc^2.\n\na/b ≤ alpha_max',
    ],
    ['environments', '\\begin{align*}\na &= 2\\pi r \\\\\nb\n\\end{align*}', 'a = 2 pi r,\nb'],
    ['commands', '\\boxed{42}, \\frac{1}{2} and \\(\\text{speed} \\times \\sqrt{2}\\)', '42, 1/2 and speed × √2'],
    ['math that is not closed', '\\[\nx \\cdot y', 'x × y'],
    ['fences', 'Run:\n\n```js\n# a = *1*\n```\nEnd.', 'Run:\n\nEnd.'],
    ['fences of tildes around backticks', '~~~~\n```\n~~~\n~~~~\nx', 'x'],
    ['fences in lists', '- ```js\n  a\n  ```\n- b', 'b'],
    ['fences in numbered lists', '1. ```js\n   a\n   ```\n2. b', '2. b'],
    ['a fence that is not closed', 'a\n```\ncode', 'a'],
    ['emoji', 'Hi 🙂 there 👩🏽‍💻! 🇩🇪 1️⃣ ❤️ ☎ ✅ Done 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'Hi there! Done'],
  ])('%s: the words', (_what, markdown, words) => {
    expect(speakable(markdown)).toBe(words);
  });
});

describe('a mark that is removed leaves its pause', () => {
  test.each([
    ['a list', 'We want:\n- apples\n- ripe bananas\n- bread', 'We want:\napples.\nripe bananas.\nbread'],
    ['a numbered list', '1. Open the lid\n2. Press the button', '1. Open the lid.\n2. Press the button'],
    ['a loose list', '- one\n\n- two\n\nEnd', 'one\n\ntwo\n\nEnd'],
    ['a list in a list', '- one\n    - two\n      1. three\n- four', 'one.\ntwo.\n      1. three.\nfour'],
    ['a list in a quote', '> - one\n> - two', 'one.\ntwo'],
    ['the end of a list', '- one\n- two\nAfter it.', 'one.\ntwo.\nAfter it.'],
    ['items of several lines', '- one\n  more\n- two\nand more', 'one\n  more.\ntwo\nand more'],
    ['bullets of plain text', 'We want:\n• apples\n◦ pears\n– plums', 'We want:\napples.\npears.\nplums'],
    ['numbers of other kinds', '(1) one\n(2) two\na) three\n[3] four', '(1) one.\n(2) two.\na) three.\n[3] four'],
    ['emoji as bullets', '✅ Done\n1️⃣ Open', 'Done.\nOpen'],
    ['Chinese', '一、苹果\n二、香蕉\n- 梨\n- 桃', '一、苹果。\n二、香蕉。\n梨。\n桃'],
    ['Japanese', '# はじめに\n- りんご\n- バター\n- パン', 'はじめに。\n\nりんご。\nバター。\nパン'],
    ['Thai, which has no full stop', '- แอปเปิล\n- กล้วย', 'แอปเปิล\n\nกล้วย'],
    ['Hindi and Arabic', '- सेब\n- केला।\n- تفاح\n- موز؟\n- x', 'सेब.\nकेला।\nتفاح.\nموز؟\nx'],
    ['items that end with letters and abbreviations', '- option A\n- vs.\n- c', 'option A.\n\nvs.\n\nc'],
    ['a heading', '# Overview\nThe fan is a wood elf.', 'Overview.\n\nThe fan is a wood elf.'],
    ['headings with punctuation', '# What?\na\n# So:\nb\n# "Hi!"\nc', 'What?\n\na.\n\nSo:\n\nb.\n\n"Hi!"\n\nc'],
    ['a heading of bold text', '**Overview**\nThe fan.\n__So:__\nEnd', 'Overview.\n\nThe fan.\n\nSo:\n\nEnd'],
    ['a table', 'See:\n| one | two |\n|---|---|\n| 100 | 200 |\nEnd', 'See:\none, two.\n100, 200.\nEnd'],
    ['a row without the head of its table', '| one | two |\n| 1 | 2 |', 'one, two.\n1, 2'],
    ['a quote', 'She said\n> go\n\nand went', 'She said.\n\ngo\n\nand went'],
    ['the end of a quote', '> go\nand went', 'go.\n\nand went'],
    ['a rule', 'a\n***\nb', 'a.\n\nb'],
    ['code', 'Run it\n```\nx\n```\nand wait', 'Run it.\n\nand wait'],
    ['math', 'So\n$$\na + 100\n$$\nand', 'So.\na + 100.\nand'],
    ['line breaks of HTML', 'one<br>two<br><br>three', 'one.\ntwo.\n\nthree'],
    ['line breaks of Markdown', 'one  \ntwo\\\nthree', 'one.\ntwo.\nthree'],
    ['a list of HTML', '<ul>\n<li>one</li>\n<li>two</li>\n</ul>\nEnd', 'one.\ntwo.\nEnd'],
    ['a list of HTML in one line', '<ol><li>a</li><li>b</li></ol>', 'a.\n\nb'],
    ['a table of HTML', '<tr><th>one</th><th>two</th></tr>\n<tr><td>1</td><td>2</td></tr>', 'one, two.\n1, 2'],
  ])('%s', (_what, markdown, words) => {
    expect(speakable(markdown)).toBe(words);
  });
});

describe('marks that chat models write are silent', () => {
  test.each([
    ['a citation', 'Paris is the capital [1].', 'Paris is the capital.'],
    [
      'citations',
      'It grew by 3%.[1][2] Then it fell [3, 4]. So "it"[5] (is) [6–8]',
      'It grew by 3%. Then it fell. So "it" (is)',
    ],
    ['citations after words', 'In France[1] it rose[2][3]; it is.', 'In France it rose; it is.'],
    ['citations in parentheses', 'See here ([1], [2]).', 'See here.'],
    ['citations in Chinese', '法国的首都是巴黎[1]。很大[2][3]', '法国的首都是巴黎。很大'],
    ['citations that are links', 'A [1](https://e.org). B [[2]](#n).', 'A. B.'],
    ['citations that are defined', 'So is arr[1].\n\n[1]: https://e.org', 'So is arr.'],
    ['citations in emphasis', '**Paris**[1] is _big_ [2].', 'Paris is big.'],
    ['citations in a list', '- one [1]\n- two[2]', 'one.\ntwo'],
    ['raised citations', 'It fell.¹ Then<sup>[2]</sup>.<sup>3</sup> Yes', 'It fell. Then. Yes'],
    ['sources without titles', 'So.\n\n[1] https://e.org/a\n[2] https://e.org/b', 'So.'],
    ['citations of assistants', 'It is【4:0†source】【1†L1-L5】 so[3†source].', 'It is so.'],
    ['citations of Bing', 'It is[^1^] so[^2^].', 'It is so.'],
    ['citations with names', '[cite_start]It is [cite: 1, 2] so [citation:3].[doc4]', 'It is so.'],
    [
      'citations of ChatGPT',
      'It is\ue200cite\ue202turn0search1\ue201. :contentReference[oaicite:0]{index=0}',
      'It is.',
    ],
    ['citations in other brackets', 'そうだ［1］。はい【2】。\n【3】次', 'そうだ。はい。\n【3】次'],
    ['citations in math', '是的$^{[1]}$。So.^[2] Yes', '是的。So. Yes'],
    ['sources in other languages', 'So [Quelle 1]. 是[来源2]。', 'So. 是。'],
    ['emoji by name', 'Done :tada: at 10:30:45 :+1:', 'Done at 10:30:45'],
    ['containers', ':::note{title="x"}\nRead.\n:::', 'Read.'],
    ['an alert without its quote', '[!TIP]\nRead this.', 'Read this.'],
    ['alerts', '> [!NOTE]\n> Read this.\n\n> [!warning]- Mind\n> it', 'Read this.\n\nMind.\n\nit'],
    ['how to read characters, without end tags', '<ruby>漢<rt>かん<rt>x</ruby>字 <rt> tag', '漢字 tag'],
    ['how to read characters', '<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</ruby>', '漢字'],
    ['control tokens', '<|im_start|>assistant\nHi.<|im_end|><｜end▁of▁sentence｜></s><eos>', 'Hi.'],
    ['control tokens of Llama and Gemma', '<start_of_turn>model\n[INST] Hi. [/INST]<end_of_turn>', 'Hi.'],
    ['a call of a tool', 'Sure. <tool_call>{"name":"x"}</tool_call>', 'Sure.'],
    ['a call over lines', 'Sure.\n<tool_call>\n{"a":\n\n1}\n</tool_call>\nDone.', 'Sure.\n\nDone.'],
    ['calls of other kinds', 'A<function=x>{}</function> B<ns:tool_calls><invoke/></ns:tool_calls> C', 'A B C'],
    [
      'a call in tokens',
      'A.<|tool_call_begin|>x\n{}<|tool_call_end|> B.<｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜>',
      'A.\nB.',
    ],
    ['a result', '<tool_response>\n5\n</tool_response>\nIt is 5.', 'It is 5.'],
    ['a call that does not end', 'Sure.\n<tool_call>\n{"name"', 'Sure.'],
    ['a call without arguments in tags', 'Sure. [TOOL_CALLS] [{"name":"x"}]', 'Sure.'],
  ])('%s', (_what, markdown, words) => {
    expect(speakable(markdown)).toBe(words);
  });

  test('but not in code', () => {
    const text = 'Write `[1]`, `<|im_end|>`, `<rt>` and `<tool_call>`.';
    expect(speakable(text)).toBe(text.replaceAll('`', ''));
    expect(speakable('```\n<tool_call>\n{\n```\nEnd.')).toBe('End.');
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
    ['in other marks and any case', '[THINK]A.[/think] ◁think▷B.◁/think▷<Thought>C.</THOUGHT>Hello.', 'Hello.'],
    ['in other reasoning', '<think>A. <think>B.</think> C.</think>Hello.', 'Hello.'],
    ['with a closing mark alone', 'The user says hi.\n</think>\n\nHello there.', 'Hello there.'],
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

describe('400,000 hostile characters take linear time', () => {
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
    ...['\u0301\u0323', '[1]', '[1,', '[1][', '<tool_call> a', ' \\', '**a', '\n- a', '\n|a|b|'],
  ];
  test.each(units)('%j', { timeout: 60_000 }, (unit) => {
    expect(speakable(`${unit.repeat(400_000 / unit.length)})`).length).toBeLessThanOrEqual(480_000);
  });
});
