/** The state of the conversation: applies the events of a run to an answer. Pure. */
import { ParlanceError, type ChatEvent, type ChatResult, type Message } from '../src/client/index.ts';
import { failureOf, type Failure } from './failure.ts';

export interface Question {
  readonly role: 'user';
  readonly id: number;
  readonly text: string;
  readonly about?: About;
}

/** A transcript that a question is about. */
export interface About {
  /** The title of the recording. */
  readonly title: string;
  readonly text: string;
  /** If the transcript was shortened: the end of the remaining part, in milliseconds. */
  readonly untilMs?: number;
}

export interface Answer {
  readonly role: 'assistant';
  readonly id: number;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly parts: readonly Part[];
  readonly result?: ChatResult;
  /** The model of an answer that was kept across a reload, which has no result. */
  readonly model?: string;
  readonly failure?: Failure;
}

export type Turn = Question | Answer;

export type Part = TextPart | ToolPart | ClipPart;

export interface TextPart {
  readonly kind: 'reasoning' | 'text';
  readonly step: number;
  readonly text: string;
}

export interface ToolPart {
  readonly kind: 'tool';
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Progress from 0 to 1; undefined if the tool does not report it. */
  readonly progress?: number;
  readonly message?: string;
  readonly outcome?: { readonly ok: boolean; readonly text: string; readonly durationMs: number };
}

export interface ClipPart {
  readonly kind: 'clip';
  /** The id of the clip, not of the tool call. */
  readonly id: string;
}

export const newAnswer = (id: number): Answer => ({ role: 'assistant', id, state: 'running', parts: [] });

export const isRunning = (turn: Turn): turn is Answer => turn.role === 'assistant' && turn.state === 'running';

export function applyEvent(answer: Answer, event: ChatEvent): Answer {
  switch (event.type) {
    case 'chat.started':
    case 'step.started':
      return answer;
    case 'reasoning.delta':
      return append(answer, { kind: 'reasoning', step: event.step, text: event.delta });
    case 'content.delta':
      return append(answer, { kind: 'text', step: event.step, text: event.delta });
    case 'tool.started':
      return add(answer, { kind: 'tool', id: event.id, name: event.name, arguments: event.arguments });
    case 'tool.progress':
      return change(answer, event.id, {
        ...(event.total !== undefined && event.total > 0 && { progress: Math.min(1, event.progress / event.total) }),
        ...(event.message !== undefined && { message: event.message }),
      });
    case 'audio.created':
      return add(answer, { kind: 'clip', id: event.audio.id });
    case 'tool.finished': {
      const text = (event.ok ? event.output : event.error) ?? '';
      return change(answer, event.id, { outcome: { ok: event.ok, text, durationMs: event.duration_ms } });
    }
    case 'chat.completed':
      return { ...answer, state: 'done', result: event.result };
    case 'chat.failed':
      return fail(answer, ParlanceError.fromProblem(event.problem));
  }
}

/** Marks the answer as failed, and keeps the parts so far. */
export const fail = (answer: Answer, error: unknown): Answer => ({
  ...answer,
  state: 'failed',
  failure: failureOf(error),
});

export const stop = (answer: Answer): Answer => ({ ...answer, state: 'stopped' });

const add = (answer: Answer, part: Part): Answer => ({ ...answer, parts: [...answer.parts, part] });

function append(answer: Answer, part: TextPart): Answer {
  const last = answer.parts.at(-1);
  if (last?.kind !== part.kind || last.step !== part.step) return add(answer, part);
  return { ...answer, parts: [...answer.parts.slice(0, -1), { ...part, text: last.text + part.text }] };
}

function change(answer: Answer, id: string, facts: Partial<ToolPart>): Answer {
  const parts = answer.parts.map((part) => (part.kind === 'tool' && part.id === id ? { ...part, ...facts } : part));
  return { ...answer, parts };
}

/** The text of a question, or of the last step of an answer, as in the result. Earlier steps lead to tool calls. */
export function textOf(turn: Turn): string {
  if (turn.role === 'user') return turn.text;
  const { result, parts } = turn;
  if (result) return result.content;
  const texts = parts.filter((part): part is TextPart => part.kind === 'text');
  const last = texts.at(-1)?.step;
  return texts
    .filter(({ step }) => step === last)
    .map(({ text }) => text)
    .join('');
}

/** The beginning of a text in one line, as the name of a message. */
export function excerptOf(text: string, maxLength = 40): string {
  const start = text.trim().slice(0, 10 * maxLength);
  const characters = Array.from(start.replace(/\s+/g, ' '));
  const excerpt = characters.slice(0, maxLength).join('');
  return characters.length > maxLength ? `${excerpt.trimEnd()}…` : excerpt;
}

export const maxTextLength = 32_000;
const maxMessages = 100;

/**
 * The system prompt, if there is one, and the latest messages that fit into one request, beginning with a question.
 * Answers without text are left out.
 */
export function messagesOf(turns: readonly Turn[], systemPrompt = ''): Message[] {
  const system: Message[] = systemPrompt.trim() === '' ? [] : [{ role: 'system', content: systemPrompt }];
  const messages = turns
    .map((turn): Message => ({ role: turn.role, content: contentOf(turn) }))
    .filter(({ content }) => content.trim() !== '')
    .slice(system.length - maxMessages);
  return [...system, ...messages.slice(messages.findIndex(({ role }) => role === 'user'))];
}

/** The question comes last, where models look for it, and is never truncated to make room for the transcript. */
function contentOf(turn: Turn): string {
  const text = textOf(turn).slice(0, maxTextLength);
  if (turn.role !== 'user' || !turn.about) return text;
  const { title, text: transcript, untilMs } = turn.about;
  const part = untilMs === undefined ? '' : ' (only its beginning)';
  const quoted = `Transcript of the recording “${title}”${part}:\n\n${transcript}`;
  return `${quoted.slice(0, Math.max(0, maxTextLength - text.length - 2))}\n\n${text}`.trimStart();
}

/** The questions and the texts of the answers, as a Markdown file. */
export function toMarkdown(turns: readonly Turn[], at: Date): string {
  const title = `# Conversation of ${at.toISOString().slice(0, 10)}`;
  return `${[title, ...turns.map(section)].join('\n\n')}\n`;
}

function section(turn: Turn): string {
  if (turn.role === 'user') {
    const about = turn.about ? `_About the transcript of “${turn.about.title}”._\n\n` : '';
    return `## You\n\n${about}${turn.text}`;
  }
  const model = turn.result?.model ?? turn.model;
  const heading = model === undefined ? '## Answer' : `## Answer (${model})`;
  const end =
    turn.state === 'failed' ? `_${turn.failure?.text ?? 'Failed.'}_` : turn.state === 'stopped' ? '_Stopped._' : '';
  return [heading, textOf(turn).trim(), end].filter((part) => part !== '').join('\n\n');
}
