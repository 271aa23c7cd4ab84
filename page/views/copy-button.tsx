/** Copies a text, and confirms it for a moment. */
import { useEffect, useState } from 'preact/hooks';
import { copy } from '../copy.ts';
import { Icon } from './icons.tsx';

interface CopyButtonProps {
  /** The copied content, for the name of the button: "Copy the answer". */
  readonly what: string;
  readonly text: string;
}

const shownMs = 2_000;

export function CopyButton({ what, text }: CopyButtonProps) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setDone(false), shownMs);
    return () => clearTimeout(timer);
  }, [isDone]);
  const shown = isDone ? 'Copied' : 'Copy';
  const name = `${shown} ${what}`; // the accessible name contains the visible label, for voice control (WCAG 2.5.3)
  return (
    <button
      type="button"
      class="quiet copy"
      aria-label={name}
      title={name}
      onClick={() => void copy(text).then(setDone)}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      <span>{shown}</span>
    </button>
  );
}
