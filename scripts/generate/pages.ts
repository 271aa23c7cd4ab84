/** Returns the pages of docs/ that have generated blocks. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineDefinition } from '../../engines/contract/index.ts';
import { contextMembers, engineMembers } from './contract-tables.ts';
import { importGraph } from './import-graph.ts';
import { withBlock } from './markdown.ts';
import {
  closeCodesReference,
  errorsReference,
  eventsReference,
  keysFileReference,
  mcpServersReference,
  openaiFieldsReference,
  metricsReference,
  operationsReference,
  optionsTable,
  replacedVariables,
  requestLimits,
  settingsReference,
  type Contract,
} from './reference.ts';

const home = fileURLToPath(new URL('../..', import.meta.url));

/** Texts by their path from the root. Only the generated blocks are replaced. */
export async function pages(contract: Contract, openaiContract: Contract): Promise<Record<string, string>> {
  return {
    'docs/reference/settings.md': blocksIn('docs/reference/settings.md', {
      settings: settingsReference(),
      replacedVariables: replacedVariables(),
      mcpServers: mcpServersReference(),
      keysFile: keysFileReference(),
    }),
    'docs/reference/errors.md': blocksIn('docs/reference/errors.md', {
      problems: errorsReference(),
    }),
    'docs/reference/limits.md': blocksIn('docs/reference/limits.md', { requests: requestLimits(contract) }),
    'docs/reference/events.md': blocksIn('docs/reference/events.md', {
      chatEvents: eventsReference(contract, 'ChatEvent'),
      transcriptionEvents: eventsReference(contract, 'TranscriptionEvent'),
    }),
    'docs/reference/metrics.md': blocksIn('docs/reference/metrics.md', { metrics: metricsReference() }),
    'docs/reference/api.md': blocksIn('docs/reference/api.md', { operations: operationsReference(contract) }),
    'docs/reference/openai-api.md': blocksIn('docs/reference/openai-api.md', {
      fields: openaiFieldsReference(openaiContract),
    }),
    'docs/reference/realtime.md': blocksIn('docs/reference/realtime.md', {
      closeCodes: closeCodesReference(openaiContract),
      clientEvents: eventsReference(openaiContract, 'RealtimeTranscriptionClientEvent'),
      serverEvents: eventsReference(openaiContract, 'RealtimeTranscriptionServerEvent'),
    }),
    'docs/reference/conversation.md': blocksIn('docs/reference/conversation.md', {
      clientEvents: eventsReference(openaiContract, 'RealtimeClientEvent'),
      serverEvents: eventsReference(openaiContract, 'RealtimeServerEvent'),
    }),
    'docs/architecture.md': blocksIn('docs/architecture.md', { imports: importGraph() }),
    'docs/writing-an-engine.md': blocksIn('docs/writing-an-engine.md', {
      engineMembers: engineMembers(),
      contextMembers: contextMembers(),
      example: sourceOf('pocketsphinx.ts', 'ts'),
      localExample: sourceOf('whistle.ts', 'ts'),
      hostExample: sourceOf('whistle-host.mjs', 'js'),
    }),
    'docs/guides/browser-client.md': blocksIn('docs/guides/browser-client.md', { example: sourceOf('talk.mjs', 'js') }),
    ...(await enginePages()),
  };
}

function sourceOf(example: string, language: string): string {
  return `\`\`\`${language}\n${readFileSync(join(home, 'examples', example), 'utf8')}\`\`\``;
}

function blocksIn(path: string, blocks: Readonly<Record<string, string>>, isNew = `# ${path}`): string {
  const page = existsSync(join(home, path)) ? readFileSync(join(home, path), 'utf8') : isNew;
  return Object.entries(blocks).reduce((text, [name, content]) => withBlock(text, name, content), page);
}

/** Returns one page for each folder of engines/ that has an engine. */
async function enginePages(): Promise<Record<string, string>> {
  const folders = readdirSync(join(home, 'engines')).filter(
    (name) => name !== 'contract' && existsSync(join(home, 'engines', name, 'index.ts')),
  );
  const written = await Promise.all(
    folders.map(async (folder) => {
      const path = `docs/engines/${folder}.md`;
      const block = { options: await optionsOf(folder) };
      return [path, blocksIn(path, block, `# The engine ${folder}`)] as const;
    }),
  );
  return Object.fromEntries(written);
}

async function optionsOf(folder: string): Promise<string> {
  const module = (await import(`../../engines/${folder}/index.ts`)) as {
    readonly default: EngineDefinition | readonly EngineDefinition[];
  };
  const [engine] = ([] as readonly EngineDefinition[]).concat(module.default);
  if (!engine) throw new Error(`engines/${folder} has no engine`);
  const isEmpty = Object.keys(engine.options.properties).length === 0;
  return isEmpty ? 'This engine has no options.' : optionsTable(engine.options);
}
