/** All settings: environment variable, name in the file, schema and default. */
import type { Capability } from '../../engines/contract/index.ts';
import { mcpServersSchema } from './mcp-servers.ts';

interface SettingRow {
  readonly env: string;
  readonly description: string;
  readonly schema: {
    readonly type: 'string' | 'integer' | 'boolean' | 'array' | readonly ['integer', 'string'];
    readonly items?: object;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly minLength?: number;
    readonly enum?: readonly string[];
    readonly format?: string;
    readonly pattern?: string;
  };
  readonly default?: unknown;
  /** Value in the example file, if there is no default. */
  readonly example?: unknown;
  /** Description of the allowed values, shown after "it" in messages. */
  readonly expects?: string;
  /**
   * False if the setting exists only as an environment variable, for example because it is an engine option in the
   * file.
   */
  readonly inFile?: false;
  /**
   * The effect of the variable if the file lists the engines; undefined if the effect is the same as without a file.
   */
  readonly withEngines?: VariableWithEngines;
  /** True if the value must never be shown, not even in error messages. */
  readonly secret?: boolean;
  /** Returns the canonical form of a valid value or list item. */
  readonly normalize?: (text: string) => string;
}

export interface VariableWithEngines {
  /** The variable has an effect if the file lists one of these engines, or any engine of this capability. */
  readonly readBy: readonly string[] | Capability;
  /** The option of an instance that replaces the variable. */
  readonly unless?: string;
  /** Explains in prose what to write in the settings file instead of the variable. */
  readonly instead: string;
}

const text = { type: 'string', minLength: 1 } as const;
const integer = (minimum: number, maximum: number) =>
  ({
    schema: { type: 'integer', minimum, maximum },
    expects: `must be an integer from ${minimum} to ${maximum}`,
  }) as const;
const orAuto = <Rule extends object>({ schema, expects }: { schema: Rule; expects: string }) =>
  ({
    schema: { ...schema, type: ['integer', 'string'], pattern: '^auto$' },
    expects: `${expects}, or auto`,
  }) as const;
const flag = { schema: { type: 'boolean' }, expects: 'must be true or false' } as const;
const origin = {
  type: 'string',
  if: { not: { enum: ['*', 'null', 'file://'] } },
  then: { format: 'iri', pattern: '^https?://[^/?#@\\s\\\\]+$' },
} as const;

const table = {
  host: { env: 'HOST', schema: text, default: '127.0.0.1', description: 'Address to listen on' },
  port: {
    env: 'PORT',
    ...integer(0, 65535),
    default: 8484,
    description: 'Port to listen on; 0 selects a free port',
  },
  publicUrl: {
    env: 'PUBLIC_URL',
    schema: { type: 'string', format: 'iri', pattern: '^https?://[^/?#@\\s]+(/[^?#\\s]*)?$' },
    expects: 'must be an http or https address without user or query, such as https://voice.example.com',
    // Header values must be ASCII, so the host is in punycode and the path is percent-encoded.
    normalize: (text) => new URL(text).href.replace(/\/+$/, ''),
    example: 'https://voice.example.com',
    description:
      'Public URL of the service; prefix of the links in responses; an address that is not loopback requires API keys or ALLOW_OPEN',
  },
  tlsCert: {
    env: 'TLS_CERT',
    schema: text,
    example: '/etc/letsencrypt/live/voice.example.com/fullchain.pem',
    description:
      'PEM file with the certificate and its chain, for `https` and `wss`; requires TLS_KEY; both are reloaded on SIGHUP',
  },
  tlsKey: {
    env: 'TLS_KEY',
    schema: text,
    example: '/etc/letsencrypt/live/voice.example.com/privkey.pem',
    description: 'PEM file with the private key of TLS_CERT, without a passphrase',
  },
  sandbox: {
    env: 'PARLANCE_SANDBOX',
    ...flag,
    default: false,
    description:
      'For contract tests: canned responses from the engine `sandbox` unless the file lists engines, and `Prefer: code=NNN` for any declared response, `stall`, `cut` and `close` for other faults',
  },
  apiKeys: {
    env: 'API_KEYS',
    schema: { type: 'array', items: { type: 'string', pattern: '^[\\x21-\\x7e]+$' } },
    default: [],
    secret: true,
    expects: 'must be one or more tokens of printable ASCII without spaces, comma-separated',
    description:
      'Bearer tokens, comma-separated, each a key named by a hash of its token; without these and API_KEYS_FILE: open mode',
  },
  apiKeysFile: {
    env: 'API_KEYS_FILE',
    schema: text,
    example: 'keys.yaml',
    description: 'YAML file with named keys, their permissions and limits, in addition to API_KEYS; reloaded on SIGHUP',
  },
  allowOpen: {
    env: 'ALLOW_OPEN',
    ...flag,
    default: false,
    description: 'Allow non-loopback addresses in HOST and PUBLIC_URL without API keys',
  },
  corsOrigins: {
    env: 'CORS_ORIGINS',
    schema: { type: 'array', items: origin },
    default: [],
    expects: 'must be origins such as https://app.example.com, or *',
    // Origins as browsers send them: lower case, punycode, no default port.
    normalize: (text) => (/^https?:/i.test(text) ? new URL(text).origin : text),
    description:
      'Origins of web pages that may use the service, comma-separated; `*` allows any except `null` and `file://`, the origins of packaged apps, which must be listed and require API_KEYS',
  },
  trustProxy: {
    env: 'TRUST_PROXY',
    ...integer(0, 10),
    default: 0,
    description:
      'Number of reverse proxies in front: the address of a client is that entry of X-Forwarded-For, counted from the right; never set it if clients can reach the port directly',
  },
  prepare: {
    env: 'PREPARE',
    ...flag,
    default: true,
    description:
      'off: preparations cannot be started or stopped over HTTP (`POST /preparations/{id}`), only by commands and the start',
  },
  page: {
    env: 'PAGE',
    ...flag,
    default: true,
    description: 'off: disables the web page at / and the API reference at /docs',
  },
  interimResponses: {
    env: 'INTERIM_RESPONSES',
    schema: { type: 'string', enum: ['auto', 'off'] },
    default: 'auto',
    description:
      'auto: sends `102 Processing` every two minutes to Node’s fetch and OpenAI’s SDK for JavaScript, which otherwise give up after 300 s, except through a proxy; off: never',
  },
  transcribeEnabled: {
    env: 'TRANSCRIBE_ENABLED',
    ...flag,
    default: true,
    description: 'false rejects every transcription with 503',
  },
  transcribeModel: {
    env: 'TRANSCRIBE_MODEL',
    schema: text,
    example: 'local',
    withEngines: { readBy: 'transcription', instead: 'an instance that transcribes, such as `use: whisper-cli`' },
    description: 'Default transcription model; unset: the first local entry',
  },
  transcribeSetup: {
    env: 'TRANSCRIBE_SETUP',
    ...flag,
    default: true,
    description:
      'off: does not build or download missing parts of local transcription, or the speech detector, in the background',
  },
  transcribeVad: {
    env: 'TRANSCRIBE_VAD',
    schema: { type: 'string', enum: ['auto', 'off'] },
    expects: 'must be auto or off',
    default: 'auto',
    inFile: false,
    withEngines: { readBy: [], instead: '`voiceActivity: off` (whisper-cli)' },
    description:
      'off: the local model transcribes everything, including singing, and no detector is installed; auto: only speech, once the start or `npm run setup` has installed the detector (39 MB)',
  },
  transcribeMaxSeconds: {
    env: 'TRANSCRIBE_MAX_SECONDS',
    ...integer(1, 86400),
    default: 3600,
    description: 'Maximum length of a recording that is decoded on this machine, in seconds',
  },
  transcribeTimeout: {
    env: 'TRANSCRIBE_TIMEOUT',
    ...orAuto(integer(1, 86400)),
    default: 'auto',
    description:
      'Timeout of a transcription after its upload, in seconds; auto: the longer of 600 s and three times the audio',
  },
  transcribeJobs: {
    env: 'TRANSCRIBE_JOBS',
    ...flag,
    default: true,
    description: 'off: disables jobs for long recordings (`POST /transcriptions`)',
  },
  transcribeJobKeep: {
    env: 'TRANSCRIBE_JOB_KEEP',
    ...integer(1, 604_800),
    default: 3600,
    description: 'Retention of the transcript of a job after its end, in seconds',
  },
  transcribeJobMaxMb: {
    env: 'TRANSCRIBE_JOB_MAX_MB',
    ...integer(1, 4096),
    default: 500,
    description: 'Maximum size of the recording of a job, in MB (1,048,576 bytes)',
  },
  transcribeJobMaxSeconds: {
    env: 'TRANSCRIBE_JOB_MAX_SECONDS',
    ...integer(1, 86400),
    default: 14400,
    description: 'Maximum length of the recording of a job, in seconds',
  },
  whisperCli: {
    env: 'WHISPER_CLI',
    schema: text,
    inFile: false,
    withEngines: { readBy: ['whisper-cli'], unless: 'program', instead: '`program: PATH` (whisper-cli)' },
    description: 'Path of whisper-cli; unset: that of its npm package, else on PATH, else in DATA_DIR/bin',
  },
  whisperModel: {
    env: 'WHISPER_MODEL',
    schema: text,
    inFile: false,
    withEngines: { readBy: [], instead: '`models: [{ id: local, file: PATH }]` (whisper-cli)' },
    description: 'Path of the ggml file of the model `local`; unset: DATA_DIR/models/ggml-base.bin',
  },
  voiceSetup: {
    env: 'VOICE_SETUP',
    ...flag,
    default: false,
    withEngines: {
      readBy: ['sherpa-voice'],
      instead: 'an instance with `use: sherpa-voice`',
    },
    description: 'on: the start installs the local voice in the background, like `npm run setup -- voice`',
  },
  voiceModel: {
    env: 'VOICE_MODEL',
    schema: text,
    inFile: false,
    withEngines: { readBy: [], instead: '`voices: [{ id: NAME, file: PATH }]` (sherpa-voice)' },
    description:
      'Path of the .onnx file of a Piper voice, with its .onnx.json next to it, for the model `local-voice`; unset: en_US-ljspeech-medium, once `npm run setup -- voice` has installed it',
  },
  chatSetup: {
    env: 'CHAT_SETUP',
    ...flag,
    default: false,
    withEngines: { readBy: ['llama-local'], instead: 'an instance with `use: llama-local`' },
    description: 'on: the start installs local chat (730 MB) in the background, like `npm run setup -- chat`',
  },
  chatLocalModel: {
    env: 'CHAT_LOCAL_MODEL',
    schema: text,
    inFile: false,
    withEngines: { readBy: [], instead: '`models: [{ id: local-chat, file: PATH }]` (llama-local)' },
    description:
      'Path of a GGUF file for the chat model `local-chat`; unset: Qwen3 0.6B, once `npm run setup -- chat` has installed it',
  },
  voiceRuntime: {
    env: 'VOICE_RUNTIME',
    schema: text,
    inFile: false,
    withEngines: {
      readBy: ['sherpa-voice', 'sherpa-stt', 'whisper-cli'],
      unless: 'runtime',
      instead: '`runtime: PATH` (sherpa-voice, sherpa-stt)',
    },
    description:
      'For sherpa-voice, sherpa-stt and whisper-cli: directory with node_modules/sherpa-onnx-node and silero_vad.onnx; unset: a package next to Parlance, else that of `npm run setup -- voice`',
  },
  ffmpeg: {
    env: 'FFMPEG',
    schema: text,
    example: '/usr/bin/ffmpeg',
    description: 'Path of ffmpeg; unset: found on PATH',
  },
  chatModel: {
    env: 'CHAT_MODEL',
    schema: text,
    example: 'ollama/llama3.2',
    withEngines: { readBy: 'chat', instead: 'an instance for chat, such as `use: llm-agent`' },
    description: 'Default chat model; unset: the first entry',
  },
  ttsModel: {
    env: 'TTS_MODEL',
    schema: text,
    example: 'espeak',
    withEngines: { readBy: 'speech', instead: 'an instance for speech, such as `use: espeak`' },
    description: 'Default speech model; unset: the first local entry that is installed',
  },
  ttsVoice: {
    env: 'TTS_VOICE',
    schema: text,
    example: 'en',
    withEngines: { readBy: 'speech', instead: 'an instance for speech, such as `use: espeak`' },
    description: "Default voice; unset: the engine's own",
  },
  openaiApiKey: {
    env: 'OPENAI_API_KEY',
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]+$' },
    expects: 'must be printable ASCII',
    inFile: false,
    secret: true,
    withEngines: { readBy: [], instead: '`apiKey: "${OPENAI_API_KEY}"` (llm-agent, hosted-stt, tts)' },
    description: 'The key of the default instance `openai`',
  },
  openaiBaseUrl: {
    env: 'OPENAI_BASE_URL',
    schema: { type: 'string', format: 'iri', pattern: '^https?://[^/?#@\\s]+(/[^?#\\s]*)?$' },
    expects: 'must be an http or https address without user or query, such as https://api.openai.com/v1',
    inFile: false,
    withEngines: { readBy: [], instead: '`baseUrl: "${OPENAI_BASE_URL}"` (llm-agent, hosted-stt, tts)' },
    description: 'The address of the default instance `openai`; unset: OpenAI itself, if there is a key',
  },
  compatTools: {
    env: 'COMPAT_TOOLS',
    ...flag,
    default: true,
    description:
      'off: chats under `/v1` cannot use the tools of this service; on: background requests of apps, such as for titles and tags, may call MCP tools',
  },
  compatItems: {
    env: 'COMPAT_ITEMS',
    ...flag,
    default: true,
    description:
      'on: texts and calls of responses under `/v1` stay in memory for an hour, so that requests can refer to them (`item_reference`); off: nothing is kept',
  },
  realtime: {
    env: 'REALTIME',
    ...flag,
    default: true,
    description: 'off: disables live transcription and conversations (`GET /v1/realtime`)',
  },
  realtimeSessions: {
    env: 'REALTIME_SESSIONS',
    ...integer(1, 10_000),
    default: 32,
    description: 'Maximum number of open sessions of live transcription and conversations',
  },
  logLevel: {
    env: 'LOG_LEVEL',
    schema: { type: 'string', enum: ['debug', 'info', 'warn', 'error', 'silent'] },
    default: 'info',
    description: 'Minimum level of the log on stdout',
  },
  logFormat: {
    env: 'LOG_FORMAT',
    schema: { type: 'string', enum: ['auto', 'json', 'text'] },
    expects: 'must be auto, json or text',
    default: 'auto',
    description: 'Format of the log; auto: text if stdout is a terminal, otherwise json',
  },
  dataDir: {
    env: 'DATA_DIR',
    schema: text,
    example: '/var/lib/parlance',
    description:
      'Directory of built programs, models and temporary files; unset: ~/.local/share/parlance, with temporary files in the system’s temporary directory',
  },
  diskBudget: {
    env: 'DISK_BUDGET',
    example: 4_294_967_296,
    schema: { type: 'integer', minimum: 1_048_576 },
    expects: 'must be an integer of at least 1048576 (bytes)',
    description:
      'Maximum size of all temporary files, in bytes; unset: 4 GiB, or half of the free space at the start if that is less',
  },
  memoryBudget: {
    env: 'MEMORY_BUDGET',
    example: 4_294_967_296,
    schema: { type: 'integer', minimum: 1_048_576 },
    expects: 'must be an integer of at least 1048576 (bytes)',
    description:
      'Maximum memory of all loaded models, in bytes; the least recently used are unloaded first; unset: half of the available memory at the start, and a model that needs more is loaded alone',
  },
  readyRequires: {
    env: 'READY_REQUIRES',
    schema: { type: 'array', items: { type: 'string', enum: ['transcription', 'chat', 'speech'] } },
    default: [],
    expects: 'must be one or more of transcription, chat and speech, comma-separated',
    description:
      'Capabilities required for `/readyz` to return 200: `transcription`, `chat`, `speech`, comma-separated; depends on local installations, never on a provider',
  },
  drainDelay: {
    env: 'DRAIN_DELAY',
    ...integer(0, 3600),
    default: 0,
    description: 'After SIGTERM: seconds during which `/readyz` returns 503 while new requests are still served',
  },
  shutdownGrace: {
    env: 'SHUTDOWN_GRACE',
    ...integer(0, 86400),
    default: 7,
    description: 'After DRAIN_DELAY: seconds for requests in flight to finish',
  },
  metricsPort: {
    env: 'METRICS_PORT',
    ...integer(0, 65535),
    example: 9464,
    description:
      'Port for `/metrics` in the Prometheus format, and for `/healthz` and `/readyz`; 0 selects a free port; unset: off',
  },
  metricsHost: {
    env: 'METRICS_HOST',
    schema: text,
    default: '127.0.0.1',
    description: 'Address for METRICS_PORT; the metrics need no key, and contain the names of the keys',
  },
  fleetUrl: {
    env: 'FLEET_URL',
    schema: { type: 'string', pattern: '^rediss?://[^\\s]+$' },
    expects: 'must be a redis or rediss address, such as redis://10.0.0.2:6379',
    secret: true,
    example: 'redis://10.0.0.2:6379',
    description: 'URL of the Redis or Valkey of the fleet, whose workers transcribe with local models; unset: no fleet',
  },
  fleetRole: {
    env: 'FLEET_ROLE',
    schema: { type: 'string', enum: ['front', 'worker', 'both'] },
    default: 'both',
    description: 'Role of this node in the fleet: `front` takes requests, `worker` transcribes, `both`',
  },
  fleetAddress: {
    env: 'FLEET_ADDRESS',
    schema: { type: 'string', format: 'iri', pattern: '^https?://[^/?#@\\s]+/?$' },
    expects: 'must be an http or https address without a path, such as http://10.0.0.5:8485',
    normalize: (text) => new URL(text).origin,
    example: 'http://10.0.0.5:8485',
    description: 'Fronts only: URL for the other nodes; plain http only for private addresses',
  },
  fleetListen: {
    env: 'FLEET_LISTEN',
    schema: { type: 'string', pattern: '^[^\\s/]+:\\d{1,5}$' },
    expects: 'must be an address and a port, such as 0.0.0.0:8485',
    example: '0.0.0.0:8485',
    description: 'Fronts only: address and port to listen on for other nodes; unset: those of FLEET_ADDRESS',
  },
  fleetSecret: {
    env: 'FLEET_SECRET',
    schema: { type: 'string', minLength: 32 },
    expects: 'must have at least 32 characters',
    inFile: false,
    secret: true,
    description: 'Shared by all nodes of the fleet; signs tickets and requests between them',
  },
  fleetPrefix: {
    env: 'FLEET_PREFIX',
    schema: { type: 'string', pattern: '^[\\w{}-]{1,64}$' },
    default: 'parlance',
    expects: 'must be 1 to 64 letters, digits, hyphens, underscores or braces',
    description: 'Prefix of the keys in Redis; fleets that share a Redis need different prefixes',
  },
  fleetEngines: {
    env: 'FLEET_ENGINES',
    schema: { type: 'array', items: text },
    expects: 'must be names of engine instances, comma-separated',
    example: ['local'],
    description:
      'Transcription instances that workers run, comma-separated; unset: all instances with only local models',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

type Table = typeof table;

/** The type of the values that the schema allows. */
type ValueOf<Schema> = Schema extends { type: 'array'; items: infer Item }
  ? readonly ValueOf<Item>[]
  : Schema extends { type: readonly ['integer', 'string'] }
    ? number | 'auto'
    : Schema extends { enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { type: 'string' }
        ? string
        : Schema extends { type: 'integer' }
          ? number
          : boolean;

type NameWithDefault = { [Name in keyof Table]: Table[Name] extends { default: unknown } ? Name : never }[keyof Table];

/** The value of each setting by its name in the file; undefined only if the setting has no default. */
export type Settings = { readonly [Name in NameWithDefault]: ValueOf<Table[Name]['schema']> } & {
  readonly [Name in Exclude<keyof Table, NameWithDefault>]?: ValueOf<Table[Name]['schema']>;
};

export const settingsTable: Readonly<Record<keyof Settings, SettingRow>> = table;

/** The settings that name the default model of each capability. */
export const defaultModelSettings = {
  transcription: 'transcribeModel',
  chat: 'chatModel',
  speech: 'ttsModel',
} as const satisfies Readonly<Record<Capability, keyof Settings>>;

/** Model ids by the names that apps send under /v1. Available only in the file. */
const compatAliasesSchema = {
  type: 'object',
  description:
    'Aliases for the model ids that apps under `/v1` hard-code, such as `whisper-1: local`. By default, OpenAI’s ids for transcription and speech are aliases of the default model.',
  propertyNames: { minLength: 1, maxLength: 256 },
  additionalProperties: { type: 'string', minLength: 1, maxLength: 256 },
} as const;

function schemaOf(rows: readonly [string, SettingRow][]) {
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(
        rows.map(([name, row]) => {
          const { schema, description, default: value } = row;
          return [name, { ...schema, description, ...(value !== undefined && { default: value }) }];
        }),
      ),
      engines: enginesSchema,
      mcpServers: mcpServersSchema,
      compatAliases: compatAliasesSchema,
    },
  } as const;
}

const instanceSchema = {
  required: ['use'],
  properties: {
    use: {
      ...text,
      description: 'A built-in engine, a path relative to this file, or the name of an installed package.',
    },
  },
} as const;

const enginesSchema = {
  type: 'object',
  description: 'The engine instances by name.',
  propertyNames: { pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' },
  // Does not use anyOf, because its errors would mention both forms.
  additionalProperties: {
    type: ['object', 'array'],
    description: 'An instance, or a list of instances: one provider with several capabilities.',
    ...instanceSchema,
    minItems: 1,
    items: { type: 'object', ...instanceSchema },
  },
} as const;

const rows = Object.entries(settingsTable);

/** JSON Schema of all settings, from any source. */
const settingsSchema = schemaOf(rows);

/** One schema per setting, by name, because compiling the schema of all settings would add 15 ms to each start. */
export const schemasOfOne = Object.fromEntries(
  Object.entries(settingsSchema.properties).map(([name, schema]) => [
    name,
    { ...settingsSchema, properties: { [name]: schema } },
  ]),
);

/** The default values of the settings that have one. */
export const defaultSettings = Object.fromEntries(
  rows.flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
) as unknown as Settings;

/** JSON Schema of `parlance.config.yaml`, without the options of the engines, which each engine defines. */
export const fileSchema = schemaOf(rows.filter(([, { inFile }]) => inFile !== false));
