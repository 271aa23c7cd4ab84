import { toneWav } from '../../support/tone-model.ts';

export const say = (content: string) => ({ messages: [{ role: 'user' as const, content }] });
export const wav = toneWav({ words: ['alpha'], rate: 16_000 });

export async function collect<Event>(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}
