/** What DESIGN promises to whoever reads a stream, as one check of all of its events. */
import { expect } from 'vitest';
import type { ChatEvent } from './stream.ts';

export function expectGuarantees(events: readonly ChatEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index));
  expect(events[0]?.type).toBe('chat.started');
  expect(events.filter(({ type }) => type === 'chat.started')).toHaveLength(1);
  const ends = events.filter(({ type }) => type === 'chat.completed' || type === 'chat.failed');
  expect(ends).toEqual([events.at(-1)]);

  let step = -1;
  let content = '';
  const reasoning: string[] = [];
  const seen = new Set<string>();
  const running = new Map<string, string>();
  for (const event of events) {
    if ('step' in event && event.type !== 'step.started') expect(event.step).toBe(step);
    switch (event.type) {
      case 'step.started':
        expect(event.step).toBe(++step);
        expect(running.size).toBe(0);
        content = '';
        break;
      case 'reasoning.delta':
        reasoning[step] = (reasoning[step] ?? '') + event.delta;
        break;
      case 'content.delta':
        content += event.delta;
        break;
      case 'tool.started':
        expect(seen).not.toContain(event.id);
        seen.add(event.id);
        running.set(event.id, event.name);
        break;
      case 'tool.progress':
      case 'audio.created':
        expect([...running.keys()]).toContain(event.id);
        break;
      case 'tool.finished':
        expect(running.get(event.id)).toBe(event.name);
        running.delete(event.id);
        break;
      case 'chat.completed':
        expect(running.size).toBe(0);
        expect(event.result.content).toBe(content);
        expect(event.result.reasoning ?? '').toBe(reasoning.filter((text) => text !== '').join('\n\n'));
    }
  }
}
