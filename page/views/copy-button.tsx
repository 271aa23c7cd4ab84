/** Copies a text, and says for a moment that it has. */
import { useEffect, useState } from 'preact/hooks';
import { copy } from '../copy.ts';
import { Icon } from './icons.tsx';

interface CopyButtonProps {
  /** What it copies, for its name: "Copy the answer". */
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
  return (
    <button
      type="button"
      class="quiet copy"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy(text).then(setDone)}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      <span>{isDone ? 'Copied' : 'Copy'}</span>
    </button>
  );
}
