/** Installs assets for the operator: lists them and shows the progress on the terminal. */
import type { Asset, Capability, Logger } from '../../engines/contract/index.ts';
import type { Assets, InstallRequest } from '../engine-host/assets/assets.ts';
import { sourceOf } from '../engine-host/assets/install.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { createProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface InstallOptions extends InstallRequest {
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly terminal: Terminal;
  /** The last line printed before the installation begins: how to stop it, and which setting disables it. */
  readonly howToStop: string;
  /** Called once all missing assets are being installed or are queued. */
  readonly onBegun?: () => void;
}

/**
 * Resolves with true if nothing failed. A failure is logged and shown on the terminal immediately, while other
 * installations continue.
 */
export async function installAssets(
  assets: Assets,
  { signal, log, terminal, howToStop, onBegun, ...request }: InstallOptions,
): Promise<boolean> {
  const missing = assets.missing(request);
  if (missing.length > 0) terminal.print(['Installing:', ...missing.map(describeAsset), `  ${howToStop}`].join('\n'));
  const progress = createProgress(terminal);
  const said = new Set<string>();
  const installing = assets.install(request, {
    ...{ signal, onBegun },
    onStep: (id, { doing, done }) => progress.show(id, doing, done),
    onDone: (id) => progress.finish(id),
    onFailure(id, err) {
      progress.drop(id);
      log.warn({ err, asset: id }, 'an asset could not be installed');
      // If the data directory cannot be used, every asset fails with the same message.
      if (!said.has(err.message)) terminal.print(err.message);
      said.add(err.message);
    },
  });
  try {
    return (await installing).length === 0;
  } catch (error) {
    if (signal.aborted) terminal.print(describeInterruption(progress.unfinished()));
    throw error;
  } finally {
    progress.end();
  }
}

function describeAsset({ asset, capability }: { readonly asset: Asset; readonly capability: Capability }): string {
  const { title, bytes, license } = asset;
  const facts = [
    ...(bytes === null || bytes === 0 ? [] : [megabytes(bytes)]),
    `from ${sourceOf(asset)}`,
    `license ${license}`,
  ];
  return `  ${capability.padEnd(14)} ${title}: ${facts.join(', ')}`;
}

function describeInterruption(steps: readonly string[]): string {
  if (steps.length === 0) return 'Interrupted.';
  return `Interrupted. Not finished: ${steps.join(', ')}. The next start or setup continues where it stopped.`;
}
