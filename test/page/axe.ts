/** What axe finds. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { UserPage } from './support.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Each fault with the elements that it is about, once CSS transitions have finished: colors in between lack contrast. */
export async function faultsOf({ page }: UserPage): Promise<readonly string[]> {
  await page.evaluate(`Promise.allSettled(
    document.getAnimations().flatMap((each) => (each instanceof CSSTransition ? [each.finished] : [])))`);
  if (await page.evaluate('!window.axe')) await page.evaluate(axe);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target, any }) => target.join(' ') + ' ' + (any[0]?.message ?? '')).join(', ')))`);
}
