/**
 * Every metric of the service: name, labels, buckets. HTTP is named as in OpenTelemetry's semantic conventions, chats as
 * in those for GenAI, in the spelling of Prometheus. docs/reference/metrics.md is generated from it.
 */

interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds; of histograms only. */
  readonly buckets?: readonly number[];
}

/** Up to TRANSCRIBE_TIMEOUT, the longest request. */
const requestSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300, 600,
] as const;
const voiceSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;
const firstChunkSeconds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const;
const waitSeconds = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;
/** 0.01, 0.02, 0.04 ... 81.92 */
const chatSeconds = Array.from({ length: 14 }, (_, index) => 2 ** index / 100);
/** 1, 4, 16 ... 67108864 */
const tokenCounts = Array.from({ length: 14 }, (_, index) => 4 ** index);

const chatLabels = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'] as const;

export const metricsTable = {
  requestDuration: {
    name: 'http_server_request_duration_seconds',
    type: 'histogram',
    help: 'Duration of requests until the end of their answer; streams count whole. Without /healthz and /readyz.',
    labels: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
    buckets: requestSeconds,
  },
  activeRequests: {
    name: 'http_server_active_requests',
    type: 'gauge',
    help: 'Requests in flight.',
    labels: ['http_request_method'],
  },
  chatDuration: {
    name: 'gen_ai_client_operation_duration_seconds',
    type: 'histogram',
    help: 'Duration of chats with an engine, with all their steps and tool calls.',
    labels: [...chatLabels, 'error_type'],
    buckets: chatSeconds,
  },
  chatFirstChunk: {
    name: 'gen_ai_client_operation_time_to_first_chunk_seconds',
    type: 'histogram',
    help: 'Time until the first text, reasoning or tool call of a chat. Streams only.',
    labels: chatLabels,
    buckets: firstChunkSeconds,
  },
  chatTokens: {
    name: 'gen_ai_client_token_usage',
    type: 'histogram',
    help: 'Tokens of a chat, where the provider reports them.',
    labels: [...chatLabels, 'gen_ai_token_type'],
    buckets: tokenCounts,
  },
  transcriptionDuration: {
    name: 'parlance_transcription_duration_seconds',
    type: 'histogram',
    help: 'Duration of transcriptions after their upload, with the time in the queue.',
    labels: ['model', 'error_type'],
    buckets: voiceSeconds,
  },
  speechDuration: {
    name: 'parlance_speech_duration_seconds',
    type: 'histogram',
    help: 'Duration of syntheses until their last byte, with the time in the queue.',
    labels: ['model', 'error_type'],
    buckets: voiceSeconds,
  },
  speechFirstByte: {
    name: 'parlance_speech_time_to_first_byte_seconds',
    type: 'histogram',
    help: 'Time until the first audio of a synthesis.',
    labels: ['model'],
    buckets: firstChunkSeconds,
  },
  audioSeconds: {
    name: 'parlance_audio_seconds_total',
    type: 'counter',
    help: 'Length of the recordings transcribed and of the speech made, where known.',
    labels: ['operation', 'model'],
  },
  queueRunning: {
    name: 'parlance_queue_running',
    type: 'gauge',
    help: 'Jobs at work in the queues of an engine.',
    labels: ['engine'],
  },
  queueWaiting: {
    name: 'parlance_queue_waiting',
    type: 'gauge',
    help: 'Jobs that wait in the queues of an engine.',
    labels: ['engine'],
  },
  queueSlots: {
    name: 'parlance_queue_slots',
    type: 'gauge',
    help: 'Jobs that an engine runs at once.',
    labels: ['engine'],
  },
  queueWait: {
    name: 'parlance_queue_wait_seconds',
    type: 'histogram',
    help: 'Time that jobs waited for a slot; 0 for those that found one free.',
    labels: ['engine'],
    buckets: waitSeconds,
  },
  queueRefused: {
    name: 'parlance_queue_refused_total',
    type: 'counter',
    help: 'Jobs refused: the queue was full, they timed out in it, or another caller pushed them out.',
    labels: ['engine', 'reason'],
  },
  engineAvailable: {
    name: 'parlance_engine_available',
    type: 'gauge',
    help: '1 for a model that can be used, as last known: a request, a listing or the start asked.',
    labels: ['engine', 'model'],
  },
  keyRequests: {
    name: 'parlance_key_requests_total',
    type: 'counter',
    help: 'Requests of an API key.',
    labels: ['key', 'operation'],
  },
  keyLimited: {
    name: 'parlance_key_limited_total',
    type: 'counter',
    help: 'Requests of an API key refused by one of its limits.',
    labels: ['key', 'policy'],
  },
  keyAudioSeconds: {
    name: 'parlance_key_audio_seconds_total',
    type: 'counter',
    help: 'Length of the recordings transcribed for an API key.',
    labels: ['key'],
  },
  keyTokens: {
    name: 'parlance_key_tokens_total',
    type: 'counter',
    help: 'Tokens of the chats of an API key, as the providers report them.',
    labels: ['key'],
  },
  clips: { name: 'parlance_clips', type: 'gauge', help: 'Clips in the store.', labels: [] },
  clipBytes: { name: 'parlance_clips_bytes', type: 'gauge', help: 'Size of the clips in the store.', labels: [] },
  jobs: {
    name: 'parlance_jobs',
    type: 'gauge',
    help: 'Transcription jobs, those that are over until they are deleted.',
    labels: ['state'],
  },
  jobBytes: {
    name: 'parlance_jobs_bytes',
    type: 'gauge',
    help: 'What transcription jobs hold of DISK_BUDGET.',
    labels: [],
  },
  jobSeconds: {
    name: 'parlance_job_audio_seconds_total',
    type: 'counter',
    help: 'Length of the parts of recordings that jobs have transcribed.',
    labels: [],
  },
  jobRetries: {
    name: 'parlance_job_retries_total',
    type: 'counter',
    help: 'How often jobs have waited to try a part again.',
    labels: [],
  },
  mcpServerUp: {
    name: 'parlance_mcp_server_up',
    type: 'gauge',
    help: '1 while the MCP server is connected.',
    labels: ['server'],
  },
  toolCalls: {
    name: 'parlance_tool_calls_total',
    type: 'counter',
    help: 'Calls of the tools of the service, including those of MCP servers.',
    labels: ['tool', 'ok'],
  },
  residentLoaded: {
    name: 'parlance_resident_loaded',
    type: 'gauge',
    help: '1 while a program that stays loaded is, such as a local transcription model.',
    labels: ['engine', 'program'],
  },
  residentBytes: {
    name: 'parlance_resident_memory_bytes',
    type: 'gauge',
    help: 'What a loaded program holds of MEMORY_BUDGET: the most memory that it has used.',
    labels: ['engine', 'program'],
  },
  residentLoads: {
    name: 'parlance_resident_loads_total',
    type: 'counter',
    help: 'How often the program was loaded.',
    labels: ['engine', 'program'],
  },
  residentLoadSeconds: {
    name: 'parlance_resident_load_seconds_total',
    type: 'counter',
    help: 'How long all loads of the program took together.',
    labels: ['engine', 'program'],
  },
  residentCrashes: {
    name: 'parlance_resident_crashes_total',
    type: 'counter',
    help: 'How often the program ended by itself. After three times within a minute it is paused for a minute.',
    labels: ['engine', 'program'],
  },
  fleetRedisUp: {
    name: 'parlance_fleet_redis_up',
    type: 'gauge',
    help: '1 while the Redis of the fleet answers this node and accepts changes. Nodes of a fleet only, as all parlance_fleet_ metrics.',
    labels: [],
  },
  fleetNodes: {
    name: 'parlance_fleet_nodes',
    type: 'gauge',
    help: 'Nodes of the fleet; one that is both counts as both. Absent while Redis is unavailable or accepts no changes.',
    labels: ['role'],
  },
  fleetOpen: {
    name: 'parlance_fleet_open',
    type: 'gauge',
    help: 'Transcriptions of the whole fleet that wait or are at work. Absent while Redis is unavailable or accepts no changes.',
    labels: ['engine'],
  },
  fleetRunning: {
    name: 'parlance_fleet_running',
    type: 'gauge',
    help: 'Transcriptions of the whole fleet at work. Absent while Redis is unavailable or accepts no changes.',
    labels: ['engine'],
  },
  fleetSlots: {
    name: 'parlance_fleet_slots',
    type: 'gauge',
    help: 'Transcriptions that all workers run at once. Absent while Redis is unavailable or accepts no changes.',
    labels: ['engine'],
  },
  fleetOldestWait: {
    name: 'parlance_fleet_oldest_wait_seconds',
    type: 'gauge',
    help: 'How long the oldest transcription of this front has waited for a worker. Fronts only.',
    labels: ['engine'],
  },
  fleetPaused: {
    name: 'parlance_fleet_paused',
    type: 'gauge',
    help: '1 while this worker takes no transcriptions, since the last ones failed here: its disk is full, its program always fails. Workers only.',
    labels: ['engine'],
  },
  buildInfo: {
    name: 'parlance_build_info',
    type: 'gauge',
    help: 'Always 1; the versions are its labels.',
    labels: ['version', 'node'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
