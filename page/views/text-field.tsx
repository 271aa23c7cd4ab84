/** A text field that grows with its text. Enter submits, Shift+Enter breaks the line. */
import type { ComponentProps } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { maxTextLength } from '../conversation-state.ts';
import { isComposing } from '../draft.ts';

type TextFieldProps = Pick<ComponentProps<'textarea'>, 'placeholder'> & {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onEnter: () => void;
};

export function TextField({ id, label, text, onText, onEnter, placeholder }: TextFieldProps) {
  const place = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (!place.current) return;
    place.current.style.height = 'auto';
    place.current.style.height = `${place.current.scrollHeight}px`;
  }, [text]);
  return (
    <textarea
      ref={place}
      id={id}
      rows={1}
      maxLength={maxTextLength}
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
        event.preventDefault();
        onEnter();
      }}
    />
  );
}
