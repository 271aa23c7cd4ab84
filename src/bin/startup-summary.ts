/** Summarizes what works and what is missing, for the operator. */
import type { Capability } from '../../engines/contract/index.ts';
import { capabilities } from '../engine-host/load-definition.ts';
import type { EngineFailure } from '../engine-host/served-models.ts';
import { listModels, noModelHint, toEntry } from '../engine-host/model-selection.ts';
import type { Service } from '../service.ts';
import type { RunningWorker } from '../start-worker.ts';

const titles: Readonly<Record<Capability, string>> = {
  transcription: 'Transcription',
  chat: 'Chat',
  speech: 'Speech',
};

export async function describeService(service: Service | RunningWorker, { page }: { page: boolean }): Promise<string> {
  const { registry, metricsUrl } = service;
  const isWorker = !('url' in service);
  const lines = [isWorker ? 'Parlance works for its fleet, and listens for no requests' : whereIs(service.url, page)];
  if (metricsUrl !== undefined) lines.push(`  Metrics        ${metricsUrl}`);
  for (const capability of isWorker ? (['transcription'] as const) : capabilities) {
    const { models } = await listModels(registry, capability);
    const title = titles[capability].padEnd(14);
    for (const model of models) {
      const { id, available, reason } = await toEntry(model);
      lines.push(`  ${title} ${id}: ${available ? 'works' : reason}`);
    }
    const failures = registry.of(capability).failures.map(describeFailure);
    if (models.length === 0 && failures.length === 0) {
      lines.push(`  ${title} ${nothing(capability, registry.of(capability).instances)}`);
    }
    lines.push(...failures.map((failure) => `  ${title} ${failure}`));
  }
  return lines.join('\n');
}

function whereIs(url: string, page: boolean): string {
  const where = page ? `page: ${url}/, API reference: ${url}/docs` : `contract: ${url}/openapi.json`;
  return `Parlance listens on ${url} (${where})`;
}

/** For the terminal and the report of the doctor. */
export function describeFailure({ instance, finding: { what, detail } }: EngineFailure): string {
  return `the engine ${instance} fails at ${what}: ${detail}`;
}

function nothing(capability: Capability, instances: readonly string[]): string {
  return instances.length === 0 ? 'no engine is configured' : `no model now: ${noModelHint(capability, instances)}`;
}
