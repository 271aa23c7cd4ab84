/** A message of the user, which can be copied and edited in place. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { excerptOf, type About, type Question } from '../conversation-state.ts';
import { editQuestion } from '../conversation.ts';
import { focusEnd, isComposing, keepFocus } from '../draft.ts';
import { Markdown } from '../markdown.tsx';
import { timeText } from '../reader/timed-transcript.ts';
import { stopAnswer } from '../run.ts';
import { explain, whyNotSend } from '../why-not.ts';
import { Action } from './action.tsx';
import { scrollToEnd } from './auto-scroll.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icons.tsx';
import { TextField } from './text-field.tsx';

export function QuestionView({ question }: { readonly question: Question }) {
  const [isEditing, setEditing] = useState(false);
  const name = nameOf(question);
  const buttonId = `edit-${question.id}`;
  const edit = () => {
    stopAnswer();
    setEditing(true);
  };
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => document.getElementById(buttonId)?.focus()); // once the button is rendered again
  };
  return (
    <article class="turn question">
      <h2 class="unseen">You</h2>
      {isEditing ? (
        <EditForm question={question} close={close} />
      ) : (
        <>
          <div class="bubble">
            <Markdown text={question.text} isComplete />
            {question.about && <AboutView about={question.about} />}
          </div>
          <footer class="small">
            <CopyButton what={name} text={question.text} />
            <button
              type="button"
              id={buttonId}
              class="quiet"
              aria-label={`Edit ${name}`}
              title={`Edit ${name}`}
              onClick={edit}
            >
              <Icon name="edit" />
              <span>Edit</span>
            </button>
          </footer>
        </>
      )}
    </article>
  );
}

function AboutView({ about: { title, text, untilMs } }: { readonly about: About }) {
  return (
    <details class="quoted">
      <summary class="small">
        About <bdi>{title}</bdi>
        {untilMs !== undefined && `, its first ${timeText(untilMs)}`}
      </summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

const nameOf = ({ text }: Question) => `your message “${excerptOf(text)}”`;

interface EditFormProps {
  readonly question: Question;
  readonly close: () => void;
}

function EditForm({ question, close }: EditFormProps) {
  const [text, setText] = useState(question.text);
  const fieldId = `text-${question.id}`;
  const name = nameOf(question);
  const reason = whyNotSend(text);
  useLayoutEffect(() => focusEnd(fieldId), [fieldId]);
  const save = () => {
    if (reason !== undefined) return explain(reason);
    editQuestion(question, text);
    scrollToEnd();
    keepFocus();
  };
  return (
    <form
      class="composer"
      aria-label={`Edit ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        event.stopPropagation(); // elsewhere, Esc stops everything
        close();
      }}
    >
      <TextField id={fieldId} label="Your message" text={text} onText={setText} onEnter={save} />
      <div class="tools end">
        <button type="button" class="quiet" aria-label={`Cancel editing ${name}`} onClick={close}>
          Cancel
        </button>
        <Action type="submit" class="filled" whyNot={reason} aria-label={`Save ${name}`}>
          Save
        </Action>
      </div>
    </form>
  );
}
