/** The conversation as a Markdown file: the text that was said and answered. Pure. */
import { textOf, type Turn } from './conversation-state.ts';

export function toMarkdown(turns: readonly Turn[], at: Date): string {
  const title = `# Conversation of ${at.toISOString().slice(0, 10)}`;
  return `${[title, ...turns.map(section)].join('\n\n')}\n`;
}

function section(turn: Turn): string {
  if (turn.role === 'user') return `## You\n\n${turn.text}`;
  const model = turn.result?.model ?? turn.model;
  const heading = model === undefined ? '## Answer' : `## Answer (${model})`;
  const end =
    turn.state === 'failed' ? `_${turn.failure?.text ?? 'Failed.'}_` : turn.state === 'stopped' ? '_Stopped._' : '';
  return [heading, textOf(turn).trim(), end].filter((part) => part !== '').join('\n\n');
}
