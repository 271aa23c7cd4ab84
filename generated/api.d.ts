// Written by `npm run generate` from spec/. Do not edit.
export type paths = {
    "/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a chat
         * @description Produces the next assistant answer from the full history and returns it in one piece. Tools run inside and do
         *     not appear; clips that read_aloud made are announced by `Link` headers.
         */
        post: operations["createChat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/chat/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a chat as a stream of events
         * @description The same run as `POST /chat`, shown step by step as server-sent events. A failure before the first event of the
         *     provider keeps its HTTP status (for up to 5 s); from then on it is the event `chat.failed`. A disconnect cancels
         *     the run; there is no resumption.
         */
        post: operations["streamChat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the chat models
         * @description Lists the ids that are valid for the `model` field of a chat.
         */
        get: operations["listChatModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transcribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask whether transcription can work
         * @description Tells whether transcription can work, without sending a recording: free of charge, and the answer differs per
         *     model. A frontend asks once on load and hides its microphone when `available` is false. An unknown model is
         *     an answer, not an error.
         */
        get: operations["getTranscriptionAvailability"];
        put?: never;
        /**
         * Transcribe a recording
         * @description Turns a recording into text. Without `language` the model detects it; silence is "", a success.
         */
        post: operations["createTranscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transcribe/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the transcription models
         * @description Lists the ids that are valid for the `model` field of a transcription.
         */
        get: operations["listTranscriptionModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Speak a text
         * @description Speaks a text. The audio streams: its first bytes come before its last sentence is spoken.
         */
        post: operations["createSpeech"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tts/clips/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a clip
         * @description The audio of a clip that read_aloud made in a chat: short-lived, playable while it is still being spoken. The
         *     unguessable id is the permission, so that an `<audio>` element can fetch it: no token is asked for.
         */
        get: operations["getSpeechClip"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tts/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the speech models
         * @description Lists the ids that are valid for `tts_model` and for the `model` field of speech, with their voices.
         */
        get: operations["listSpeechModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
};
export type webhooks = Record<string, never>;
export type components = {
    schemas: {
        /** @description A clip that can be played now, even while it is still being spoken. */
        Audio: {
            id: string;
            /** @description Where to fetch the audio; no token is asked for, the address itself is the permission. */
            url: string;
            content_type: string;
        };
        /**
         * @description A tool has made audio. Clips of parallel calls are announced in the model's order of calls: a later one waits until
         *     every earlier `read_aloud` of its step has announced its clip or has failed.
         */
        AudioCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "audio.created";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /**
             * Format: int64
             * @description The round of the agent loop, from 0.
             */
            step: number;
            id: string;
            audio: components["schemas"]["Audio"];
        };
        /**
         * @description Whether a model can work, for a program. New codes may be added: treat an unknown one by `available`.
         * @enum {string}
         */
        AvailabilityCode: "ready" | "disabled" | "unknown-model" | "no-model" | "program-missing" | "model-file-missing" | "key-missing" | "key-refused" | "upstream-unreachable" | "preparing" | "busy" | "engine-failed";
        /** @description The last event of a run that succeeded. */
        ChatCompleted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "chat.completed";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /** @description What the non-streaming operation would have answered. */
            result: components["schemas"]["ChatResult"];
        };
        /** @description One event of a chat's stream. Exactly one of `chat.completed` and `chat.failed` ends it. Ignore unknown types. */
        ChatEvent: components["schemas"]["ChatStarted"] | components["schemas"]["StepStarted"] | components["schemas"]["ReasoningDelta"] | components["schemas"]["ContentDelta"] | components["schemas"]["ToolStarted"] | components["schemas"]["ToolProgress"] | components["schemas"]["AudioCreated"] | components["schemas"]["ToolFinished"] | components["schemas"]["ChatCompleted"] | components["schemas"]["ChatFailed"];
        /** @description The last event of a run that failed. */
        ChatFailed: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "chat.failed";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            problem: components["schemas"]["Problem"];
        };
        /**
         * @example {
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "What is the capital of France?"
         *         }
         *       ],
         *       "temperature": 0.2,
         *       "max_tokens": 200
         *     }
         */
        ChatRequest: {
            /** @description The full history in order, 1 to 100 messages. */
            messages: components["schemas"]["Message"][];
            /** @description An id from `GET /models`; null means the default from the backend's configuration. */
            model?: components["schemas"]["ModelId"] | null;
            /** @description 0 to 2; lower is more predictable. null means the default. */
            temperature?: components["schemas"]["Temperature"] | null;
            /** @description 1 to 32000: the upper bound on the answer's length, thinking (reasoning) tokens included. null means the default. */
            max_tokens?: components["schemas"]["MaxTokens"] | null;
            /** @description Greater than 0, up to 1 (nucleus sampling). null means the default. */
            top_p?: components["schemas"]["TopP"] | null;
            /** @description For read_aloud: the voice of the speech model. null means the configured default. Only the caller chooses it. */
            voice_id?: components["schemas"]["VoiceId"] | null;
            /** @description For read_aloud: an id from `GET /tts/models`. null means the configured default. */
            tts_model?: components["schemas"]["ModelId"] | null;
        };
        /**
         * @example {
         *       "content": "Paris.",
         *       "model": "llama3.2",
         *       "finish_reason": "stop",
         *       "reasoning": null,
         *       "usage": {
         *         "prompt_tokens": 14,
         *         "completion_tokens": 3,
         *         "total_tokens": 17,
         *         "reasoning_tokens": 0
         *       }
         *     }
         */
        ChatResult: {
            /** @description The final answer text. */
            content: string;
            /** @description The model that produced the answer. */
            model: string;
            finish_reason: components["schemas"]["FinishReason"];
            /** @description Filled only for reasoning models; otherwise null. */
            reasoning: string | null;
            /** @description null when the provider reports nothing. */
            usage: components["schemas"]["Usage"] | null;
        };
        /** @description The first event. */
        ChatStarted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "chat.started";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /** @description The id of this run. */
            id: string;
            /** @description The model that answers. */
            model: string;
        };
        /** @description More of the answer. The deltas of the last step concatenate to `content` of the result. */
        ContentDelta: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "content.delta";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /**
             * Format: int64
             * @description The round of the agent loop, from 0.
             */
            step: number;
            delta: string;
        };
        /**
         * @description Why the generation ended: a normal end, the token limit (or the limit of steps), or the provider's filter.
         * @enum {string}
         */
        FinishReason: "stop" | "length" | "content_filter";
        /** Format: int32 */
        MaxTokens: number;
        Message: {
            /** @enum {string} */
            role: "system" | "user" | "assistant";
            /** @description 1 to 32000 characters (code points). */
            content: string;
        };
        /** @description An entry of a listing. */
        ModelEntry: {
            /** @description Valid for the `model` field of requests. */
            id: components["schemas"]["ModelId"];
            /** @description For people. */
            name: string;
            /** @description The instance of the engine that serves it, as named in the settings. */
            engine: string;
            /** @description True: nothing of a request leaves the machine. False: it goes to an external hosted provider. */
            local: boolean;
            /** @description Whether it can work at all; what passes by itself does not make it false. */
            available: boolean;
            code: components["schemas"]["AvailabilityCode"];
            /** @description The explanation that goes with `code`. */
            reason: string;
        };
        /** @description The id of a model, taken from a listing. */
        ModelId: string;
        /** @description The models that a request may name. An empty list is a valid answer. */
        ModelList: {
            data: components["schemas"]["ModelEntry"][];
            /** @description The id that serves requests without `model`; null when there is none. */
            default: components["schemas"]["ModelId"] | null;
        };
        /**
         * @description A failure (RFC 9457, Problem Details for HTTP APIs).
         * @example {
         *       "type": "urn:parlance:problem:invalid-request",
         *       "title": "The request breaks a rule of the contract",
         *       "status": 422,
         *       "detail": "messages/0/content must not have fewer than 1 characters",
         *       "code": "invalid-request",
         *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
         *       "errors": [
         *         {
         *           "in": "body",
         *           "pointer": "/messages/0/content",
         *           "detail": "must not have fewer than 1 characters"
         *         }
         *       ]
         *     }
         */
        Problem: {
            /** @description The stable name of this kind of failure: `urn:parlance:problem:` and the code. */
            type: string;
            /** @description The kind of failure, in words; the same for every occurrence of a code. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description What happened this time, and what to do about it. */
            detail: string;
            code: components["schemas"]["ProblemCode"];
            /** @description The id of the request, as in `X-Request-Id`: quote it when you ask the operator. */
            instance: string;
            /**
             * Format: int32
             * @description Seconds to wait before the next try, as in the header `Retry-After`, which a stream's failure cannot have.
             */
            retry_after?: number;
            /** @description The rules that the request breaks, at most 100 (of bodies over 64 KB, the first one). */
            errors?: components["schemas"]["Violation"][];
        };
        /**
         * @description What went wrong, for a program. New codes may be added: treat an unknown one by its status.
         * @enum {string}
         */
        ProblemCode: "invalid-request" | "malformed-body" | "body-too-large" | "recording-empty" | "recording-too-large" | "recording-too-long" | "recording-not-accepted" | "recording-undecodable" | "unknown-model" | "language-not-supported" | "voice-not-supported" | "format-not-supported" | "context-length-exceeded" | "content-rejected" | "provider-rejected-request" | "unsupported-media-type" | "unauthorized" | "host-not-allowed" | "origin-not-allowed" | "not-found" | "clip-not-found" | "method-not-allowed" | "malformed-request" | "request-timeout" | "expectation-failed" | "headers-too-large" | "range-not-satisfiable" | "provider-quota-exhausted" | "provider-rate-limited" | "internal-error" | "engine-failed" | "provider-auth-failed" | "provider-misconfigured" | "provider-unreachable" | "provider-error" | "provider-bad-response" | "transcription-disabled" | "no-engine" | "model-unavailable" | "overloaded" | "storage-full" | "shutting-down" | "provider-overloaded" | "engine-timeout" | "provider-timeout";
        /** @description More of the model's reasoning. */
        ReasoningDelta: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reasoning.delta";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /**
             * Format: int64
             * @description The round of the agent loop, from 0.
             */
            step: number;
            delta: string;
        };
        /**
         * @description mp3, wav, ogg (Vorbis) or opus (in ogg).
         * @enum {string}
         */
        SpeechFormat: "mp3" | "wav" | "ogg" | "opus";
        /** @description An entry of the listing of speech models. */
        SpeechModelEntry: {
            /** @description Valid for the `model` field of requests. */
            id: components["schemas"]["ModelId"];
            /** @description For people. */
            name: string;
            /** @description The instance of the engine that serves it, as named in the settings. */
            engine: string;
            /** @description True: nothing of a request leaves the machine. False: it goes to an external hosted provider. */
            local: boolean;
            /** @description Whether it can work at all; what passes by itself does not make it false. */
            available: boolean;
            code: components["schemas"]["AvailabilityCode"];
            /** @description The explanation that goes with `code`. */
            reason: string;
            /** @description Empty when the engine does not list its voices. */
            voices: components["schemas"]["Voice"][];
        };
        /** @description The speech models that a request may name. An empty list is a valid answer. */
        SpeechModelList: {
            data: components["schemas"]["SpeechModelEntry"][];
            /** @description The id that serves requests without `model`; null when there is none. */
            default: components["schemas"]["ModelId"] | null;
        };
        /**
         * @example {
         *       "text": "Good morning.",
         *       "voice_id": "en",
         *       "format": "mp3"
         *     }
         */
        SpeechRequest: {
            /** @description 1 to 32000 characters (code points). */
            text: string;
            /** @description An id from `GET /tts/models`; null means the configured default. */
            model?: components["schemas"]["ModelId"] | null;
            /** @description A voice of the model; null means the configured default. */
            voice_id?: components["schemas"]["VoiceId"] | null;
            /** @description null means mp3. */
            format?: components["schemas"]["SpeechFormat"] | null;
        };
        /** @description A round of the agent loop begins. */
        StepStarted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.started";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /**
             * Format: int64
             * @description The round of the agent loop, from 0.
             */
            step: number;
        };
        /** Format: double */
        Temperature: number;
        /**
         * @description A tool has ended; in the order of completion, but always behind the `audio.created` of its call. The next step starts
         *     after all tools of this one.
         */
        ToolFinished: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.finished";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /**
             * Format: int64
             * @description The round of the agent loop, from 0.
             */
            step: number;
            id: string;
            name: string;
            ok: boolean;
            /** @description What the model reads, shortened where it is long. */
            output?: string;
            error?: string;
            /** Format: int64 */
            duration_ms: number;
        };
        /** @description A running tool says how far it is. */
        ToolProgress: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.progress";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /**
             * Format: int64
             * @description The round of the agent loop, from 0.
             */
            step: number;
            id: string;
            /** Format: double */
            progress: number;
            /** Format: double */
            total?: number;
            message?: string;
        };
        /** @description A tool begins to run; in the model's order. */
        ToolStarted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.started";
            /**
             * Format: int64
             * @description The number of the event in its stream: from 0, rising by one.
             */
            seq: number;
            /**
             * Format: int64
             * @description The round of the agent loop, from 0.
             */
            step: number;
            /** @description The id of the call, unique in the run. */
            id: string;
            name: string;
            arguments: {
                [key: string]: unknown;
            };
        };
        /** Format: double */
        TopP: number;
        Transcription: {
            /** @description The transcript as one continuous string; "" when nothing was said. */
            text: string;
            /** @description The language that the model heard (ISO 639-1), not the one requested; null when the model does not report it. */
            language: string | null;
            /**
             * Format: int64
             * @description The length of the recording in milliseconds, where the model reports it.
             */
            duration_ms?: number;
            /** @description The id of the model entry that did the work. */
            model: string;
        };
        TranscriptionAvailability: {
            /** @description Whether transcription can work at all: hide the microphone when it is false. */
            available: boolean;
            code: components["schemas"]["AvailabilityCode"];
            /** @description The explanation that goes with the answer. */
            reason: string;
            /** @description The model that the answer refers to; "" when there is none. */
            model: string;
        };
        TranscriptionRequest: {
            /**
             * Format: binary
             * @description The recording, 1 byte to 25 MB (26214400 bytes). No client-side conversion is needed.
             */
            file: string;
            /**
             * @description An id from `GET /transcribe/models`; absent or empty: the server's default (TRANSCRIBE_MODEL). An entry with
             *     `local: true` keeps the recording on the machine; every other sends it to an external hosted provider.
             */
            model?: string;
            /**
             * @description The spoken language, ISO 639-1, two letters such as `de` or `en`. Normally unnecessary; when given, the
             *     detection is skipped.
             */
            language?: string;
        };
        /** @description Token accounting, summed over all steps. */
        Usage: {
            /** Format: int64 */
            prompt_tokens: number;
            /** Format: int64 */
            completion_tokens: number;
            /** Format: int64 */
            total_tokens: number;
            /** Format: int64 */
            reasoning_tokens: number;
        };
        /** @description One rule of the contract that the request breaks. */
        Violation: {
            /**
             * @description The part of the request.
             * @enum {string}
             */
            in: "body" | "query" | "path" | "header";
            /**
             * @description The place in that part, as a JSON Pointer (RFC 6901); "" is the part as a whole.
             * @example /messages/0/content
             */
            pointer: string;
            /**
             * @description What the rule says.
             * @example must not have fewer than 1 characters
             */
            detail: string;
        };
        Voice: {
            /** @description Valid for `voice_id`. */
            id: string;
            name: string;
            /** @description ISO 639-1; null when the voice speaks several languages. */
            language: string | null;
        };
        /** @description The id of a voice of the speech model. */
        VoiceId: string;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
};
export type $defs = Record<string, never>;
export interface operations {
    createChat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatRequest"];
            };
        };
        responses: {
            /** @description The final answer. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    /** @description One `<URL>; rel="enclosure"; type="audio/..."` for each clip, in call order. */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatResult"];
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body did not arrive in time. */
            408: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:request-timeout",
                     *       "title": "The request did not arrive in time",
                     *       "status": 408,
                     *       "detail": "The body took more than 300 s.",
                     *       "code": "request-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body has another content type than the operation takes. */
            415: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unsupported-media-type",
                     *       "title": "The body has the wrong content type",
                     *       "status": 415,
                     *       "detail": "The body must not be text/plain.",
                     *       "code": "unsupported-media-type",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something is wrong with the request: a rule of the contract, the recording, an id, or what the provider accepts. `code` and `detail` say what; `errors` name the places. */
            422: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:invalid-request",
                     *       "title": "The request breaks a rule of the contract",
                     *       "status": 422,
                     *       "detail": "messages must NOT have fewer than 1 items",
                     *       "code": "invalid-request",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "body",
                     *           "pointer": "/messages",
                     *           "detail": "must NOT have fewer than 1 items"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider's quota is exhausted, or its rate limit is reached. */
            429: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 60
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-quota-exhausted",
                     *       "title": "The provider's quota is exhausted",
                     *       "status": 429,
                     *       "detail": "The quota at the provider is used up.",
                     *       "code": "provider-quota-exhausted",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 60
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider failed, or could not be reached. */
            502: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-error",
                     *       "title": "The provider failed",
                     *       "status": 502,
                     *       "detail": "The provider failed.",
                     *       "code": "provider-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider or the engine did not answer in time. */
            504: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-timeout",
                     *       "title": "The provider did not answer in time",
                     *       "status": 504,
                     *       "detail": "The provider did not answer within 300 s.",
                     *       "code": "provider-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamChat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatRequest"];
            };
        };
        responses: {
            /** @description The events of the run. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ChatEvent"];
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body did not arrive in time. */
            408: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:request-timeout",
                     *       "title": "The request did not arrive in time",
                     *       "status": 408,
                     *       "detail": "The body took more than 300 s.",
                     *       "code": "request-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body has another content type than the operation takes. */
            415: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unsupported-media-type",
                     *       "title": "The body has the wrong content type",
                     *       "status": 415,
                     *       "detail": "The body must not be text/plain.",
                     *       "code": "unsupported-media-type",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something is wrong with the request: a rule of the contract, the recording, an id, or what the provider accepts. `code` and `detail` say what; `errors` name the places. */
            422: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:invalid-request",
                     *       "title": "The request breaks a rule of the contract",
                     *       "status": 422,
                     *       "detail": "messages must NOT have fewer than 1 items",
                     *       "code": "invalid-request",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "body",
                     *           "pointer": "/messages",
                     *           "detail": "must NOT have fewer than 1 items"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider's quota is exhausted, or its rate limit is reached. */
            429: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 60
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-quota-exhausted",
                     *       "title": "The provider's quota is exhausted",
                     *       "status": 429,
                     *       "detail": "The quota at the provider is used up.",
                     *       "code": "provider-quota-exhausted",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 60
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider failed, or could not be reached. */
            502: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-error",
                     *       "title": "The provider failed",
                     *       "status": 502,
                     *       "detail": "The provider failed.",
                     *       "code": "provider-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider or the engine did not answer in time. */
            504: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-timeout",
                     *       "title": "The provider did not answer in time",
                     *       "status": 504,
                     *       "detail": "The provider did not answer within 300 s.",
                     *       "code": "provider-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listChatModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries, and which one is the default. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "llama3.2",
                     *           "name": "llama3.2",
                     *           "engine": "ollama",
                     *           "local": false,
                     *           "available": true,
                     *           "code": "ready",
                     *           "reason": "Ready."
                     *         }
                     *       ],
                     *       "default": "llama3.2"
                     *     }
                     */
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTranscriptionAvailability: {
        parameters: {
            query?: {
                /** @description The model to ask about; absent or empty: the default. */
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether it can, and why. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "available": true,
                     *       "code": "ready",
                     *       "reason": "Ready.",
                     *       "model": "local"
                     *     }
                     */
                    "application/json": components["schemas"]["TranscriptionAvailability"];
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something is wrong with the request: a rule of the contract, the recording, an id, or what the provider accepts. `code` and `detail` say what; `errors` name the places. */
            422: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:invalid-request",
                     *       "title": "The request breaks a rule of the contract",
                     *       "status": 422,
                     *       "detail": "model must NOT have fewer than 1 characters",
                     *       "code": "invalid-request",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "query",
                     *           "pointer": "/model",
                     *           "detail": "must NOT have fewer than 1 characters"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createTranscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["TranscriptionRequest"];
            };
        };
        responses: {
            /** @description The transcript. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transcription"];
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body did not arrive in time. */
            408: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:request-timeout",
                     *       "title": "The request did not arrive in time",
                     *       "status": 408,
                     *       "detail": "The body took more than 300 s.",
                     *       "code": "request-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body has another content type than the operation takes. */
            415: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unsupported-media-type",
                     *       "title": "The body has the wrong content type",
                     *       "status": 415,
                     *       "detail": "The body must not be text/plain.",
                     *       "code": "unsupported-media-type",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something is wrong with the request: a rule of the contract, the recording, an id, or what the provider accepts. `code` and `detail` say what; `errors` name the places. */
            422: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider's quota is exhausted, or its rate limit is reached. */
            429: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 60
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-quota-exhausted",
                     *       "title": "The provider's quota is exhausted",
                     *       "status": 429,
                     *       "detail": "The quota at the provider is used up.",
                     *       "code": "provider-quota-exhausted",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 60
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider failed, or could not be reached. */
            502: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-error",
                     *       "title": "The provider failed",
                     *       "status": 502,
                     *       "detail": "The provider failed.",
                     *       "code": "provider-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider or the engine did not answer in time. */
            504: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-timeout",
                     *       "title": "The provider did not answer in time",
                     *       "status": 504,
                     *       "detail": "The provider did not answer within 300 s.",
                     *       "code": "provider-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTranscriptionModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries, and which one is the default. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "local",
                     *           "name": "Whisper base",
                     *           "engine": "local",
                     *           "local": true,
                     *           "available": true,
                     *           "code": "ready",
                     *           "reason": "Ready."
                     *         }
                     *       ],
                     *       "default": "local"
                     *     }
                     */
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createSpeech: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SpeechRequest"];
            };
        };
        responses: {
            /** @description The audio. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    /** @description For the caller alone; proxies must not change it. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body did not arrive in time. */
            408: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:request-timeout",
                     *       "title": "The request did not arrive in time",
                     *       "status": 408,
                     *       "detail": "The body took more than 300 s.",
                     *       "code": "request-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body has another content type than the operation takes. */
            415: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unsupported-media-type",
                     *       "title": "The body has the wrong content type",
                     *       "status": 415,
                     *       "detail": "The body must not be text/plain.",
                     *       "code": "unsupported-media-type",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something is wrong with the request: a rule of the contract, the recording, an id, or what the provider accepts. `code` and `detail` say what; `errors` name the places. */
            422: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:invalid-request",
                     *       "title": "The request breaks a rule of the contract",
                     *       "status": 422,
                     *       "detail": "text must NOT have fewer than 1 characters",
                     *       "code": "invalid-request",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "body",
                     *           "pointer": "/text",
                     *           "detail": "must NOT have fewer than 1 characters"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider's quota is exhausted, or its rate limit is reached. */
            429: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 60
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-quota-exhausted",
                     *       "title": "The provider's quota is exhausted",
                     *       "status": 429,
                     *       "detail": "The quota at the provider is used up.",
                     *       "code": "provider-quota-exhausted",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 60
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider failed, or could not be reached. */
            502: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-error",
                     *       "title": "The provider failed",
                     *       "status": 502,
                     *       "detail": "The provider failed.",
                     *       "code": "provider-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider or the engine did not answer in time. */
            504: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:provider-timeout",
                     *       "title": "The provider did not answer in time",
                     *       "status": 504,
                     *       "detail": "The provider did not answer within 300 s.",
                     *       "code": "provider-timeout",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSpeechClip: {
        parameters: {
            query?: never;
            header?: {
                /** @description One range of bytes (RFC 9110). */
                Range?: string;
                /** @description The ETag for which `Range` is meant. */
                "If-Range"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request has succeeded. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    /** @description `bytes` once the clip is complete. */
                    "Accept-Ranges"?: string;
                    /** @description Once the clip is complete. */
                    ETag?: string;
                    /** @description Once the clip is complete. */
                    "Content-Length"?: string;
                    /** @description For the caller alone; proxies must not change it. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                };
            };
            /** @description Successful */
            206: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    /** @description `bytes` once the clip is complete. */
                    "Accept-Ranges"?: string;
                    /** @description Once the clip is complete. */
                    ETag?: string;
                    /** @description Once the clip is complete. */
                    "Content-Length"?: string;
                    /** @description For the caller alone; proxies must not change it. */
                    "Cache-Control"?: string;
                    /** @description The part that follows, as `bytes first-last` and `/length`. */
                    "Content-Range": string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is nothing at this address, or no longer. */
            404: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:clip-not-found",
                     *       "title": "There is no such clip, or no longer",
                     *       "status": 404,
                     *       "detail": "There is no such clip, or no longer.",
                     *       "code": "clip-not-found",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The range lies outside of the clip. */
            416: {
                headers: {
                    /**
                     * @description The length of the whole, as `bytes *` and `/length`.
                     * @example bytes *\/24000
                     */
                    "Content-Range": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:range-not-satisfiable",
                     *       "title": "The range lies outside of the clip",
                     *       "status": 416,
                     *       "detail": "The clip has 24000 bytes.",
                     *       "code": "range-not-satisfiable",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something is wrong with the request: a rule of the contract, the recording, an id, or what the provider accepts. `code` and `detail` say what; `errors` name the places. */
            422: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:invalid-request",
                     *       "title": "The request breaks a rule of the contract",
                     *       "status": 422,
                     *       "detail": "id must NOT have more than 128 characters",
                     *       "code": "invalid-request",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "path",
                     *           "pointer": "/id",
                     *           "detail": "must NOT have more than 128 characters"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSpeechModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries, and which one is the default. */
            200: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "espeak",
                     *           "name": "eSpeak NG",
                     *           "engine": "espeak",
                     *           "local": true,
                     *           "available": true,
                     *           "code": "ready",
                     *           "reason": "Ready.",
                     *           "voices": [
                     *             {
                     *               "id": "en",
                     *               "name": "English",
                     *               "language": "en"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "default": "espeak"
                     *     }
                     */
                    "application/json": components["schemas"]["SpeechModelList"];
                };
            };
            /** @description The bearer token is missing or is not one of the service's. */
            401: {
                headers: {
                    /**
                     * @description The scheme to authenticate with (RFC 6750).
                     * @example Bearer
                     */
                    "WWW-Authenticate": string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:unauthorized",
                     *       "title": "A valid bearer token is needed",
                     *       "status": 401,
                     *       "detail": "Send one of the service’s tokens as `Authorization: Bearer …`.",
                     *       "code": "unauthorized",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Open mode (no API keys) refuses a Host or an Origin that is not its own. */
            403: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:origin-not-allowed",
                     *       "title": "Pages of this origin may not use the service",
                     *       "status": 403,
                     *       "detail": "Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.",
                     *       "code": "origin-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This path knows other methods. */
            405: {
                headers: {
                    /**
                     * @description The methods that this path knows.
                     * @example GET, HEAD, POST
                     */
                    Allow: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:method-not-allowed",
                     *       "title": "This address knows other methods",
                     *       "status": 405,
                     *       "detail": "This address does not know DELETE.",
                     *       "code": "method-not-allowed",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or its engine failed; the operator finds the cause under the request id. */
            500: {
                headers: {
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:internal-error",
                     *       "title": "The service failed",
                     *       "status": 500,
                     *       "detail": "Something went wrong in the service. Its log has the cause under the id of this request.",
                     *       "code": "internal-error",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It cannot be done now: switched off, nothing is configured, still being prepared, overloaded, or shutting down. */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait before the next try, where known.
                     * @example 1
                     */
                    "Retry-After"?: string;
                    /** @description The id of the request; the operator finds it in the log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:overloaded",
                     *       "title": "The service is at its limit",
                     *       "status": 503,
                     *       "detail": "All places are taken; try again.",
                     *       "code": "overloaded",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 1
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
