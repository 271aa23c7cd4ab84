/** Chromium for tests. The rest of Debian's package, its windows, costs more than the pages: three times the processor time. */
import { chromium, type Browser } from 'playwright-core';
import { findProgram, requireProgram } from './programs.ts';

/** chromium-headless-shell where it is installed, else chromium. */
export const windowless = (): string => findProgram('chromium-headless-shell') ?? requireProgram('chromium');

/** The caller closes it. */
export async function startChromium(args: readonly string[] = [], executablePath = windowless()): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}
