/** Commands and answers in `console` blocks. In an answer `...` stands for anything; ids and durations may differ. */

export interface Step {
  readonly command: string;
  readonly answer: string;
}

export function stepsOf(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [command = '', ...lines] = text.split('\n');
      return { command, answer: lines.join('\n').trimEnd() };
    });
}

/** What differs from run to run, by a name. */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID'],
  [/(\/clips\/|"audio":\{"id":")[\w-]{22}/g, '$1CLIP'],
  [/("duration_ms":)\d+(?=\}\n|\}$)/gm, '$1MS'],
  [/\b(resp|msg)_[0-9a-f]{32}\b/g, '$1_ID'],
  [/("(?:created|created_at|completed_at)":)\d+/g, '$1SECONDS'],
];

export function comparable(answer: string): string {
  const text = answer.replaceAll('\r', '').trimEnd();
  return volatile.reduce((rest, [pattern, name]) => rest.replace(pattern, name), text);
}

export function matches(actual: string, shown: string): boolean {
  const parts = comparable(shown).split('...').map(escaped);
  return new RegExp(`^${parts.join('[^]*')}$`).test(comparable(actual));
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The page with what the command really answers; an answer with an omission stays as it is. */
export function withAnswer(page: string, { command, answer }: Step, actual: string): string {
  if (answer.includes('...')) return page;
  const shown = (text: string) => `$ ${command}\n${text === '' ? '' : `${text}\n`}`;
  return page.replace(shown(answer), () => shown(actual.replaceAll('\r', '').trimEnd()));
}
