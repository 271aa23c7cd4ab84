/** A modal dialog of the browser: it keeps the focus inside, closes on Esc, and returns the focus. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** The end of a dialog whose choices take effect immediately. */
export const Done = ({ close }: Pick<DialogProps, 'close'>) => (
  <div class="actions end done">
    <button type="button" class="filled" onClick={close}>
      Done
    </button>
  </div>
);

interface DialogProps {
  readonly id: string;
  readonly title: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ id, title, isOpen, close, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (isOpen) place.current?.showModal();
    else place.current?.close();
  }, [isOpen]);
  const onClose = () => {
    if (!place.current?.open) close(); // the event comes late: the dialog may be open again
  };
  return (
    <dialog ref={place} id={id} aria-labelledby={`${id}-title`} onClose={onClose}>
      <h2 id={`${id}-title`}>{title}</h2>
      {isOpen && children}
    </dialog>
  );
}
