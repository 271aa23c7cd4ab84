/** Opens the engines from the settings, and the temporary directory. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../../engines/contract/index.ts';
import { createHttpClient } from '../../../lib/http-client.ts';
import { createViaId } from '../../../lib/via.ts';
import type { MemoryBudget } from '../resident/memory-plan.ts';
import { createResidents, type Residents } from '../resident/index.ts';
import { createRegistry, type Registry, type RegistryOptions } from './registry.ts';
import {
  createEngineContexts,
  createSpeechEncoder,
  type ContextOptions,
  type ParentLogger,
  type SpeechEncoder,
} from '../context.ts';
import { createWorkspace, type Workspace } from '../../system/workspace.ts';
import { SettingsError, type Environment, type LoadedSettings } from '../../settings/load.ts';
import { messageOf } from '../../../lib/errors.ts';

export interface OpenEngines extends AsyncDisposable {
  readonly registry: Registry;
  readonly workspace: Workspace;
  /** The id of this service in chains of services. */
  readonly viaId: string;
  /** The resident programs of all engines. */
  readonly residents: Residents;
  readonly encoder: SpeechEncoder;
}

export type EngineOptions = Pick<RegistryOptions, 'timeouts' | 'guard' | 'wrapAsRemote'> &
  Pick<ContextOptions, 'metrics' | 'registerQueue'>;

/** Throws a `SettingsError` that names the setting to change. */
async function openWorkspace(settings: LoadedSettings, log: Logger): Promise<Workspace> {
  const { dataDir, dataDirIsNamed, diskBudget } = settings;
  try {
    return await createWorkspace(dataDirIsNamed ? join(dataDir, 'tmp') : tmpdir(), diskBudget, log);
  } catch (cause) {
    const what = dataDirIsNamed ? `DATA_DIR: ${dataDir}` : `the directory for temporary files: ${tmpdir()}`;
    const why = `${what} cannot be used: ${messageOf(cause)}`;
    throw new SettingsError(`${why}; set DATA_DIR to a directory that this user can write`, { cause });
  }
}

function memoryBudget({ memoryBudget }: LoadedSettings): MemoryBudget {
  return { bytes: memoryBudget ?? Math.floor(process.availableMemory() / 2), isStrict: memoryBudget !== undefined };
}

/** Throws a `RegistryError` or a `SettingsError`. */
export async function openEngines(
  settings: LoadedSettings,
  env: Environment,
  log: ParentLogger,
  { metrics, registerQueue, ...options }: EngineOptions = {},
): Promise<OpenEngines> {
  const http = createHttpClient(env);
  const viaId = createViaId();
  const workspace = await openWorkspace(settings, log);
  const residents = createResidents(memoryBudget(settings));
  const { transcribeModel, chatModel, ttsModel, ttsVoice } = settings;
  try {
    const encoder = createSpeechEncoder(settings, env, workspace);
    const registry = await createRegistry({
      instances: settings.engines,
      lookedFor: settings.lookedFor,
      baseDir: settings.baseDir,
      defaults: {
        ...(transcribeModel !== undefined && { transcription: transcribeModel }),
        ...(chatModel !== undefined && { chat: chatModel }),
        ...(ttsModel !== undefined && { speech: ttsModel }),
      },
      defaultVoice: ttsVoice,
      contextFor: createEngineContexts({
        settings,
        env,
        log,
        workspace,
        residents,
        fetch: http.fetch,
        viaId,
        encoder,
        metrics,
        registerQueue,
      }),
      ...options,
    });
    return {
      registry,
      workspace,
      viaId,
      residents,
      encoder,
      async [Symbol.asyncDispose]() {
        await registry[Symbol.asyncDispose]();
        residents[Symbol.dispose]();
        await http[Symbol.asyncDispose]();
        workspace[Symbol.dispose]();
      },
    };
  } catch (error) {
    residents[Symbol.dispose]();
    await http[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
    throw error;
  }
}
