/** A button that can be focused while it is disabled; a press then shows the reason. */
import type { ComponentProps } from 'preact';
import { explain } from '../why-not.ts';

type ActionProps = Omit<ComponentProps<'button'>, 'disabled' | 'onClick' | 'title'> & {
  /** Reason why the button is disabled; undefined if it is enabled. */
  readonly whyNot: string | undefined;
  readonly title?: string;
  readonly onClick?: () => unknown;
};

export function Action({ whyNot, title, onClick, type = 'button', ...others }: ActionProps) {
  return (
    <button
      {...others}
      type={whyNot === undefined ? type : 'button'}
      title={whyNot ?? title}
      aria-disabled={whyNot !== undefined}
      onClick={() => (whyNot === undefined ? onClick?.() : explain(whyNot))}
    />
  );
}
