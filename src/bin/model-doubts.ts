/** Warnings about models in the settings, shown at startup and by the doctor. */
import type { Capability, Finding } from '../../engines/contract/index.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { entriesForOperator, isWorking } from './startup-summary.ts';
import { describeUnservedModels } from '../settings/doubts.ts';
import type { LoadedSettings } from '../settings/load.ts';

/** Returns one line for each model that a setting names and no engine serves. */
export function describeUnserved(registry: Registry, settings: LoadedSettings): string[] {
  const idsOf = (capability: Capability) => registry.of(capability).all.map(({ id }) => id);
  const served = { transcription: idsOf('transcription'), chat: idsOf('chat'), speech: idsOf('speech') };
  return describeUnservedModels(settings, served);
}

/**
 * Returns the lines for startup. First asks the providers of chat models for their model lists, which is free of charge
 * and takes at most a few seconds.
 */
export async function describeModelDoubts(registry: Registry, settings: LoadedSettings): Promise<string[]> {
  const entries = entriesForOperator(registry, 'chat');
  const seemsToWork = (instance: string) => entries.some((entry) => entry.engine === instance && isWorking(entry));
  const inspected = await registry.inspect('chat');
  const lines = inspected.flatMap(({ instance, findings }) => {
    // The startup summary has already named earlier failures.
    const doubts = findings.filter(({ ok, fix }) => (ok ? fix !== undefined : seemsToWork(instance)));
    return doubts.map((finding) => `engine ${instance}: ${describeFinding(finding)}`);
  });
  return [...lines, ...describeUnserved(registry, settings)];
}

const describeFinding = ({ what, detail, fix }: Finding): string =>
  `${what}: ${detail}${fix === undefined ? '' : `; fix: ${fix}`}`;
