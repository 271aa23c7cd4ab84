/** The memory of a service after a collection of garbage, which it prints when it is asked to. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChildService } from '../../test/support/child-service.ts';

export interface Memory {
  readonly heapUsed: number;
  readonly rss: number;
  readonly external: number;
}

/** Options of Node.js for the service. */
export const reportsMemory = ['--expose-gc', '--import', join(import.meta.dirname, 'report-memory.mjs')];

export async function memoryOf(service: Pick<ChildService, 'said' | 'kill'>): Promise<Memory> {
  const reports = () => [...service.said.stderr.matchAll(/^memory (\{.*\})\n/gm)];
  const known = reports().length;
  service.kill('SIGUSR2');
  while (reports().length === known) await pause(20);
  return JSON.parse(reports().at(-1)![1]!) as Memory;
}
