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
         * Create a chat answer
         * @description Generates the next assistant message from the full history and returns it as one response. Tool calls run
         *     internally and are not returned; the `Link` header lists clips created by `read_aloud`.
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
         * Create a chat answer as an event stream
         * @description Runs the same chat as `POST /chat` and streams it as server-sent events. A failure before the provider's first
         *     event, within 5 s, is returned as an HTTP status; a later one is the event `chat.failed`. A disconnect
         *     cancels the run; streams cannot be resumed.
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
         * @description Lists the models that a chat can select.
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
    "/preparations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the preparations
         * @description Lists the components that can be installed on this machine, with their state and progress. In a fleet, the list
         *     covers only this node.
         */
        get: operations["listPreparations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preparations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a preparation
         * @description Starts a preparation. One runs at a time, and a partial download is resumed. If this one is already in progress,
         *     the response is its state. Without API keys, only clients on this machine may start one, and of web pages, only the
         *     service's own. With API keys, only a key that lists this operation in the keys file may.
         */
        post: operations["startPreparation"];
        /**
         * Stop a preparation
         * @description Stops a preparation that is in progress in this service. Nothing is removed: a later start resumes it. Requires the
         *     same permission as starting it.
         */
        delete: operations["stopPreparation"];
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
         * Check whether transcription is available
         * @description Checks whether transcription is available, without a recording and free of charge. The result depends on the
         *     model. A frontend checks once on load and hides its microphone if `available` is false. An unknown model is
         *     not an error: the result has the code `unknown-model`.
         */
        get: operations["getTranscriptionAvailability"];
        put?: never;
        /**
         * Transcribe a recording
         * @description Transcribes a recording. Without `language`, the model detects it. Silence is a success with `text: ""`.
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
         * @description Lists the models that a transcription can select.
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
    "/transcribe/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Transcribe a recording as an event stream
         * @description Transcribes a recording like `POST /transcribe` and streams server-sent events: the queue position, and segments
         *     and progress if the model reports them early (a model that does not support `segment` reports no segments). A
         *     failure before the second event, within 5 s, is returned as an HTTP status; a later one is the event
         *     `transcription.failed`. A disconnect cancels the transcription; streams cannot be resumed.
         */
        post: operations["streamTranscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a transcription of a long recording
         * @description Accepts a long recording and transcribes it in parts, taking turns with other callers. The response is
         *     sent once the recording is stored. An accepted transcription survives a disconnect, a crash and a restart. The
         *     recording is deleted when the transcription ends, everything else at `expires_at`.
         */
        post: operations["createTranscriptionJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transcriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch the state of a transcription
         * @description Returns the state of a transcription. With `Prefer: wait=N`, waits up to N seconds for its end.
         */
        get: operations["getTranscriptionJob"];
        put?: never;
        post?: never;
        /**
         * Delete a transcription
         * @description Cancels the transcription and deletes the recording and the result.
         */
        delete: operations["deleteTranscriptionJob"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transcriptions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a transcription as an event stream
         * @description Streams the events of a transcription, like `POST /transcribe/stream` but without `transcription.queued`: each part
         *     waits in the queue, and `ahead` of the transcription has its position. `Last-Event-ID` resumes the stream after
         *     that event. A disconnect does not cancel the transcription. A shutdown ends the stream without a last event: resume
         *     it.
         */
        get: operations["streamTranscriptionJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transcriptions/{id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch the transcript of a transcription
         * @description Returns the transcript so far. `status` of the transcription says whether it is complete. With speakers, `text` has
         *     a line such as `A: Good morning.` for each turn, and the cues of `srt` and `vtt` begin with `A: ` and `<v A>`,
         *     respectively.
         */
        get: operations["getTranscriptionJobTranscript"];
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
         * Convert text to speech
         * @description Converts text to speech. The audio is streamed: the first bytes arrive while the rest is still being synthesized.
         */
        post: operations["createSpeech"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tts/clips": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a clip of a text
         * @description Converts text to a clip with its own URL, for an `<audio>` element. The response is sent with the first bytes, and
         *     the clip can be played while the rest is still being synthesized. An incomplete clip is deleted if no one reads it
         *     for 15 s, a complete one 10 minutes after its last reader.
         */
        post: operations["createSpeechClip"];
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
         * @description Returns the audio of a clip that `POST /tts/clips` or, in a chat, `read_aloud` created. A clip is short-lived, and
         *     can be played while it is still being synthesized. It needs no API key, so that an `<audio>` element can fetch it:
         *     the unguessable id grants access.
         */
        get: operations["getSpeechClip"];
        put?: never;
        post?: never;
        /**
         * Delete a clip
         * @description Deletes a clip, complete or not, and cancels its synthesis and the transfers of its readers. It needs no API key:
         *     the unguessable id grants access.
         */
        delete: operations["deleteSpeechClip"];
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
         * @description Lists the models for `tts_model` in a chat and for `model` in a speech request, with their voices.
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
        /** @description A clip, playable immediately, even while it is still being synthesized. */
        Audio: {
            id: string;
            /** @description URL of the audio. It needs no API key: the URL itself grants access. */
            url: string;
            content_type: string;
        };
        /**
         * @description A tool call created audio. Clips of parallel calls are announced in the order of the model's calls: a clip waits
         *     until every earlier `read_aloud` of its step has announced its clip or failed.
         */
        AudioCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "audio.created";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The step of the agent loop, starting at 0.
             */
            step: number;
            id: string;
            audio: components["schemas"]["Audio"];
        };
        /**
         * @description Machine-readable availability. New codes may be added: fall back to `available` for an unknown one.
         * @enum {string}
         */
        AvailabilityCode: "ready" | "disabled" | "unknown-model" | "no-model" | "program-missing" | "model-file-missing" | "key-missing" | "key-refused" | "upstream-unreachable" | "preparing" | "busy" | "loading" | "engine-failed";
        /**
         * @description The capability of an engine.
         * @enum {string}
         */
        Capability: "transcription" | "chat" | "speech";
        /**
         * @description Whether the channels of a recording are transcribed as one, or each as one speaker.
         * @enum {string}
         */
        ChannelMode: "mixed" | "separate";
        /** @description The last event of a successful run. */
        ChatCompleted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "chat.completed";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /** @description The response that the non-streaming operation would return. */
            result: components["schemas"]["ChatResult"];
        };
        /**
         * @description An event of a chat stream. The last event is always `chat.completed` or `chat.failed`. Ignore unknown types.
         * @example {
         *       "type": "chat.completed",
         *       "seq": 3,
         *       "result": {
         *         "content": "Paris.",
         *         "model": "llama3.2",
         *         "finish_reason": "stop",
         *         "reasoning": null,
         *         "usage": {
         *           "prompt_tokens": 14,
         *           "completion_tokens": 3,
         *           "total_tokens": 17,
         *           "reasoning_tokens": 0
         *         }
         *       }
         *     }
         * @example {
         *       "type": "content.delta",
         *       "seq": 2,
         *       "step": 0,
         *       "delta": "Paris."
         *     }
         * @example {
         *       "type": "step.started",
         *       "seq": 1,
         *       "step": 0
         *     }
         * @example {
         *       "type": "chat.started",
         *       "seq": 0,
         *       "id": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
         *       "model": "llama3.2"
         *     }
         */
        ChatEvent: components["schemas"]["ChatStarted"] | components["schemas"]["StepStarted"] | components["schemas"]["ReasoningDelta"] | components["schemas"]["ContentDelta"] | components["schemas"]["ToolStarted"] | components["schemas"]["ToolProgress"] | components["schemas"]["AudioCreated"] | components["schemas"]["ToolFinished"] | components["schemas"]["ChatCompleted"] | components["schemas"]["ChatFailed"];
        /** @description The last event of a failed run. */
        ChatFailed: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "chat.failed";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            problem: components["schemas"]["Problem"];
        };
        /**
         * @description A conversation, and how to answer it.
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
            /** @description The full conversation history in order, 1 to 100 messages. */
            messages: components["schemas"]["Message"][];
            /** @description An id from `GET /models`. null means the configured default. */
            model?: components["schemas"]["ModelId"] | null;
            /** @description 0 to 2; lower is more predictable. null means the default. */
            temperature?: components["schemas"]["Temperature"] | null;
            /** @description 1 to 32000. Maximum number of generated tokens, reasoning included. null means the default. */
            max_tokens?: components["schemas"]["MaxTokens"] | null;
            /** @description Nucleus sampling, greater than 0 and up to 1. null means the default. */
            top_p?: components["schemas"]["TopP"] | null;
            /** @description The voice of `read_aloud`. null means the configured default. The model cannot choose it. */
            voice_id?: components["schemas"]["VoiceId"] | null;
            /** @description The speech model of `read_aloud`: an id from `GET /tts/models`. null means the configured default. */
            tts_model?: components["schemas"]["ModelId"] | null;
        };
        /**
         * @description The answer to a conversation.
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
            /** @description The text of the answer. */
            content: string;
            /** @description The model that generated the answer. */
            model: string;
            finish_reason: components["schemas"]["FinishReason"];
            /** @description The reasoning text of a reasoning model; otherwise null. */
            reasoning: string | null;
            /** @description null if the provider does not report it. */
            usage: components["schemas"]["Usage"] | null;
        };
        /** @description The first event of a chat stream. */
        ChatStarted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "chat.started";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /** @description The id of this run. */
            id: string;
            /** @description The model that generates the answer. */
            model: string;
        };
        /**
         * @description A piece of the answer text. The deltas of the last step concatenate to `content` of the result. If a model marks only
         *     the end of its reasoning, that reasoning was already sent as content, and `content` is only the end of the
         *     concatenated deltas.
         */
        ContentDelta: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "content.delta";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The step of the agent loop, starting at 0.
             */
            step: number;
            delta: string;
        };
        /**
         * @description An optional feature of a model. New ones may be added: ignore unknown ones.
         * @enum {string}
         */
        Feature: "prompt" | "temperature" | "segment" | "word" | "keywords" | "languages" | "translate" | "diarize" | "speed" | "instructions" | "tools" | "json" | "images";
        /**
         * @description Why generation ended: a normal end, the token limit (or the step limit), or the provider's content filter.
         * @enum {string}
         */
        FinishReason: "stop" | "length" | "content_filter";
        /**
         * @description A form has no booleans.
         * @enum {string}
         */
        FormFlag: "true" | "false";
        /**
         * Format: int32
         * @description A number of tokens, 1 to 32000.
         */
        MaxTokens: number;
        /** @description A message of a conversation. */
        Message: {
            /** @description Who the message is from. */
            role: components["schemas"]["MessageRole"];
            /** @description The text of the message, 1 to 32000 characters (code points). */
            content: string;
        };
        /**
         * @description Who a message is from. `system` messages instruct the model.
         * @enum {string}
         */
        MessageRole: "system" | "user" | "assistant";
        /** @description An entry of a model list. */
        ModelEntry: {
            /** @description Valid for the `model` field of requests. */
            id: components["schemas"]["ModelId"];
            /** @description Display name. */
            name: string;
            /** @description Name of the engine instance in the settings. */
            engine: string;
            /**
             * @description true: request data never leaves the machine, or the operator's fleet if one is configured. false: it is sent to
             *     another machine, such as that of a hosted provider, or the service does not know yet whether it is.
             */
            local: boolean;
            /** @description Whether the model can be used. Stays true during temporary conditions that resolve by themselves. */
            available: boolean;
            code: components["schemas"]["AvailabilityCode"];
            /** @description Human-readable explanation of `code`. */
            reason: string;
            /** @description Only with the code `preparing`: progress of the installation, from 0 to 1; null if unknown. */
            progress?: number | null;
            /** @description Optional features of the model; may be empty. */
            supports: components["schemas"]["Feature"][];
            /**
             * @description Transcription models: the languages that a request may name (ISO 639-1, `haw` and `yue`); empty if it may name
             *     none. Absent if they are not known.
             */
            languages?: string[];
        };
        /** @description A model id from one of the model lists. */
        ModelId: string;
        /** @description The models that requests can select; may be empty. */
        ModelList: {
            data: components["schemas"]["ModelEntry"][];
            /** @description The model used if a request has no `model`; null if there is none. */
            default: components["schemas"]["ModelId"] | null;
            /**
             * @description Why engines list no models, for example because a provider rejected the API key, and how to fix it. Absent if every
             *     engine has listed its models.
             */
            reason?: string;
        };
        /** @description A component that can be installed on this machine: a program, a runtime, a model, or a group of them. */
        Preparation: {
            /**
             * @description Also its name in `command`.
             * @example voice
             */
            id: string;
            /** @description Display name, for people. */
            title: string;
            /** @description A short sentence that says what it is good for; empty if the engine has none. */
            purpose: string;
            /** @description The capability that the component is for. */
            capability: components["schemas"]["Capability"];
            /** @description true: required by the models of the settings. false: an additional model or voice. */
            configured: boolean;
            /**
             * @description Id of its model in requests, once it is installed; null if it has none or several, or if the settings have to list
             *     the model first.
             */
            model: string | null;
            /** @description Size of the download in bytes; null if unknown. */
            bytes: number | null;
            /** @description Estimated memory of the loaded model in bytes; null if unknown. */
            memory_bytes: number | null;
            /** @description License of the download, such as `MIT`. */
            license: string;
            state: components["schemas"]["PreparationState"];
            /** @description While `preparing`: progress of the current step, from 0 to 1; null if unknown, and in other states. */
            progress: number | null;
            /** @description Human-readable explanation of `state`: the current step, or why it failed. */
            reason: string;
            /** @description The equivalent command for a terminal on this machine. */
            command: string;
        };
        /** @description The components that can be installed; may be empty. */
        PreparationList: {
            data: components["schemas"]["Preparation"][];
            /**
             * Format: int64
             * @description Memory that models may use on this machine, in bytes.
             */
            memory_bytes: number;
            /** @description Whether this caller may start and stop preparations. */
            startable: boolean;
            /** @description Human-readable explanation of `startable`. */
            reason: string;
        };
        /**
         * @description Whether a component is installed.
         * @enum {string}
         */
        PreparationState: "ready" | "preparing" | "missing" | "failed";
        /**
         * @description Problem details (RFC 9457).
         * @example {
         *       "type": "urn:parlance:problem:invalid-request",
         *       "title": "Invalid request",
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
            /** @description Stable URN of the problem type: `urn:parlance:problem:` followed by the code. */
            type: string;
            /** @description Human-readable summary; the same for every occurrence of a code. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description Explains this occurrence of the problem and how to fix it. */
            detail: string;
            code: components["schemas"]["ProblemCode"];
            /** @description The request id, as in `X-Request-Id`. Quote it when you contact the operator. */
            instance: string;
            /**
             * Format: int32
             * @description Seconds to wait before a retry, as in the `Retry-After` header, which an event of a stream cannot have.
             */
            retry_after?: number;
            /**
             * @description The limits of the API key that the request violates, as named in `RateLimit-Policy`.
             * @example [
             *       "requests"
             *     ]
             */
            violated_policies?: string[];
            /** @description The violations, at most 100; for bodies over 64 KB, only the first one. */
            errors?: components["schemas"]["Violation"][];
        };
        /**
         * @description Machine-readable problem code. New codes may be added: fall back to the status for an unknown one.
         * @enum {string}
         */
        ProblemCode: "invalid-request" | "malformed-body" | "body-too-large" | "recording-empty" | "recording-too-large" | "recording-too-long" | "recording-not-accepted" | "recording-undecodable" | "unknown-model" | "language-not-supported" | "voice-not-supported" | "format-not-supported" | "parameter-not-supported" | "context-length-exceeded" | "content-rejected" | "provider-rejected-request" | "unsupported-media-type" | "unauthorized" | "host-not-allowed" | "origin-not-allowed" | "operation-not-allowed" | "model-not-allowed" | "preparation-not-allowed" | "not-found" | "clip-not-found" | "transcription-not-found" | "transcript-not-ready" | "preparation-not-found" | "preparation-in-progress" | "method-not-allowed" | "malformed-request" | "request-timeout" | "expectation-failed" | "headers-too-large" | "upgrade-required" | "range-not-satisfiable" | "rate-limited" | "concurrency-limited" | "quota-exceeded" | "provider-quota-exhausted" | "provider-rate-limited" | "internal-error" | "engine-failed" | "provider-auth-failed" | "provider-misconfigured" | "provider-unreachable" | "provider-error" | "provider-bad-response" | "transcription-disabled" | "no-engine" | "model-unavailable" | "overloaded" | "storage-full" | "shutting-down" | "not-ready" | "provider-overloaded" | "engine-timeout" | "provider-timeout";
        /**
         * @description A piece of the reasoning text. The deltas concatenate to `reasoning` of the result, with an empty line between those
         *     of different steps.
         */
        ReasoningDelta: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reasoning.delta";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The step of the agent loop, starting at 0.
             */
            step: number;
            delta: string;
        };
        /**
         * @description A part of an HTTP request.
         * @enum {string}
         */
        RequestPart: "body" | "query" | "path" | "header";
        /**
         * @description The next segment of the transcript, regardless of `timestamps`. If they differ, the `segments` of the result take
         *     precedence.
         */
        SegmentCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "segment.created";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            segment: components["schemas"]["TimedText"];
        };
        /** @description A speaker of a recording. */
        Speaker: {
            /** @description A known name, or a letter: `A`, `B` and so on, in the order in which the speakers first appear. */
            speaker: string;
            /**
             * Format: int64
             * @description The total duration of the speaker's turns.
             */
            speech_ms: number;
        };
        /** @description The uninterrupted speech of one speaker, in milliseconds from the start of the recording. */
        SpeakerTurn: {
            speaker: string;
            /** Format: int64 */
            start_ms: number;
            /**
             * Format: int64
             * @description At least `start_ms`.
             */
            end_ms: number;
            text: string;
        };
        /**
         * @description mp3, wav, ogg (Vorbis), opus (in ogg), flac, aac (ADTS) or pcm (16-bit little-endian samples at 24,000 Hz, mono, no
         *     header). opus, flac and aac need ffmpeg on the server, unless the provider of the model supports them.
         * @enum {string}
         */
        SpeechFormat: "mp3" | "wav" | "ogg" | "opus" | "flac" | "aac" | "pcm";
        /** @description An entry of the list of speech models. */
        SpeechModelEntry: {
            /** @description Valid for the `model` field of requests. */
            id: components["schemas"]["ModelId"];
            /** @description Display name. */
            name: string;
            /** @description Name of the engine instance in the settings. */
            engine: string;
            /**
             * @description true: request data never leaves the machine, or the operator's fleet if one is configured. false: it is sent to
             *     another machine, such as that of a hosted provider, or the service does not know yet whether it is.
             */
            local: boolean;
            /** @description Whether the model can be used. Stays true during temporary conditions that resolve by themselves. */
            available: boolean;
            code: components["schemas"]["AvailabilityCode"];
            /** @description Human-readable explanation of `code`. */
            reason: string;
            /** @description Only with the code `preparing`: progress of the installation, from 0 to 1; null if unknown. */
            progress?: number | null;
            /** @description Optional features of the model; may be empty. */
            supports: components["schemas"]["Feature"][];
            /**
             * @description Transcription models: the languages that a request may name (ISO 639-1, `haw` and `yue`); empty if it may name
             *     none. Absent if they are not known.
             */
            languages?: string[];
            /** @description Empty if the engine does not list its voices. */
            voices: components["schemas"]["Voice"][];
            /** @description The voice used if a request has no voice; null if unknown. In a chat, the language of the text may select another. */
            default_voice: string | null;
        };
        /** @description The speech models that requests can select; may be empty. */
        SpeechModelList: {
            data: components["schemas"]["SpeechModelEntry"][];
            /** @description The model used if a request has no `model`; null if there is none. */
            default: components["schemas"]["ModelId"] | null;
            /** @description Why engines list no models, as in `GET /models`. */
            reason?: string;
        };
        /**
         * @description A text to speak.
         * @example {
         *       "text": "Good morning.",
         *       "format": "mp3"
         *     }
         */
        SpeechRequest: {
            /** @description The text to speak, 1 to 32000 characters (code points). */
            text: string;
            /** @description An id from `GET /tts/models`. null means the configured default. */
            model?: components["schemas"]["ModelId"] | null;
            /** @description A voice of the model. null means the configured default. */
            voice_id?: components["schemas"]["VoiceId"] | null;
            /** @description The format of the audio. null means mp3. */
            format?: components["schemas"]["SpeechFormat"] | null;
            /**
             * @description true: speaks only the words of the text, without the markup of Markdown, HTML and LaTeX, code blocks, reasoning,
             *     URLs and emoji; 100 ms of silence if nothing remains. false: speaks the text as is. Default: true, except in the sandbox.
             */
            speakable?: boolean;
        };
        /** @description A step of the agent loop starts. */
        StepStarted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.started";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The step of the agent loop, starting at 0.
             */
            step: number;
        };
        /**
         * Format: double
         * @description How predictable the answer is: 0 to 2; lower is more predictable.
         */
        Temperature: number;
        /** @description A part of a transcript, in milliseconds from the start of the recording. */
        TimedText: {
            /** Format: int64 */
            start_ms: number;
            /**
             * Format: int64
             * @description At least `start_ms`.
             */
            end_ms: number;
            text: string;
            /** @description Only in a transcription with speakers. */
            speaker?: string;
        };
        /**
         * @description What has timestamps in the result: nothing, segments, or segments and words.
         * @enum {string}
         */
        TimestampGranularity: "none" | "segment" | "word";
        /**
         * @description A tool call finished. Sent in order of completion, but always after the `audio.created` of the same call. The next
         *     step starts when all tool calls of this step have finished.
         */
        ToolFinished: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.finished";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The step of the agent loop, starting at 0.
             */
            step: number;
            id: string;
            name: string;
            ok: boolean;
            /** @description The output passed to the model, truncated if it is long. */
            output?: string;
            error?: string;
            /** Format: int64 */
            duration_ms: number;
        };
        /** @description Progress of a running tool call. */
        ToolProgress: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.progress";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The step of the agent loop, starting at 0.
             */
            step: number;
            id: string;
            /** Format: double */
            progress: number;
            /** Format: double */
            total?: number;
            message?: string;
        };
        /** @description A tool call starts. Sent in the order of the model's calls. */
        ToolStarted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.started";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The step of the agent loop, starting at 0.
             */
            step: number;
            /** @description Id of the tool call, unique within the run. */
            id: string;
            name: string;
            arguments: {
                [key: string]: unknown;
            };
        };
        /**
         * Format: double
         * @description Nucleus sampling, greater than 0 and up to 1: the model chooses among the most likely tokens with this total
         *     probability.
         */
        TopP: number;
        /**
         * @description Formats of `GET /transcriptions/{id}/transcript`.
         * @enum {string}
         */
        TranscriptFormat: "text" | "srt" | "vtt" | "json";
        /** @description The transcript of a recording. */
        Transcription: {
            /** @description The transcript as one string; "" for silence. */
            text: string;
            /** @description The detected language (ISO 639-1), not the requested one; null if the model does not report it. */
            language: string | null;
            /**
             * Format: int64
             * @description Duration of the recording in milliseconds, if known.
             */
            duration_ms?: number;
            /** @description The id of the model that generated the transcript. */
            model: string;
            /** @description Only with `timestamps` `segment` or `word`, in order of `start_ms`; [] for silence. */
            segments?: components["schemas"]["TimedText"][];
            /** @description Only with `timestamps` `word`, in order of `start_ms`; [] for silence. */
            words?: components["schemas"]["TimedText"][];
            /**
             * @description Only with `diarize` or with `channels` `separate`, in order of `start_ms`; [] for silence. Turns of different channels
             *     may overlap.
             */
            turns?: components["schemas"]["SpeakerTurn"][];
            /** @description The speakers of the turns. */
            speakers?: components["schemas"]["Speaker"][];
        };
        /** @description Whether transcription can be used, and why not. */
        TranscriptionAvailability: {
            /** @description Whether transcription can be used. If false, hide the microphone. */
            available: boolean;
            code: components["schemas"]["AvailabilityCode"];
            /** @description Human-readable explanation of `code`. */
            reason: string;
            /** @description Only with the code `preparing`: progress of the installation, from 0 to 1; null if unknown. */
            progress?: number | null;
            /** @description The model that was checked; "" if there is none. */
            model: string;
        };
        /** @description The last event of a successful transcription. */
        TranscriptionCompleted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "transcription.completed";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /** @description The response that the non-streaming operation would return. */
            result: components["schemas"]["Transcription"];
        };
        /**
         * @description An event of a transcription stream. The last event is always `transcription.completed` or `transcription.failed`.
         *     Ignore unknown types.
         * @example {
         *       "type": "transcription.completed",
         *       "seq": 3,
         *       "result": {
         *         "text": "Guten Morgen.",
         *         "language": "de",
         *         "duration_ms": 1840,
         *         "model": "local"
         *       }
         *     }
         * @example {
         *       "type": "transcription.progress",
         *       "seq": 2,
         *       "processed_ms": 1840,
         *       "duration_ms": 1840
         *     }
         * @example {
         *       "type": "segment.created",
         *       "seq": 1,
         *       "segment": {
         *         "start_ms": 120,
         *         "end_ms": 1610,
         *         "text": "Guten Morgen."
         *       }
         *     }
         * @example {
         *       "type": "transcription.started",
         *       "seq": 0,
         *       "id": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
         *       "model": "local"
         *     }
         */
        TranscriptionEvent: components["schemas"]["TranscriptionStarted"] | components["schemas"]["TranscriptionQueued"] | components["schemas"]["SegmentCreated"] | components["schemas"]["TranscriptionProgress"] | components["schemas"]["TranscriptionCompleted"] | components["schemas"]["TranscriptionFailed"];
        /** @description The last event of a failed transcription. */
        TranscriptionFailed: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "transcription.failed";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            problem: components["schemas"]["Problem"];
        };
        /** @description A transcription that does not depend on a connection and survives a restart of the service. */
        TranscriptionJob: {
            /** @description Unguessable. With API keys, only the key that created it may use it. */
            id: string;
            status: components["schemas"]["TranscriptionJobStatus"];
            /** @description The id of the model. */
            model: string;
            /** Format: date-time */
            created_at: string;
            /** @description When the transcription is deleted: TRANSCRIBE_JOB_KEEP (an hour) after its end; null until then. */
            expires_at: string | null;
            /**
             * Format: int64
             * @description The number of recordings ahead of the next part of this one; 0: it is next, running or finished.
             */
            ahead: number;
            /**
             * Format: int64
             * @description Milliseconds of the recording that have been transcribed.
             */
            processed_ms: number;
            /** @description Duration of the recording in milliseconds; null until it has been decoded. */
            duration_ms: number | null;
            /** @description The segments of the transcribed parts, with the granularity of the model; [] for silence. */
            segments: components["schemas"]["TimedText"][];
            /** @description The response of `POST /transcribe`; null until `completed`. */
            result: components["schemas"]["Transcription"] | null;
            /** @description The reason, with the position in minutes, if it `failed`; otherwise null. */
            problem: components["schemas"]["Problem"] | null;
        };
        /** @description A long recording to transcribe, and how. */
        TranscriptionJobRequest: {
            /**
             * Format: binary
             * @description The recording, up to TRANSCRIBE_JOB_MAX_MB (500) and TRANSCRIBE_JOB_MAX_SECONDS (four hours) of audio.
             */
            file: string;
            /**
             * @description An id from `GET /transcribe/models`. Absent or empty: the server's default (TRANSCRIBE_MODEL). Models with
             *     `local: true` keep the recording on the machine, or on the operator's fleet if one is configured; all others send it
             *     to another machine, such as that of a hosted provider.
             */
            model?: string;
            /**
             * @description The spoken language (ISO 639-1, two letters such as `de` or `en`; also `haw` and `yue`, which have no such code).
             *     Usually not needed. Skips language detection.
             */
            language?: string;
            /**
             * @description `translate` returns an English transcript; `language` of the result is still the spoken language. The model must
             *     list `translate` in `supports`, otherwise the response is 422 `parameter-not-supported`. Absent or empty:
             *     `transcribe`.
             */
            task?: components["schemas"]["TranscriptionTask"];
            /**
             * @description Names and terms that may occur, separated by commas. The model must list `keywords` or `prompt` in `supports`,
             *     otherwise the response is 422 `parameter-not-supported`.
             */
            keywords?: string;
            /**
             * @description `segment` adds `segments` to the result, `word` adds `segments` and `words`. Absent or empty: `none`. The model
             *     must list it in `supports`, otherwise the response is 422 `parameter-not-supported`, before the recording is read
             *     if this field and `model` precede `file`.
             */
            timestamps?: components["schemas"]["TimestampGranularity"];
            /**
             * @description `separate` transcribes each channel of a stereo recording, such as one of a telephone system, and adds `turns` and
             *     `speakers` to the result: the first channel is speaker `A`, the second is `B`. A recording without exactly two
             *     channels, or with the same sound on both, is rejected. The model must list `segment` in `supports`. Budgets count
             *     each channel that is not silent. `diarize` then has no effect. Absent or empty: `mixed`.
             */
            channels?: components["schemas"]["ChannelMode"];
            /**
             * @description `true` distinguishes the speakers of the recording, and adds `turns` and `speakers` to the result. The model must list
             *     `diarize` in `supports`, otherwise the response is 422 `parameter-not-supported`, before the recording is read if this
             *     field and `model` precede `file`. Absent or empty: `false`.
             */
            diarize?: components["schemas"]["FormFlag"];
            /**
             * @description Minimum number of speakers, 1 to 32; the same as `max_speakers` for an exact number. Implies `diarize`. Models that
             *     distinguish speakers by themselves accept neither.
             */
            min_speakers?: string;
            /** @description Maximum number of speakers, 1 to 32. Implies `diarize`. */
            max_speakers?: string;
            /**
             * @description Names of at most 4 speakers, of at most 64 characters each and without control characters, one for each of
             *     `known_speaker_references`. A speaker whose voice is near enough to a reference has its name instead of a letter. Implies
             *     `diarize`; not possible with `channels` `separate`.
             */
            known_speaker_names?: string[];
            /**
             * @description A recording of each of these speakers, 1 to 30 seconds long, as a file of at most 1 MB (1000000 bytes). Deleted with
             *     the request, or when the job ends.
             */
            known_speaker_references?: string[];
        };
        /**
         * @description The state of a transcription.
         * @enum {string}
         */
        TranscriptionJobStatus: "queued" | "running" | "completed" | "failed";
        /** @description Progress of the transcription. Never decreases. A slow reader receives only the latest. */
        TranscriptionProgress: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "transcription.progress";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description Milliseconds of the recording that have been transcribed.
             */
            processed_ms: number;
            /**
             * Format: int64
             * @description Duration of the recording in milliseconds, if already known.
             */
            duration_ms?: number;
        };
        /**
         * @description The recording waits in the queue of its model. Sent after `transcription.started` when it starts to wait and whenever
         *     `ahead` changes, before any segment or progress. A slow reader receives only the latest. The wait ends with
         *     `transcription.progress` with `processed_ms: 0`.
         */
        TranscriptionQueued: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "transcription.queued";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description The number of recordings ahead of this one; 0: it is next. It may increase, because callers take turns.
             */
            ahead: number;
        };
        /** @description A recording to transcribe, and how. */
        TranscriptionRequest: {
            /**
             * Format: binary
             * @description The recording, 1 byte to 25 MB (26214400 bytes); `POST /transcriptions` takes larger ones. No client-side
             *     conversion is needed.
             */
            file: string;
            /**
             * @description An id from `GET /transcribe/models`. Absent or empty: the server's default (TRANSCRIBE_MODEL). Models with
             *     `local: true` keep the recording on the machine, or on the operator's fleet if one is configured; all others send it
             *     to another machine, such as that of a hosted provider.
             */
            model?: string;
            /**
             * @description The spoken language (ISO 639-1, two letters such as `de` or `en`; also `haw` and `yue`, which have no such code).
             *     Usually not needed. Skips language detection.
             */
            language?: string;
            /**
             * @description `translate` returns an English transcript; `language` of the result is still the spoken language. The model must
             *     list `translate` in `supports`, otherwise the response is 422 `parameter-not-supported`. Absent or empty:
             *     `transcribe`.
             */
            task?: components["schemas"]["TranscriptionTask"];
            /**
             * @description Names and terms that may occur, separated by commas. The model must list `keywords` or `prompt` in `supports`,
             *     otherwise the response is 422 `parameter-not-supported`.
             */
            keywords?: string;
            /**
             * @description `segment` adds `segments` to the result, `word` adds `segments` and `words`. Absent or empty: `none`. The model
             *     must list it in `supports`, otherwise the response is 422 `parameter-not-supported`, before the recording is read
             *     if this field and `model` precede `file`.
             */
            timestamps?: components["schemas"]["TimestampGranularity"];
            /**
             * @description `separate` transcribes each channel of a stereo recording, such as one of a telephone system, and adds `turns` and
             *     `speakers` to the result: the first channel is speaker `A`, the second is `B`. A recording without exactly two
             *     channels, or with the same sound on both, is rejected. The model must list `segment` in `supports`. Budgets count
             *     each channel that is not silent. `diarize` then has no effect. Absent or empty: `mixed`.
             */
            channels?: components["schemas"]["ChannelMode"];
            /**
             * @description `true` distinguishes the speakers of the recording, and adds `turns` and `speakers` to the result. The model must list
             *     `diarize` in `supports`, otherwise the response is 422 `parameter-not-supported`, before the recording is read if this
             *     field and `model` precede `file`. Absent or empty: `false`.
             */
            diarize?: components["schemas"]["FormFlag"];
            /**
             * @description Minimum number of speakers, 1 to 32; the same as `max_speakers` for an exact number. Implies `diarize`. Models that
             *     distinguish speakers by themselves accept neither.
             */
            min_speakers?: string;
            /** @description Maximum number of speakers, 1 to 32. Implies `diarize`. */
            max_speakers?: string;
            /**
             * @description Names of at most 4 speakers, of at most 64 characters each and without control characters, one for each of
             *     `known_speaker_references`. A speaker whose voice is near enough to a reference has its name instead of a letter. Implies
             *     `diarize`; not possible with `channels` `separate`.
             */
            known_speaker_names?: string[];
            /**
             * @description A recording of each of these speakers, 1 to 30 seconds long, as a file of at most 1 MB (1000000 bytes). Deleted with
             *     the request, or when the job ends.
             */
            known_speaker_references?: string[];
        };
        /** @description The first event of a transcription stream. */
        TranscriptionStarted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "transcription.started";
            /**
             * Format: int64
             * @description Sequence number of the event in the stream: starts at 0, increments by 1.
             */
            seq: number;
            /** @description The id of this transcription. */
            id: string;
            /** @description The model that generates the transcript. */
            model: string;
        };
        /**
         * @description Whether the transcript is in the spoken language (`transcribe`) or in English (`translate`).
         * @enum {string}
         */
        TranscriptionTask: "transcribe" | "translate";
        /** @description Token usage, summed over all steps. */
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
        /** @description A rule of the contract that the request violates. */
        Violation: {
            /** @description The part of the request. */
            in: components["schemas"]["RequestPart"];
            /**
             * @description JSON Pointer (RFC 6901) within that part; "" is the part as a whole.
             * @example /messages/0/content
             */
            pointer: string;
            /**
             * @description The violated rule.
             * @example must not have fewer than 1 characters
             */
            detail: string;
        };
        /** @description A voice of a speech model. */
        Voice: {
            /** @description Valid for `voice_id`. */
            id: string;
            name: string;
            /** @description ISO 639-1; null if the voice speaks several languages, or one without such a code. */
            language: string | null;
        };
        /** @description A voice id of the speech model. */
        VoiceId: string;
    };
    responses: {
        /** @description The API key is missing or invalid. */
        Unauthorized: {
            headers: {
                /**
                 * @description The authentication scheme (RFC 6750).
                 * @example Bearer
                 */
                "WWW-Authenticate": string;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:unauthorized",
                 *       "title": "Missing or invalid API key",
                 *       "status": 401,
                 *       "detail": "Send an API key as \"Authorization: Bearer <key>\".",
                 *       "code": "unauthorized",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The API key may not use the operation or the model, or, without API keys (open mode), the Host or the Origin of the
         *     request is not allowed.
         */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:operation-not-allowed",
                 *       "title": "Operation not allowed for the API key",
                 *       "status": 403,
                 *       "detail": "The API key may not use createChat; ask the operator for it.",
                 *       "code": "operation-not-allowed",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The path does not support this method. */
        MethodNotAllowed: {
            headers: {
                /**
                 * @description The supported methods.
                 * @example GET, HEAD, POST
                 */
                Allow: string;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:method-not-allowed",
                 *       "title": "Method not allowed",
                 *       "status": 405,
                 *       "detail": "PUT is not supported; allowed: GET, HEAD, POST",
                 *       "code": "method-not-allowed",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request body did not arrive in time. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:request-timeout",
                 *       "title": "Request timeout",
                 *       "status": 408,
                 *       "detail": "The body did not arrive within 300 s.",
                 *       "code": "request-timeout",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The operation does not accept this content type. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:unsupported-media-type",
                 *       "title": "Unsupported content type",
                 *       "status": 415,
                 *       "detail": "Expected application/json, got text/plain.",
                 *       "code": "unsupported-media-type",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
         *     See `code` and `detail`; `errors` lists the fields.
         */
        InvalidChat: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:invalid-request",
                 *       "title": "Invalid request",
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
        /** @description A limit of the API key or of the provider is reached. */
        TooManyRequests: {
            headers: {
                /**
                 * @description Seconds to wait before a retry, if known.
                 * @example 1
                 */
                "Retry-After"?: string;
                /**
                 * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                 *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                 * @example "requests";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                /**
                 * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                 *     limits.
                 * @example "requests";r=0;t=1
                 */
                RateLimit?: string;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:rate-limited",
                 *       "title": "Rate limit reached",
                 *       "status": 429,
                 *       "detail": "The API key may send 60 requests in a minute; try again in 1 s.",
                 *       "code": "rate-limited",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                 *       "retry_after": 1,
                 *       "violated_policies": [
                 *         "requests"
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service or its engine failed. The log has the cause under the request id. */
        InternalServerError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:internal-error",
                 *       "title": "Internal error",
                 *       "status": 500,
                 *       "detail": "Unexpected error. The log has the cause under this request id.",
                 *       "code": "internal-error",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The provider failed or is unreachable. */
        BadGateway: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:provider-error",
                 *       "title": "Provider error",
                 *       "status": 502,
                 *       "detail": "The provider failed.",
                 *       "code": "provider-error",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description Unavailable, temporarily or by configuration: disabled, no engine configured, model being installed, overloaded, disk
         *     full, or shutting down.
         */
        ServiceUnavailable: {
            headers: {
                /**
                 * @description Seconds to wait before a retry, if known.
                 * @example 1
                 */
                "Retry-After"?: string;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:overloaded",
                 *       "title": "Service overloaded",
                 *       "status": 503,
                 *       "detail": "All slots are in use; try again later.",
                 *       "code": "overloaded",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                 *       "retry_after": 1
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The provider or the engine timed out. */
        GatewayTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:provider-timeout",
                 *       "title": "Provider timeout",
                 *       "status": 504,
                 *       "detail": "The provider did not respond within 300 s.",
                 *       "code": "provider-timeout",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The API key may not use the operation or the model, or, without API keys (open mode), the Host or the Origin of the
         *     request is not allowed.
         */
        ForbiddenPreparation: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:preparation-not-allowed",
                 *       "title": "Preparations not allowed",
                 *       "status": 403,
                 *       "detail": "Preparations are off (PREPARE=off).",
                 *       "code": "preparation-not-allowed",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The resource does not exist or has expired. */
        PreparationNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:preparation-not-found",
                 *       "title": "Unknown preparation",
                 *       "status": 404,
                 *       "detail": "No preparation \"piano\"; GET /preparations lists them.",
                 *       "code": "preparation-not-found",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
         *     See `code` and `detail`; `errors` lists the fields.
         */
        UnprocessableEntity: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:invalid-request",
                 *       "title": "Invalid request",
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
        /** @description The event stream of the transcription. */
        TranscriptionStream: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                 *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                 */
                "RateLimit-Policy"?: string;
                /**
                 * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                 *     limits.
                 */
                RateLimit?: string;
                [name: string]: unknown;
            };
            content: {
                "text/event-stream": components["schemas"]["TranscriptionEvent"];
            };
        };
        /** @description The resource does not exist or has expired. */
        TranscriptionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:transcription-not-found",
                 *       "title": "Transcription not found or expired",
                 *       "status": 404,
                 *       "detail": "No transcription Vb1yPz4mQ0iYxkq3o9TtWw: it does not exist or has expired.",
                 *       "code": "transcription-not-found",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
         *     See `code` and `detail`; `errors` lists the fields.
         */
        InvalidSpeech: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:invalid-request",
                 *       "title": "Invalid request",
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
        /** @description The resource does not exist or has expired. */
        ClipNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:parlance:problem:clip-not-found",
                 *       "title": "Clip not found or expired",
                 *       "status": 404,
                 *       "detail": "The clip Vb1yPz4mQ0iYxkq3o9TtWw does not exist or has expired.",
                 *       "code": "clip-not-found",
                 *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The request id, also in the operator's log. */
        "X-Request-Id": string;
        /**
         * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
         *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
         */
        "RateLimit-Policy": string;
        /**
         * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
         *     limits.
         */
        RateLimit: string;
        /**
         * @description Seconds to wait before a retry, if known.
         * @example 1
         */
        "Retry-After": string;
        /** @description Private to the client; proxies must not transform it. */
        "Cache-Control": string;
        /** @description The speech is synthetic, whether it was synthesized on this machine or by a provider. */
        "X-Parlance-Synthetic": "true";
        /** @description `bytes` once the clip is complete. */
        "Accept-Ranges": string;
        /** @description Once the clip is complete. */
        ETag: string;
        /** @description Once the clip is complete. */
        "Content-Length": string;
    };
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
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    /** @description One `<URL>; rel="enclosure"; type="audio/..."` per clip, in call order. */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatResult"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["InvalidChat"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
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
            /** @description The event stream of the run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ChatEvent"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["InvalidChat"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
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
            /** @description The models and the default. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
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
                     *           "reason": "Ready.",
                     *           "supports": []
                     *         }
                     *       ],
                     *       "default": "llama3.2"
                     *     }
                     */
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPreparations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The preparations, and whether the caller may start them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "voice",
                     *           "title": "English voice (female, clear)",
                     *           "purpose": "Good for reading answers aloud in American English.",
                     *           "capability": "speech",
                     *           "configured": true,
                     *           "model": "local-voice",
                     *           "bytes": 96936351,
                     *           "memory_bytes": 538531379,
                     *           "license": "GPL-3.0, public domain",
                     *           "state": "missing",
                     *           "progress": null,
                     *           "reason": "Not installed.",
                     *           "command": "npm run setup -- voice"
                     *         }
                     *       ],
                     *       "memory_bytes": 8326414336,
                     *       "startable": true,
                     *       "reason": "You may start preparations."
                     *     }
                     */
                    "application/json": components["schemas"]["PreparationList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    startPreparation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An id from `GET /preparations`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request has succeeded. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preparation"];
                };
            };
            /** @description The request has been accepted for processing, but processing has not yet completed. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preparation"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenPreparation"];
            404: components["responses"]["PreparationNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            /**
             * @description The operation is not possible in the current state: there is nothing to return yet, or another preparation is in
             *     progress.
             */
            409: {
                headers: {
                    /**
                     * @description Seconds to wait before a retry, if known.
                     * @example 30
                     */
                    "Retry-After"?: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:preparation-in-progress",
                     *       "title": "Another preparation in progress",
                     *       "status": 409,
                     *       "detail": "\"chat\" is being prepared; one preparation at a time.",
                     *       "code": "preparation-in-progress",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 30
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    stopPreparation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An id from `GET /preparations`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The preparation after the stop. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preparation"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenPreparation"];
            404: components["responses"]["PreparationNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getTranscriptionAvailability: {
        parameters: {
            query?: {
                /** @description The model to check. Absent or empty: the default. */
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The availability and its reason. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
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
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            /**
             * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
             *     See `code` and `detail`; `errors` lists the fields.
             */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:invalid-request",
                     *       "title": "Invalid request",
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
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
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
                /**
                 * @example {
                 *       "file": "good-morning.webm",
                 *       "language": "de",
                 *       "timestamps": "word"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["TranscriptionRequest"];
            };
        };
        responses: {
            /** @description The transcript. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transcription"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            415: components["responses"]["UnsupportedMediaType"];
            /**
             * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
             *     See `code` and `detail`; `errors` lists the fields.
             */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
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
            /** @description The models and the default. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
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
                     *           "reason": "Ready.",
                     *           "supports": []
                     *         }
                     *       ],
                     *       "default": "local"
                     *     }
                     */
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    streamTranscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "good-morning.webm",
                 *       "keywords": "Parlance, TypeSpec"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["TranscriptionRequest"];
            };
        };
        responses: {
            200: components["responses"]["TranscriptionStream"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            415: components["responses"]["UnsupportedMediaType"];
            /**
             * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
             *     See `code` and `detail`; `errors` lists the fields.
             */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:parameter-not-supported",
                     *       "title": "Parameter not supported by the model",
                     *       "status": 422,
                     *       "detail": "The model \"local\" does not support timestamps of words.",
                     *       "code": "parameter-not-supported",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "body",
                     *           "pointer": "/timestamps",
                     *           "detail": "must be something that the model supports"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createTranscriptionJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sandbox only, `pace=N`: transcribes a made-up hour, with N seconds for each five minutes. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "lecture.mp3",
                 *       "timestamps": "segment"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["TranscriptionJobRequest"];
            };
        };
        responses: {
            /** @description The request has been accepted for processing, but processing has not yet completed. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    /**
                     * @description URL of the transcription.
                     * @example /api/v1/transcriptions/Vb1yPz4mQ0iYxkq3o9TtWw
                     */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptionJob"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            415: components["responses"]["UnsupportedMediaType"];
            /**
             * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
             *     See `code` and `detail`; `errors` lists the fields.
             */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:recording-too-large",
                     *       "title": "Recording too large",
                     *       "status": 422,
                     *       "detail": "The recording exceeds the limit of 500 MB (524288000 bytes).",
                     *       "code": "recording-too-large",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "body",
                     *           "pointer": "/file",
                     *           "detail": "must not have more than 524288000 bytes"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getTranscriptionJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=N`: waits up to N seconds for the end (RFC 7240), at most 30. */
                Prefer?: string;
            };
            path: {
                /** @description The id of a transcription, from `POST /transcriptions`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptionJob"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["TranscriptionNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteTranscriptionJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a transcription, from `POST /transcriptions`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description There is no content to send for this request, but the headers may be useful. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["TranscriptionNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    streamTranscriptionJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `id` of the last event received: its `seq`. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of a transcription, from `POST /transcriptions`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["TranscriptionStream"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["TranscriptionNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getTranscriptionJobTranscript: {
        parameters: {
            query?: {
                /** @description Defaults to `text`. */
                format?: components["schemas"]["TranscriptFormat"];
            };
            header?: never;
            path: {
                /** @description The id of a transcription, from `POST /transcriptions`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transcript. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transcription"];
                    "text/plain": string;
                    "application/x-subrip": string;
                    "text/vtt": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["TranscriptionNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            /**
             * @description The operation is not possible in the current state: there is nothing to return yet, or another preparation is in
             *     progress.
             */
            409: {
                headers: {
                    /**
                     * @description Seconds to wait before a retry, if known.
                     * @example 5
                     */
                    "Retry-After"?: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:transcript-not-ready",
                     *       "title": "Transcript not ready",
                     *       "status": 409,
                     *       "detail": "Nothing of the recording has been transcribed yet.",
                     *       "code": "transcript-not-ready",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "retry_after": 5
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description The request is invalid: it violates the contract, the recording or an id is not usable, or the provider rejects it.
             *     See `code` and `detail`; `errors` lists the fields.
             */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:invalid-request",
                     *       "title": "Invalid request",
                     *       "status": 422,
                     *       "detail": "format must be equal to one of the allowed values: text, srt, vtt, json",
                     *       "code": "invalid-request",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40",
                     *       "errors": [
                     *         {
                     *           "in": "query",
                     *           "pointer": "/format",
                     *           "detail": "must be equal to one of the allowed values: text, srt, vtt, json"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
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
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    /** @description Private to the client; proxies must not transform it. */
                    "Cache-Control"?: string;
                    "X-Parlance-Synthetic": components["headers"]["X-Parlance-Synthetic"];
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                    "audio/flac": unknown;
                    "audio/aac": unknown;
                    "audio/pcm": unknown;
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["InvalidSpeech"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createSpeechClip: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "Good morning."
                 *     }
                 */
                "application/json": components["schemas"]["SpeechRequest"];
            };
        };
        responses: {
            /** @description The clip. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
                    /**
                     * @description URL of the clip, as in `url`.
                     * @example /api/v1/tts/clips/Vb1yPz4mQ0iYxkq3o9TtWw
                     */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "Vb1yPz4mQ0iYxkq3o9TtWw",
                     *       "url": "/api/v1/tts/clips/Vb1yPz4mQ0iYxkq3o9TtWw",
                     *       "content_type": "audio/mpeg"
                     *     }
                     */
                    "application/json": components["schemas"]["Audio"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["InvalidSpeech"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    getSpeechClip: {
        parameters: {
            query?: never;
            header?: {
                /** @description A single byte range (RFC 9110). */
                Range?: string;
                /** @description Applies `Range` only if the ETag still matches. */
                "If-Range"?: string;
            };
            path: {
                /** @description The id of a clip, from the operation or the chat that created it. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request has succeeded. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description `bytes` once the clip is complete. */
                    "Accept-Ranges"?: string;
                    /** @description Once the clip is complete. */
                    ETag?: string;
                    /** @description Once the clip is complete. */
                    "Content-Length"?: string;
                    /** @description Private to the client; proxies must not transform it. */
                    "Cache-Control"?: string;
                    "X-Parlance-Synthetic": components["headers"]["X-Parlance-Synthetic"];
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                    "audio/flac": unknown;
                    "audio/aac": unknown;
                    "audio/pcm": unknown;
                };
            };
            /** @description Successful */
            206: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description `bytes` once the clip is complete. */
                    "Accept-Ranges"?: string;
                    /** @description Once the clip is complete. */
                    ETag?: string;
                    /** @description Once the clip is complete. */
                    "Content-Length"?: string;
                    /** @description Private to the client; proxies must not transform it. */
                    "Cache-Control"?: string;
                    "X-Parlance-Synthetic": components["headers"]["X-Parlance-Synthetic"];
                    /** @description The returned range, as `bytes first-last` and `/length`. */
                    "Content-Range": string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                    "audio/flac": unknown;
                    "audio/aac": unknown;
                    "audio/pcm": unknown;
                };
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ClipNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            /** @description The range is outside the clip. */
            416: {
                headers: {
                    /**
                     * @description The complete length, as `bytes *` and `/length`.
                     * @example bytes *\/24000
                     */
                    "Content-Range": string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:parlance:problem:range-not-satisfiable",
                     *       "title": "Range not satisfiable",
                     *       "status": 416,
                     *       "detail": "The range bytes=30000- is outside the clip (24000 bytes).",
                     *       "code": "range-not-satisfiable",
                     *       "instance": "6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["UnprocessableEntity"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteSpeechClip: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a clip, from the operation or the chat that created it. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description There is no content to send for this request, but the headers may be useful. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ClipNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["UnprocessableEntity"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
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
            /** @description The models and the default. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units (as
                     *     named in `qu`, otherwise requests) in `w` seconds. Absent if there are no limits.
                     */
                    "RateLimit-Policy"?: string;
                    /**
                     * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 response lists only the violated
                     *     limits.
                     */
                    RateLimit?: string;
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
                     *           "supports": [],
                     *           "voices": [
                     *             {
                     *               "id": "en",
                     *               "name": "English",
                     *               "language": "en"
                     *             }
                     *           ],
                     *           "default_voice": "en"
                     *         }
                     *       ],
                     *       "default": "espeak"
                     *     }
                     */
                    "application/json": components["schemas"]["SpeechModelList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}
