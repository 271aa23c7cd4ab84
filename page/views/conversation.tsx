/** The conversation: questions, answers, and the steps between them. */
import { Fragment, type ComponentChildren } from 'preact';
import { Anchors } from '../anchors.ts';
import {
  excerptOf,
  textOf,
  type Answer,
  type ClipPart,
  type Part,
  type TextPart,
  type ToolPart,
  type Turn,
} from '../conversation-state.ts';
import { regenerate } from '../conversation.ts';
import { startDictation } from '../dictation.ts';
import { draft, focusDraft, keepFocus } from '../draft.ts';
import { handsFree } from '../hands-free.ts';
import { canChat, canSpeak, chosen, listings } from '../listings.ts';
import { Markdown } from '../markdown.tsx';
import { isOpening } from '../open-conversation.ts';
import { prettyJson } from '../pretty-json.ts';
import { soundOf, turns } from '../run.ts';
import { clipUrl } from '../service.ts';
import { stopPlayback, play, speaking, unlock } from '../playback.ts';
import { readAloud } from '../reading.ts';
import { whyNot, whyNotRecord } from '../why-not.ts';
import { Action } from './action.tsx';
import { scrollToEnd } from './auto-scroll.ts';
import { CopyButton } from './copy-button.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';
import { happenings, type Happening } from './notices.tsx';
import { QuestionView } from './question.tsx';
import { Setup } from './setup.tsx';

const anchors = new Anchors();

export function Conversation() {
  const all = turns.value;
  const ids = all.map(({ id }) => id);
  const notices = handsFree.value === 'off' ? anchors.place(happenings(), ids) : new Map<number, Happening[]>();
  const isEmpty = all.length === 0 && !isOpening.value;
  return (
    <main>
      <Setup />
      {isEmpty && (!listings.value || canChat.value) && <Welcome />}
      <div role="log" aria-live="off" aria-label="Conversation" class="turns">
        {noticesAt(undefined)}
        {all.map((turn, index) => [
          turn.role === 'user' ? (
            <QuestionView key={turn.id} question={turn} />
          ) : (
            <AnswerView key={turn.id} answer={turn} question={all[index - 1]} isLast={index === all.length - 1} />
          ),
          noticesAt(turn.id),
        ])}
      </div>
    </main>
  );

  function noticesAt(id: number | undefined) {
    return notices.get(id)?.map(({ name, view }) => <Fragment key={name}>{view}</Fragment>);
  }
}

const tries = ['Explain in three sentences why the sky is blue.', 'Give me ideas for a rainy weekend.'];

const sandboxTries = ['read aloud: Good morning from the sandbox', 'think: What would be kind?\nHow are you?'];

function Welcome() {
  const isSandbox = chosen.value.chat?.id.startsWith('sandbox-') === true;
  return (
    <section class="welcome" aria-label="Welcome">
      <p class="lead">Speak, or type.</p>
      <p>Your speech becomes text that you can check before you send it. Answers can be read aloud.</p>
      <p>{isSandbox ? 'This is the sandbox: its answers are made up. Try one of these.' : 'Try one of these.'}</p>
      <ul>
        <li>
          <Action class="outlined" whyNot={whyNotRecord()} onClick={() => void startDictation()}>
            <Icon name="microphone" />
            <span>Say “Good morning”</span>
          </Action>
        </li>
        {(isSandbox ? sandboxTries : tries).map((text) => (
          <li key={text}>
            <button type="button" class="outlined" onClick={() => use(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function use(text: string): void {
  draft.value = text;
  requestAnimationFrame(focusDraft); // when the text is in its place
}

interface AnswerProps {
  readonly answer: Answer;
  /** Missing from a conversation that was too long to be stored whole. */
  readonly question: Turn | undefined;
  readonly isLast: boolean;
}

function AnswerView({ answer, question, isLast }: AnswerProps) {
  const { parts, state } = answer;
  const name = question ? `the answer to “${excerptOf(textOf(question))}”` : 'the answer';
  const again = isLast && question && <AskAgainButton state={state} name={name} />;
  const isRunning = state === 'running';
  const hasClips = isRunning || state === 'done'; // the clips end with the run
  return (
    <article class="turn answer" aria-busy={isRunning}>
      <h2 class="unseen">Answer</h2>
      {parts.map((part, index) => (
        <PartView key={index} part={part} isComplete={!isRunning || index < parts.length - 1} hasClips={hasClips} />
      ))}
      {isRunning && isWaiting(parts) && <Dots />}
      {answer.failure && (
        <div class="failure" role="alert">
          <FailureText failure={answer.failure} />
          {again}
        </div>
      )}
      {!isRunning && (
        <Footer answer={answer} name={name}>
          {!answer.failure && again}
        </Footer>
      )}
    </article>
  );
}

/** True if the model is working, but nothing on the screen moves. */
function isWaiting(parts: readonly Part[]): boolean {
  const last = parts.at(-1);
  return (
    !last || last.kind === 'clip' || last.kind === 'reasoning' || (last.kind === 'tool' && last.outcome !== undefined)
  );
}

const Dots = () => (
  <p class="dots" aria-hidden="true">
    <span />
    <span />
    <span />
  </p>
);

interface PartProps {
  readonly part: Part;
  readonly isComplete: boolean;
  readonly hasClips: boolean;
}

function PartView({ part, isComplete, hasClips }: PartProps) {
  switch (part.kind) {
    case 'text':
      return <Markdown text={part.text} isComplete={isComplete} />;
    case 'reasoning':
      return <Reasoning part={part} isComplete={isComplete} />;
    case 'tool':
      return <ToolCallView part={part} />;
    case 'clip':
      return hasClips ? <Clip part={part} /> : null;
  }
}

function Reasoning({ part, isComplete }: { readonly part: TextPart; readonly isComplete: boolean }) {
  return (
    <details class="step">
      <summary>{isComplete ? 'Reasoning' : 'Reasoning …'}</summary>
      <p class="reasoning">{part.text}</p>
    </details>
  );
}

function ToolCallView({ part }: { readonly part: ToolPart }) {
  const { name, outcome, progress, message } = part;
  return (
    <details class={outcome?.ok === false ? 'step failed' : 'step'}>
      <summary>
        <span>
          {name}: {outcome ? `${outcome.ok ? 'ok' : 'failed'} · ${outcome.durationMs} ms` : (message ?? 'running')}
        </span>
        {!outcome && (
          <progress {...(progress !== undefined && { value: progress })} aria-label={`Progress of ${name}`} />
        )}
      </summary>
      <p class="small">Arguments</p>
      <pre tabIndex={0}>{prettyJson(part.arguments)}</pre>
      {outcome && (
        <>
          <p class="small">{outcome.ok ? 'Output' : 'Error'}</p>
          <pre tabIndex={0}>{outcome.text}</pre>
        </>
      )}
    </details>
  );
}

function Clip({ part }: { readonly part: ClipPart }) {
  return (
    <p>
      <SoundButton id={part.id} label="Play the clip" start={() => play({ id: part.id, url: clipUrl(part.id) })} />
    </p>
  );
}

interface AskAgainProps {
  readonly state: Answer['state'];
  /** The name of the answer. */
  readonly name: string;
}

function AskAgainButton({ state, name }: AskAgainProps) {
  const [label, fullLabel] =
    state === 'done' ? ['Regenerate', `Regenerate ${name}`] : ['Ask again', `Ask again for ${name}`];
  return (
    <Action
      class={state === 'failed' ? 'outlined' : 'quiet'}
      whyNot={whyNot('chat')}
      aria-label={fullLabel}
      title={fullLabel}
      onClick={() => {
        regenerate();
        scrollToEnd();
        keepFocus();
      }}
    >
      <Icon name="again" />
      <span>{label}</span>
    </Action>
  );
}

interface FooterProps {
  readonly answer: Answer;
  readonly name: string;
  readonly children: ComponentChildren;
}

function Footer({ answer, name, children }: FooterProps) {
  const text = textOf(answer);
  return (
    <footer class="small">
      {canSpeak.value && text.trim() !== '' && (
        <SoundButton
          id={soundOf(answer.id)}
          label="Read aloud"
          isQuiet
          start={() => readAloud(soundOf(answer.id), text)}
        />
      )}
      {text.trim() !== '' && <CopyButton what={name} text={text} />}
      {children}
      <span>{summaryOf(answer)}</span>
    </footer>
  );
}

function summaryOf({ state, result, model: kept }: Answer): string {
  if (state === 'stopped') return 'Stopped.';
  if (!result) return kept ?? '';
  const { model, usage, finish_reason: reason } = result;
  const end = {
    stop: '',
    length: 'stopped at the length limit',
    content_filter: 'stopped by the provider’s content filter',
  }[reason];
  return [model, usage && `${usage.total_tokens} tokens`, end].filter(Boolean).join(' · ');
}

interface SoundButtonProps {
  readonly id: string;
  readonly label: string;
  readonly isQuiet?: boolean;
  readonly start: () => void;
}

function SoundButton({ id, label, isQuiet = false, start }: SoundButtonProps) {
  const isMine = speaking.value === id;
  const toggle = () => {
    if (isMine) return stopPlayback();
    unlock();
    start();
  };
  return (
    <button type="button" class={isQuiet ? 'quiet sound' : 'outlined sound'} onClick={toggle}>
      <Icon name={isMine ? 'stop' : isQuiet ? 'speaker' : 'play'} />
      <span>{isMine ? 'Stop' : label}</span>
    </button>
  );
}
