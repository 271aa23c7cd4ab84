/** The engines in the settings, and the default engines if the file lists none. */
import { basename, join } from 'node:path';
import { ownAddress, type OwnAddress } from './own-address.ts';
import type { Settings } from './table.ts';

/** An engine instance in the settings: `use`, and the options of the engine. */
export interface InstanceSettings {
  readonly use: string;
  readonly [option: string]: unknown;
}

/** Engine instances by name, in settings order. A list is one provider with several capabilities under one name. */
export type EngineInstances = Readonly<Record<string, InstanceSettings | readonly InstanceSettings[]>>;

/**
 * Returns the default engines, used if the file lists none: the local ones, and the provider from the environment.
 * Sandbox mode has neither, because its responses must not depend on the machine or cost money.
 */
export function defaultEngines(settings: DefaultsSettings): EngineInstances {
  const { sandbox, whisperModel, voiceModel, chatLocalModel, transcribeVad, dataDir } = settings;
  if (sandbox) return { sandbox: { use: 'sandbox' } };
  const file = whisperModel ?? join(dataDir, 'models', 'ggml-base.bin');
  return {
    [localModel]: {
      use: 'whisper-cli',
      pulled: true,
      models: [{ id: localModel, file }],
      ...(transcribeVad === 'off' && { voiceActivity: transcribeVad }),
    },
    stt: { use: 'sherpa-stt', pulled: true },
    voice: { use: 'sherpa-voice', pulled: true, ...(voiceModel !== undefined && { voices: [fileVoice(voiceModel)] }) },
    espeak: { use: 'espeak' },
    ...(providerOf(settings) ? { openai: hosted(settings) } : chatServersOfThisMachine(settings)),
    // Last, so that it is the default only if no other chat model is found.
    llama: { use: 'llama-local', pulled: true, models: [{ id: localChat, ...localChatModel(chatLocalModel) }] },
  };
}

type DefaultsSettings = { readonly dataDir: string } & OwnAddress & Partial<Settings>;

const localModel = 'local';
/** Ids of the local speech models. */
const localVoices = ['local-voice', 'espeak'];

const localChat = 'local-chat';
const localChatModel = (file: string | undefined) => (file === undefined ? { model: 'qwen3-0.6b' } : { file });

const fileVoice = (file: string) => ({ id: basename(file, '.onnx'), file });

/**
 * A base URL without a key means that the provider needs none. If the URL is the address of this service, because users
 * set it for their clients, the key is a key of this service and must not be sent to OpenAI.
 */
function providerOf(settings: DefaultsSettings): object | undefined {
  const { openaiApiKey: apiKey, openaiBaseUrl: baseUrl } = settings;
  if (apiKey === undefined && baseUrl === undefined) return undefined;
  if (baseUrl !== undefined && ownAddress(baseUrl, settings) !== undefined) return undefined;
  return { baseUrl: baseUrl ?? 'https://api.openai.com/v1', ...(apiKey !== undefined && { apiKey }) };
}

/**
 * Configures the models that the settings name and the chat models that the provider lists. Other names are not
 * guessed.
 */
function hosted(settings: DefaultsSettings): readonly InstanceSettings[] {
  const { transcribeModel, chatModel, ttsModel } = settings;
  const provider = providerOf(settings);
  const named = (use: string, model: string | undefined, local: readonly string[]) =>
    model === undefined || local.includes(model) ? [] : [{ use, ...provider, models: [model] }];
  return [
    ...named('hosted-stt', transcribeModel, [localModel]),
    { use: 'llm-agent', ...provider, ...chatModels('openai', chatModel) },
    ...named('tts', ttsModel, localVoices),
  ];
}

/**
 * Default addresses of Ollama and llama-server (llama.cpp), which are used if they are running. The default port of
 * llama-server was 8080 until August 2026, and is 9931 in later versions (ggml-org/llama.cpp#26508).
 */
export const chatServers = {
  ollama: 'http://127.0.0.1:11434/v1',
  'llama-cpp': 'http://127.0.0.1:8080/v1',
  'llama-server': 'http://127.0.0.1:9931/v1',
} as const;

/** Omits a server with the address of this service. */
function chatServersOfThisMachine(settings: DefaultsSettings): Record<string, InstanceSettings> {
  const { chatModel } = settings;
  const servers = Object.entries(chatServers).filter(([, baseUrl]) => ownAddress(baseUrl, settings) === undefined);
  const [first] = servers[0] ?? [];
  return Object.fromEntries(
    servers.map(([name, baseUrl]) => [
      name,
      { use: 'llm-agent', baseUrl, ...(name === first && chatModels(name, chatModel)) },
    ]),
  );
}

/** A model name with the prefix of an instance is discovered; any other name is configured as written. */
function chatModels(instance: string, model: string | undefined): object {
  const isListed =
    model === undefined ||
    model === localChat ||
    [instance, ...Object.keys(chatServers)].some((one) => model.startsWith(`${one}/`));
  return isListed ? {} : { models: [model], discover: true };
}
