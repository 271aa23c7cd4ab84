/** A button that stays in reach while it cannot be used: the focus finds it, and a press says why. */
import type { ComponentProps } from 'preact';
import { explain } from '../why-not.ts';

type ActionProps = Omit<ComponentProps<'button'>, 'disabled' | 'onClick' | 'title'> & {
  /** Why it cannot be used now; undefined: it can. */
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
