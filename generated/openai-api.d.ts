// Written by `npm run generate` from spec/. Do not edit.
export type paths = {
    "/audio/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List speech models
         * @description The speech models. Not part of OpenAI's API; Open WebUI asks for it.
         */
        get: operations["listAudioModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audio/speech": {
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
         * @description Speaks a text.
         */
        post: operations["createSpeech"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audio/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Transcribe a recording
         * @description Transcribes a recording.
         */
        post: operations["createTranscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audio/voices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List voices
         * @description The voices of all speech models, ids once. Not part of OpenAI's API; Open WebUI asks for it.
         */
        get: operations["listAudioVoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a chat
         * @description The next assistant message of a conversation; with `stream`, as server-sent events that end with `[DONE]`.
         */
        post: operations["createChatCompletion"];
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
         * List models
         * @description Every model, chat models first.
         */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a model
         * @description One model. The id may contain slashes, percent-encoded or not.
         */
        get: operations["retrieveModel"];
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
        /** @description A speech model, for apps that ask for those alone. */
        AudioModel: {
            id: string;
            name: string;
        };
        AudioModelList: {
            /** @enum {string} */
            object: "list";
            models: components["schemas"]["AudioModel"][];
        };
        AudioVoice: {
            /** @description Valid for the `voice` field of speech requests. */
            id: string;
            name: string;
        };
        AudioVoiceList: {
            /** @enum {string} */
            object: "list";
            voices: components["schemas"]["AudioVoice"][];
        };
        /**
         * @description What a model does. New ones may be added.
         * @enum {string}
         */
        Capability: "chat" | "transcription" | "speech";
        ChatCompletion: {
            id: string;
        };
        ChatCompletionChunk: {
            id: string;
        };
        ChatCompletionRequest: {
            /** @description An id from `GET /models`; absent or null: the server's default. */
            model?: string | null;
        };
        /** @description What went wrong, in OpenAI's shape. */
        ErrorDetails: {
            /** @description What happened in this case and how to fix it. Names the field that is to blame. */
            message: string;
            /** @description Kind of error. New ones may be added. */
            type: string;
            /** @description The field of the request that is to blame, such as `messages[2].content[1]`; null when there is none. */
            param: string | null;
            /** @description Machine-readable code. New ones may be added: fall back to the status for an unknown one. */
            code: string | null;
        };
        /**
         * @description Every error, whole or as the last event of a stream.
         * @example {
         *       "error": {
         *         "message": "The model \"nobody\" does not exist.",
         *         "type": "invalid_request_error",
         *         "param": "model",
         *         "code": "model_not_found"
         *       }
         *     }
         */
        ErrorResponse: {
            error: components["schemas"]["ErrorDetails"];
        };
        Model: {
            /** @description Valid for the `model` field of requests. */
            id: string;
            /** @enum {string} */
            object: "model";
            /**
             * Format: int64
             * @description When the service started, in seconds since 1970.
             */
            created: number;
            /** @description Name of the engine instance in the settings. */
            owned_by: string;
            /** @description Display name. */
            name: string;
            /** @description Requests that can select it. */
            capabilities: components["schemas"]["Capability"][];
        };
        ModelList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Model"][];
        };
        /** @description For the formats json and verbose_json. */
        PlainOrVerboseTranscription: components["schemas"]["Transcription"] | components["schemas"]["VerboseTranscription"];
        SpeechRequest: {
            /**
             * @description An id from `GET /models`; absent, null or empty: the server's default, which `tts-1`, `tts-1-hd` and
             *     `gpt-4o-mini-tts` also mean.
             */
            model?: string | null;
            /** @description What to say. */
            input: string;
            /**
             * @description An id from `GET /audio/voices`; absent, null or empty: the default voice, which OpenAI's names of voices (`alloy`)
             *     also mean for models without a voice so named.
             */
            voice?: string | components["schemas"]["SpeechVoice"] | null;
            /** @description `opus` is Opus in Ogg, `ogg` is Vorbis. The service does not make `aac`, `flac` and `pcm`. Default: mp3. */
            response_format?: ("mp3" | "opus" | "wav" | "ogg" | "aac" | "flac" | "pcm") | null;
            /** @description 1 is the voice's own speed. Others need a model with `speed`. */
            speed?: number | null;
            /** @description How to speak. Ignored by models without `instructions`. */
            instructions?: string | null;
            /** @description `sse` is not supported. */
            stream_format?: ("audio" | "sse") | null;
        };
        SpeechVoice: {
            id: string;
        };
        /** @description More of the text. */
        TranscriptTextDelta: {
            /** @enum {string} */
            type: "transcript.text.delta";
            delta: string;
        };
        /** @description The last event. Its text is that of all deltas. */
        TranscriptTextDone: {
            /** @enum {string} */
            type: "transcript.text.done";
            text: string;
        };
        Transcription: {
            /** @description One continuous string; "" for silence. */
            text: string;
            /** @description Where the duration is known. */
            usage?: components["schemas"]["TranscriptionUsage"];
        };
        /** @description An event of a streamed transcription. A stream that completes ends with `data: [DONE]`. */
        TranscriptionEvent: components["schemas"]["TranscriptTextDelta"] | components["schemas"]["TranscriptTextDone"];
        TranscriptionRequest: {
            /**
             * Format: binary
             * @description The recording, 1 byte to 25 MB (26214400 bytes). Detected from its content; file name and media type are ignored.
             */
            file: string;
            /**
             * @description An id from `GET /models`; absent or empty: the server's default, which `whisper-1`, `gpt-4o-transcribe` and
             *     `gpt-4o-mini-transcribe` also mean.
             */
            model?: string;
            /** @description The spoken language: `de`, `de-DE`, `deu` or `german`. Absent or `auto`: the model detects it. */
            language?: string;
            /** @description Words that may occur, or the text before the recording. Ignored by models without `prompt`. */
            prompt?: string;
            /** @description 0 to 1. Ignored by models without `temperature`. */
            temperature?: string;
            /**
             * @description `srt` and `vtt` need a model with timestamps of segments. Default: json.
             * @enum {string}
             */
            response_format?: "json" | "text" | "srt" | "vtt" | "verbose_json";
            /**
             * @description `word`, `segment` or both, for `verbose_json` alone. `word` needs a model with timestamps of words. Default: segment,
             *     where the model has them.
             */
            timestamp_granularities?: string[] | string;
            /** @description `true`: server-sent events with the transcript as it is made; for the formats json and text. Default: false. */
            stream?: string;
        };
        /** @description Whisper's inner values are placeholders: engines do not report them. */
        TranscriptionSegment: {
            /**
             * Format: int64
             * @description Counts from 0.
             */
            id: number;
            /** @enum {number} */
            seek: 0;
            /**
             * Format: double
             * @description Seconds.
             */
            start: number;
            /**
             * Format: double
             * @description Seconds.
             */
            end: number;
            text: string;
            tokens: number[];
            /** @enum {number} */
            temperature: 0;
            /** @enum {number} */
            avg_logprob: 0;
            /** @enum {number} */
            compression_ratio: 0;
            /** @enum {number} */
            no_speech_prob: 0;
        };
        /** @description The length of the recording. */
        TranscriptionUsage: {
            /** @enum {string} */
            type: "duration";
            /**
             * Format: int64
             * @description Rounded up.
             */
            seconds: number;
        };
        TranscriptionWord: {
            word: string;
            /**
             * Format: double
             * @description Seconds.
             */
            start: number;
            /**
             * Format: double
             * @description Seconds.
             */
            end: number;
        };
        VerboseTranscription: {
            /** @enum {string} */
            task: "transcribe";
            /** @description The lower-case English name of the detected language, where the model reports it. */
            language?: string;
            /**
             * Format: double
             * @description Seconds, where known.
             */
            duration?: number;
            /** @description One continuous string; "" for silence. */
            text: string;
            /** @description If asked for or by default, and if the model has timestamps of segments. */
            segments?: components["schemas"]["TranscriptionSegment"][];
            /** @description If asked for. */
            words?: components["schemas"]["TranscriptionWord"][];
            /** @description Where the duration is known. */
            usage?: components["schemas"]["TranscriptionUsage"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
};
export type $defs = Record<string, never>;
export interface operations {
    listAudioModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The speech models. */
            200: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioModelList"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    /** @description The authentication scheme (RFC 6750). */
                    "WWW-Authenticate": string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Without API keys (open mode), the Host or the Origin of the request is not allowed. */
            403: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The path does not support this method. */
            405: {
                headers: {
                    /** @description The supported methods. */
                    Allow: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The service or its engine failed. The log has the cause under the request id. */
            500: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Temporarily or by configuration unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
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
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description The id of the entry that did the work, percent-encoded where it is not ASCII: aliases and defaults differ from `model`. */
                    "X-Parlance-Model": string;
                    /** @description Fields of the request without an effect, comma-separated; absent when there are none. */
                    "X-Parlance-Ignored"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model cannot do what it asks for. */
            400: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    /** @description The authentication scheme (RFC 6750). */
                    "WWW-Authenticate": string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Without API keys (open mode), the Host or the Origin of the request is not allowed. */
            403: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The model does not exist. */
            404: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The path does not support this method. */
            405: {
                headers: {
                    /** @description The supported methods. */
                    Allow: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The request body did not arrive in time. */
            408: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The body or the recording is too large. */
            413: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The operation does not accept this content type. */
            415: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider's quota is exhausted or its rate limit is reached. */
            429: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The service or its engine failed. The log has the cause under the request id. */
            500: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider failed or is unreachable. */
            502: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Temporarily or by configuration unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider or the engine timed out. */
            504: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
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
            /** @description The transcript in the requested format. */
            200: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description The id of the entry that did the work, percent-encoded where it is not ASCII: aliases and defaults differ from `model`. */
                    "X-Parlance-Model": string;
                    /** @description Fields of the request without an effect, comma-separated; absent when there are none. */
                    "X-Parlance-Ignored"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlainOrVerboseTranscription"];
                    "text/plain": string;
                    "text/vtt": string;
                    "text/event-stream": components["schemas"]["TranscriptionEvent"];
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model cannot do what it asks for. */
            400: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    /** @description The authentication scheme (RFC 6750). */
                    "WWW-Authenticate": string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Without API keys (open mode), the Host or the Origin of the request is not allowed. */
            403: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The model does not exist. */
            404: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The path does not support this method. */
            405: {
                headers: {
                    /** @description The supported methods. */
                    Allow: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The request body did not arrive in time. */
            408: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The body or the recording is too large. */
            413: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The operation does not accept this content type. */
            415: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider's quota is exhausted or its rate limit is reached. */
            429: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The service or its engine failed. The log has the cause under the request id. */
            500: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider failed or is unreachable. */
            502: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Temporarily or by configuration unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider or the engine timed out. */
            504: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    listAudioVoices: {
        parameters: {
            query?: {
                /** @description Only the voices of this speech model. */
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The voices. */
            200: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioVoiceList"];
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model cannot do what it asks for. */
            400: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    /** @description The authentication scheme (RFC 6750). */
                    "WWW-Authenticate": string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Without API keys (open mode), the Host or the Origin of the request is not allowed. */
            403: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The model does not exist. */
            404: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The path does not support this method. */
            405: {
                headers: {
                    /** @description The supported methods. */
                    Allow: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The service or its engine failed. The log has the cause under the request id. */
            500: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Temporarily or by configuration unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    createChatCompletion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionRequest"];
            };
        };
        responses: {
            /** @description The message, whole or in chunks. */
            200: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description The id of the entry that did the work, percent-encoded where it is not ASCII: aliases and defaults differ from `model`. */
                    "X-Parlance-Model": string;
                    /** @description Fields of the request without an effect, comma-separated; absent when there are none. */
                    "X-Parlance-Ignored"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": components["schemas"]["ChatCompletionChunk"];
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model cannot do what it asks for. */
            400: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    /** @description The authentication scheme (RFC 6750). */
                    "WWW-Authenticate": string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Without API keys (open mode), the Host or the Origin of the request is not allowed. */
            403: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The model does not exist. */
            404: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The path does not support this method. */
            405: {
                headers: {
                    /** @description The supported methods. */
                    Allow: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The request body did not arrive in time. */
            408: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The body or the recording is too large. */
            413: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The operation does not accept this content type. */
            415: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider's quota is exhausted or its rate limit is reached. */
            429: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The service or its engine failed. The log has the cause under the request id. */
            500: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider failed or is unreachable. */
            502: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Temporarily or by configuration unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The provider or the engine timed out. */
            504: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    listModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models. */
            200: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    /** @description The authentication scheme (RFC 6750). */
                    "WWW-Authenticate": string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Without API keys (open mode), the Host or the Origin of the request is not allowed. */
            403: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The path does not support this method. */
            405: {
                headers: {
                    /** @description The supported methods. */
                    Allow: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The service or its engine failed. The log has the cause under the request id. */
            500: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Temporarily or by configuration unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    retrieveModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model. */
            200: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    /** @description The authentication scheme (RFC 6750). */
                    "WWW-Authenticate": string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Without API keys (open mode), the Host or the Origin of the request is not allowed. */
            403: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The model does not exist. */
            404: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The path does not support this method. */
            405: {
                headers: {
                    /** @description The supported methods. */
                    Allow: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description The service or its engine failed. The log has the cause under the request id. */
            500: {
                headers: {
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            /** @description Temporarily or by configuration unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before a retry, where known. */
                    "Retry-After"?: string;
                    /** @description The request id, also in the operator's log. */
                    "X-Request-Id": string;
                    /** @description Whether the same request may succeed later and has had no effect yet. */
                    "X-Should-Retry": "true" | "false";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
}
