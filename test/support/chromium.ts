/** Chromium for tests. Debian's whole one spends twice as much processor time on its windows as on the pages in them. */
import { chromium, type Browser } from 'playwright-core';
import { findProgram, requireProgram } from './programs.ts';

/** chromium-headless-shell where it is installed, else chromium. */
export const windowless = (): string => findProgram('chromium-headless-shell') ?? requireProgram('chromium');

/** The caller closes it. */
export async function startChromium(args: readonly string[] = [], executablePath = windowless()): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}
