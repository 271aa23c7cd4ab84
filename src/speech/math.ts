/** Converts LaTeX between its delimiters to spoken text. Pure, in linear time. */

/** Commands that are not spoken as their names, unlike `\alpha` and `\sin`. */
const symbols = new Map(
  Array.from(
    (
      'times × cdot × ast × div ÷ pm ± mp ∓ leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ equiv ≡ sim ~ infty ∞ sqrt √ sum ∑ ' +
      'prod ∏ int ∫ partial ∂ nabla ∇ in ∈ notin ∉ subset ⊂ cup ∪ cap ∩ forall ∀ exists ∃ to → rightarrow → leftarrow ← ' +
      'Rightarrow ⇒ implies ⇒ iff ⇔ leftrightarrow ↔ ldots … cdots … dots … circ ° degree ° hbar ħ ell l'
    ).matchAll(/(\S+) (\S+)/g),
    ([, command = '', said = '']) => [command, said],
  ),
);

/** Commands for layout and style, which are not spoken. */
const silent = new Set(
  (
    'left right big Big bigg Bigg bigl bigr Bigl Bigr displaystyle textstyle limits text textbf textit textrm mathrm mathbf ' +
    'mathit mathbb mathcal mathsf operatorname mbox boxed frac dfrac tfrac cfrac tag label hline quad qquad'
  ).split(' '),
);

const marks = /\\(?:begin|end)\{[^{}]*\}|\\([a-z]+)(?=(\w)?)|\\([^a-z]|$)|\}\s*\{|[{}&~]/gi;

export function saidOfMath(math: string): string {
  const said = math.replace(marks, (mark, command?: string, next?: string, escaped?: string) => {
    if (command !== undefined) return saidOfCommand(command) + (/[a-z\d]/i.test(next ?? '') ? ' ' : '');
    if (escaped !== undefined) return escaped === '\\' ? ', ' : /[%$#&_|]/.test(escaped) ? escaped : ' ';
    if (mark === '{' || mark === '}') return '';
    return mark.startsWith('}') ? '/' : ' '; // separates the parts of a fraction
  });
  return said.replace(/\s+/g, ' ').replace(/ ,/g, ',').trim();
}

function saidOfCommand(command: string): string {
  return silent.has(command) ? ' ' : ` ${symbols.get(command) ?? command}`;
}

/**
 * Unlike prices, math has no space next to its dollar signs, and contains either a LaTeX character or no space at all.
 */
export function isBetweenDollars(
  line: string,
  { start, end, mark }: { readonly start: number; readonly end: number; readonly mark: '$' | '$$' },
): boolean {
  const [before = ' ', after = ' '] = [line[start - mark.length - 1], line[end + mark.length]];
  const math = line.slice(start, end);
  if (/[\p{L}\p{N}$\\]/u.test(before) || /[\p{L}\p{N}$]/u.test(after) || math.endsWith('\\')) return false;
  const isTight = mark === '$$' || math === math.trim();
  return isTight && math !== '' && (/[\\^_=]/.test(math) || !/\s/.test(math));
}
