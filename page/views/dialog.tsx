/** A modal dialog of the browser: it keeps the focus inside, closes on Esc, and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly id: string;
  readonly title: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ id, title, isOpen, close, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) place.current?.showModal();
    else place.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={place} id={id} aria-labelledby={`${id}-title`} onClose={close}>
      <h2 id={`${id}-title`}>{title}</h2>
      {isOpen && children}
    </dialog>
  );
}
