/** `npm run doctor`: what was found, what is missing, and the command that mends it. Exit code 1: nothing can transcribe. */
import { tmpdir } from 'node:os';
import { pino } from 'pino';
import type { Finding } from '../engines/contract.ts';
import type { Registry } from '../engines/registry.ts';
import { findFfmpeg } from './engine-context.ts';
import { openEngines } from './engines.ts';
import { runProgram } from './machine/programs.ts';
import { listModels, toEntry } from './models.ts';
import { loadSettings, type LoadedSettings } from './settings/load.ts';
import { explainStartFailure } from './start-failure.ts';
import { createMcpTools } from './tools/mcp/index.ts';

try {
  const settings = loadSettings(process.env);
  const log = pino({ level: 'silent' });
  await using engines = await openEngines(settings, process.env, log);
  await using mcp = createMcpTools({ settings, env: process.env, log });
  print('this machine', [node(), await ffmpeg(settings), { what: 'data', ok: true, detail: settings.dataDir }]);
  for (const { instance, findings } of await engines.registry.inspect()) print(`engine ${instance}`, findings);
  const servers = await mcp.inspect();
  if (servers.length > 0) print('MCP servers', servers);
  const able = await ableToTranscribe(engines.registry);
  console.log(able ? `Transcription works with: ${able}` : 'Nothing can transcribe.');
  if (!able) process.exitCode = 1;
} catch (error) {
  explainStartFailure(error);
}

function print(title: string, findings: readonly Finding[]): void {
  console.log(title);
  for (const { what, ok, detail, mend } of findings) {
    console.log(
      `  ${ok ? 'ok     ' : 'MISSING'} ${what.padEnd(12)} ${detail}${mend === undefined ? '' : `\n          mend it with: ${mend}`}`,
    );
  }
}

function node(): Finding {
  return { what: 'Node.js', ok: true, detail: `${process.version}, ${process.execPath}` };
}

async function ffmpeg(settings: LoadedSettings): Promise<Finding> {
  const program = findFfmpeg(settings, process.env);
  if (program === undefined) {
    const detail = 'not found: recordings are decoded without it, all but AAC in mp4 (Safari)';
    return { what: 'ffmpeg', ok: false, detail, mend: 'apt-get install ffmpeg' };
  }
  const deadlineMs = 5_000;
  const call = { signal: AbortSignal.timeout(deadlineMs), timeoutMs: deadlineMs, cwd: tmpdir() };
  const { stdout } = await runProgram(program, ['-version'], call);
  return { what: 'ffmpeg', ok: true, detail: `${/version (\S+)/.exec(stdout)?.[1] ?? 'unknown version'}, ${program}` };
}

async function ableToTranscribe(registry: Registry): Promise<string> {
  const { models } = await listModels(registry, 'transcription');
  const entries = await Promise.all(models.map((model) => toEntry(model)));
  return entries
    .filter(({ available, code }) => available && code !== 'upstream-unreachable')
    .map(({ id }) => id)
    .join(', ');
}
