/**
 * All metrics of the service: name, labels, buckets. The names of HTTP and chat metrics follow OpenTelemetry's semantic
 * conventions (for chats, the GenAI conventions), in Prometheus spelling. docs/reference/metrics.md is generated from
 * this table.
 */

interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of the buckets, for histograms only. */
  readonly buckets?: readonly number[];
}

/** Buckets up to 600 s, the shortest timeout with TRANSCRIBE_TIMEOUT=auto. */
const requestSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300, 600,
] as const;
const voiceSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;
const firstChunkSeconds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const;
const waitSeconds = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;
const sessionSeconds = [1, 5, 15, 60, 300, 900, 1800, 3600] as const;
/** 0.01, 0.02, 0.04 ... 81.92 */
const chatSeconds = Array.from({ length: 14 }, (_, index) => 2 ** index / 100);
/** 1, 4, 16 ... 67108864 */
const tokenCounts = Array.from({ length: 14 }, (_, index) => 4 ** index);

const chatLabels = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'] as const;

export const metricsTable = {
  requestDuration: {
    name: 'http_server_request_duration_seconds',
    type: 'histogram',
    help: 'Duration of requests until the end of the response, including streams. Excludes /healthz and /readyz.',
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
    help: 'Duration of chats, including all steps and tool calls.',
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
    help: 'Tokens of a chat, if the provider reports them.',
    labels: [...chatLabels, 'gen_ai_token_type'],
    buckets: tokenCounts,
  },
  transcriptionDuration: {
    name: 'parlance_transcription_duration_seconds',
    type: 'histogram',
    help: 'Duration of transcriptions after the upload, including the time in the queue.',
    labels: ['model', 'error_type'],
    buckets: voiceSeconds,
  },
  speechDuration: {
    name: 'parlance_speech_duration_seconds',
    type: 'histogram',
    help: 'Duration of syntheses until the last byte, including the time in the queue.',
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
    help: 'Length of transcribed recordings, if known.',
    labels: ['model'],
  },
  queueRunning: {
    name: 'parlance_queue_running',
    type: 'gauge',
    help: 'Running calls of an engine.',
    labels: ['engine'],
  },
  queueWaiting: {
    name: 'parlance_queue_waiting',
    type: 'gauge',
    help: 'Calls waiting in the queues of an engine.',
    labels: ['engine'],
  },
  queueSlots: {
    name: 'parlance_queue_slots',
    type: 'gauge',
    help: 'Maximum concurrent calls of an engine.',
    labels: ['engine'],
  },
  queueWait: {
    name: 'parlance_queue_wait_seconds',
    type: 'histogram',
    help: 'Time that calls waited for a slot; 0 if one was free.',
    labels: ['engine'],
    buckets: waitSeconds,
  },
  queueRefused: {
    name: 'parlance_queue_refused_total',
    type: 'counter',
    help: 'Rejected calls: the queue was full, they timed out in it, or were evicted for another caller.',
    labels: ['engine', 'reason'],
  },
  engineAvailable: {
    name: 'parlance_engine_available',
    type: 'gauge',
    help: '1 if the model is available.',
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
    help: 'Requests of an API key rejected by one of its limits.',
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
    help: 'Transcription jobs, including finished ones until they are deleted.',
    labels: ['state'],
  },
  jobBytes: {
    name: 'parlance_jobs_bytes',
    type: 'gauge',
    help: 'Part of DISK_BUDGET used by transcription jobs.',
    labels: [],
  },
  jobSeconds: {
    name: 'parlance_job_audio_seconds_total',
    type: 'counter',
    help: 'Length of the recordings transcribed by jobs.',
    labels: [],
  },
  jobRetries: {
    name: 'parlance_job_retries_total',
    type: 'counter',
    help: 'Retries of parts by jobs.',
    labels: [],
  },
  realtimeSessions: {
    name: 'parlance_realtime_sessions',
    type: 'gauge',
    help: 'Open sessions of live transcription and conversations.',
    labels: [],
  },
  realtimeSeconds: {
    name: 'parlance_realtime_session_seconds',
    type: 'histogram',
    help: 'Duration of sessions of live transcription and conversations.',
    labels: [],
    buckets: sessionSeconds,
  },
  realtimeTurns: {
    name: 'parlance_realtime_turns_total',
    type: 'counter',
    help: 'Transcribed turns of live sessions, including those that failed.',
    labels: [],
  },
  realtimeEarly: {
    name: 'parlance_realtime_early_total',
    type: 'counter',
    help: 'Transcriptions that began before the end of their turn: `used`, `discarded` because the speech went on, or `failed`.',
    labels: ['outcome'],
  },
  realtimeFirstSound: {
    name: 'parlance_realtime_first_sound_seconds',
    type: 'histogram',
    help: 'Wait for the first sound of an answer since the commit of its turn (`all`), and its parts: `transcription`, and `answer` for the chat and the speech until then.',
    labels: ['part'],
    buckets: voiceSeconds,
  },
  realtimeInterruptions: {
    name: 'parlance_realtime_interruptions_total',
    type: 'counter',
    help: 'Spoken answers of live conversations that were playing when the user spoke.',
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
    help: 'Calls of the service’s tools, including those of MCP servers.',
    labels: ['tool', 'ok'],
  },
  residentLoaded: {
    name: 'parlance_resident_loaded',
    type: 'gauge',
    help: '1 while the program of a local model is loaded.',
    labels: ['engine', 'program'],
  },
  residentBytes: {
    name: 'parlance_resident_memory_bytes',
    type: 'gauge',
    help: 'Part of MEMORY_BUDGET used by a loaded program: its peak memory.',
    labels: ['engine', 'program'],
  },
  residentLoads: {
    name: 'parlance_resident_loads_total',
    type: 'counter',
    help: 'Loads of the program.',
    labels: ['engine', 'program'],
  },
  residentLoadSeconds: {
    name: 'parlance_resident_load_seconds_total',
    type: 'counter',
    help: 'Total time of all loads of the program.',
    labels: ['engine', 'program'],
  },
  residentCrashes: {
    name: 'parlance_resident_crashes_total',
    type: 'counter',
    help: 'Crashes of the program. After three within a minute it is paused for a minute.',
    labels: ['engine', 'program'],
  },
  fleetRedisUp: {
    name: 'parlance_fleet_redis_up',
    type: 'gauge',
    help: '1 while this node can read and write the Redis of the fleet. Like all parlance_fleet_ metrics, only on nodes of a fleet.',
    labels: [],
  },
  fleetNodes: {
    name: 'parlance_fleet_nodes',
    type: 'gauge',
    help: 'Nodes of the fleet; a node with both roles counts in both. Absent while Redis is unavailable or rejects writes.',
    labels: ['role'],
  },
  fleetOpen: {
    name: 'parlance_fleet_open',
    type: 'gauge',
    help: 'Waiting and running transcriptions of the whole fleet. Absent while Redis is unavailable or rejects writes.',
    labels: ['engine'],
  },
  fleetRunning: {
    name: 'parlance_fleet_running',
    type: 'gauge',
    help: 'Running transcriptions of the whole fleet. Absent while Redis is unavailable or rejects writes.',
    labels: ['engine'],
  },
  fleetSlots: {
    name: 'parlance_fleet_slots',
    type: 'gauge',
    help: 'Maximum concurrent transcriptions of all workers. Absent while Redis is unavailable or rejects writes.',
    labels: ['engine'],
  },
  fleetOldestWait: {
    name: 'parlance_fleet_oldest_wait_seconds',
    type: 'gauge',
    help: 'Wait of the oldest transcription of this front for a worker. Fronts only.',
    labels: ['engine'],
  },
  fleetPaused: {
    name: 'parlance_fleet_paused',
    type: 'gauge',
    help: '1 while this worker is paused after failures of its own, such as a full disk. Workers only.',
    labels: ['engine'],
  },
  buildInfo: {
    name: 'parlance_build_info',
    type: 'gauge',
    help: 'Always 1, with the versions as labels.',
    labels: ['version', 'node'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
