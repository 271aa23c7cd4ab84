/**
 * Generates tables of the members of an engine and of its context from the first sentence of each comment in the engine
 * contract.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { code, table } from './markdown.ts';

const folder = fileURLToPath(new URL('../../engines/contract', import.meta.url));

export function engineMembers(): string {
  const rows = [
    ...membersOf('engine.ts', 'Engine').map((row) => ['all', ...row]),
    ...membersOf('transcription.ts', 'TranscriptionEngine').map((row) => ['transcription', ...row]),
    ...membersOf('chat.ts', 'ChatEngine').map((row) => ['chat', ...row]),
    ...membersOf('speech.ts', 'SpeechEngine').map((row) => ['speech', ...row]),
  ];
  return table(['capability', 'member', 'description'], rows);
}

export const contextMembers = (): string => table(['member', 'description'], membersOf('context.ts', 'EngineContext'));

/** Matches a comment and the name after it. The text that follows the name distinguishes methods from values. */
const member = /\n {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}(?:readonly )?([\w.[\]]+\??)(: |[(<])/g;

function membersOf(file: string, name: string): string[][] {
  const text = readFileSync(join(folder, file), 'utf8');
  const from = text.indexOf(`export interface ${name} `);
  const body = text.slice(from, text.indexOf('\n}\n', from));
  return [...body.matchAll(member)].map(([, comment = '', key = '', next]) => [
    code(next === ': ' ? key : `${key}()`),
    firstSentence(comment),
  ]);
}

function firstSentence(comment: string): string {
  const text = comment.replaceAll(/\n\s*\*( |$)/g, ' ').trim();
  return /^.*?[.!](?= |$)/.exec(text)?.[0] ?? text;
}
