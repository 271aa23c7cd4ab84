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
         * @description Lists the speech models. Not part of the OpenAI API; used by Open WebUI.
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
    "/audio/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Translate a recording into English
         * @description Transcribes a recording in English, whatever language is spoken. The model must support `translate`.
         */
        post: operations["createTranslation"];
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
         * @description Lists the voices of all speech models, without duplicate ids. Not part of the OpenAI API; used by Open WebUI.
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
         * @description Generates the next assistant message of a conversation; with `stream`, as server-sent events that end with
         *     `[DONE]`. Without `tools` in the request, the server's own tools run internally and are not returned.
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
         * @description Lists all models, chat models first.
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
         * @description Returns a model. The id may contain slashes, percent-encoded or not, and may be any alias that requests may name.
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
    "/realtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Talk with a model, or transcribe live audio
         * @description Opens a WebSocket for a conversation with a model or, with `intent=transcription`, for live transcription. Both sides
         *     send JSON events, which [asyncapi-compat.json](asyncapi-compat.json) describes. Browsers send the key as the
         *     subprotocol `openai-insecure-api-key.KEY` with `realtime`.
         */
        get: operations["connectRealtime"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/realtime/client_secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a client secret
         * @description Creates a secret with which a page can connect to the Realtime API. It has the permissions and limits of the API
         *     key that creates it, and becomes invalid with that key. A key may have 1,000 secrets at a time.
         */
        post: operations["createRealtimeClientSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a response
         * @description Generates the next items of a conversation; with `stream`, as server-sent events. Without `tools` in the request,
         *     the server's own tools run internally and are not returned. Responses are not stored: send the whole conversation.
         */
        post: operations["createResponse"];
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
        /** @description The transcript, for the formats json, verbose_json and diarized_json. */
        AnyTranscription: components["schemas"]["Transcription"] | components["schemas"]["VerboseTranscription"] | components["schemas"]["DiarizedTranscription"];
        /** @description All arguments of a call in one delta. */
        ArgumentsDeltaEvent: {
            /** @enum {string} */
            type: "response.function_call_arguments.delta";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            delta: string;
        };
        /** @description The complete arguments of a call. */
        ArgumentsDoneEvent: {
            /** @enum {string} */
            type: "response.function_call_arguments.done";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            name: string;
            arguments: string;
        };
        /** @description A speech model, for apps that list only these. */
        AudioModel: {
            id: string;
            name: string;
        };
        /** @description The speech models. */
        AudioModelList: {
            /** @enum {string} */
            object: "list";
            models: components["schemas"]["AudioModel"][];
        };
        /** @description A voice of a speech model. */
        AudioVoice: {
            /** @description Valid for the `voice` field of speech requests. */
            id: string;
            name: string;
        };
        /** @description The voices of the speech models. */
        AudioVoiceList: {
            /** @enum {string} */
            object: "list";
            voices: components["schemas"]["AudioVoice"][];
        };
        /** @description The function that the model calls. */
        CalledFunction: {
            /** @description The name of the function. */
            name: string;
            /** @description JSON, as the model wrote it: not validated. */
            arguments: string;
        };
        /**
         * @description A capability of a model; `images` appears in addition to `chat`. New ones may be added.
         * @enum {string}
         */
        Capability: "chat" | "transcription" | "speech" | "images";
        /** @description The answer to a chat. */
        ChatCompletion: {
            /** @description `chatcmpl-` and the request id. */
            id: string;
            /** @enum {string} */
            object: "chat.completion";
            /**
             * Format: int64
             * @description Unix time in seconds.
             */
            created: number;
            /** @description The model that generated the answer. */
            model: string;
            choices: components["schemas"]["CompletionChoice"][];
            usage: components["schemas"]["CompletionUsage"];
        };
        /** @description A part of the answer. A failure is sent as `{"error": {...}}` instead, without a `[DONE]`. */
        ChatCompletionChunk: {
            id: string;
            /** @enum {string} */
            object: "chat.completion.chunk";
            /** Format: int64 */
            created: number;
            model: string;
            /** @description Empty in the chunk with the usage. */
            choices: components["schemas"]["ChunkChoice"][];
            /** @description In a further chunk, with `stream_options.include_usage`. */
            usage?: components["schemas"]["CompletionUsage"];
        };
        /**
         * @description A conversation. Unknown fields are ignored. Unsupported fields that change neither the form nor the meaning of the
         *     response are ignored and listed in `X-Parlance-Ignored`. Any other unsupported field returns 400
         *     `unsupported_parameter`.
         * @example {
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "What is the capital of France?"
         *         }
         *       ]
         *     }
         */
        ChatCompletionRequest: {
            /** @description The full conversation history in order, 1 to 2000 messages. */
            messages: components["schemas"]["ChatMessage"][];
            /** @description An id from `GET /models`. Absent or null: the server's default. */
            model?: string | null;
            /** @description Returns the answer as server-sent events. */
            stream?: boolean | null;
            /** @description Options of a streamed answer, only with `stream`. */
            stream_options?: components["schemas"]["StreamOptions"] | null;
            /** @description 0 to 2; lower is more predictable. */
            temperature?: number | null;
            /** @description Nucleus sampling, greater than 0 and up to 1. */
            top_p?: number | null;
            /** @description Maximum number of generated tokens, reasoning included. */
            max_completion_tokens?: components["schemas"]["MaxTokens"] | null;
            /** @description Like `max_completion_tokens`, which takes precedence. */
            max_tokens?: components["schemas"]["MaxTokens"] | null;
            /**
             * @description Tools of the caller. They replace the server's own tools, and the model's calls are returned as `tool_calls`. Only
             *     for models that support `tools`.
             */
            tools?: components["schemas"]["ToolDefinition"][] | null;
            /** @description Whether the model may or must call tools. `none` without `tools` disables the server's own tools. */
            tool_choice?: components["schemas"]["ToolChoiceMode"] | components["schemas"]["NamedToolChoice"] | null;
            /** @description Texts that end the answer. Only for models that support `json`. */
            stop?: string | string[] | null;
            /**
             * @description The format of the answer: an object with the `type` `text` (the default), `json_object` or `json_schema`; the latter
             *     two only for models that support `json`.
             */
            response_format?: {
                [key: string]: unknown;
            } | null;
            /** @description A number that makes answers to the same request more alike. Ignored by models without `json`. */
            seed?: number | null;
            /** @description Makes words less likely the more often they have occurred. Ignored by models without `json`. */
            frequency_penalty?: number | null;
            /** @description Makes words that have occurred less likely. Ignored by models without `json`. */
            presence_penalty?: number | null;
            /** @description Raises or lowers the chance of tokens, by token id. Ignored by models without `json`. */
            logit_bias?: {
                [key: string]: unknown;
            } | null;
            /** @description How much a reasoning model thinks, such as `low` or `high`. Ignored by models without `json`. */
            reasoning_effort?: string | null;
            /** @description false: the model calls at most one tool at a time. Ignored by models without `json`. */
            parallel_tool_calls?: boolean | null;
            /** @description The number of answers. Only 1. */
            n?: number | null;
            /** @description Whether to return log probabilities. Only false. */
            logprobs?: boolean | null;
            /** @description The number of probabilities for each token. Only 0. */
            top_logprobs?: number | null;
            /** @description The kinds of output. Only `text`. */
            modalities?: string[] | null;
            /** @description Not supported. */
            audio?: unknown;
            /** @description Not supported. */
            web_search_options?: unknown;
            /** @description Not supported. */
            prediction?: unknown;
            /** @description Not supported: send `tools`. */
            functions?: unknown;
            /** @description Not supported: send `tool_choice`. */
            function_call?: unknown;
            /** @description No effect. */
            user?: unknown;
            /** @description No effect. */
            metadata?: unknown;
            /** @description No effect. */
            store?: unknown;
            /** @description No effect. */
            service_tier?: unknown;
            /** @description No effect. */
            verbosity?: unknown;
            /** @description No effect. */
            safety_identifier?: unknown;
            /** @description No effect. */
            prompt_cache_key?: unknown;
            /** @description No effect. */
            prompt_cache_retention?: unknown;
        };
        /** @description A message of the conversation. */
        ChatMessage: {
            /** @description Who the message is from. `function` is rejected: send `tool`. */
            role: components["schemas"]["ChatMessageRole"];
            /**
             * @description The text of the message, as a string or in parts. The texts of parts are joined by a line feed. May be null or
             *     absent in assistant messages. All texts of a request together have at most 1000000 characters (code points).
             */
            content?: string | components["schemas"]["ContentPart"][] | null;
            /** @description In assistant messages: calls to the caller's tools. Each must be followed by a message with the role `tool`. */
            tool_calls?: components["schemas"]["GivenToolCall"][] | null;
            /** @description In messages with the role `tool`: the id of the answered call, from the preceding assistant message. */
            tool_call_id?: string | null;
            /** @description Not supported: send `tool_calls`. */
            function_call?: unknown;
        };
        /**
         * @description Who a message is from. `developer` is an alias of `system`. `function` is rejected: send `tool`.
         * @enum {string}
         */
        ChatMessageRole: "system" | "developer" | "user" | "assistant" | "tool" | "function";
        /** @description A part of the only answer. */
        ChunkChoice: {
            /** @enum {number} */
            index: 0;
            delta: components["schemas"]["CompletionDelta"];
            /** @description null except in the last chunk of the answer, whose delta is empty. */
            finish_reason: components["schemas"]["FinishReason"] | null;
        };
        /** @description A key for the sessions of a page, which must not have the API key itself. */
        ClientSecret: {
            /** @description The secret. It is valid for any number of connections until it expires. */
            value: string;
            /**
             * Format: int64
             * @description Unix time in seconds.
             */
            expires_at: number;
            /** @description The initial session of connections with the secret, as in `session.created`. */
            session: components["schemas"]["RealtimeTranscriptionSession"] | components["schemas"]["RealtimeSession"];
        };
        /** @description When a client secret expires. */
        ClientSecretExpiry: {
            /**
             * @description The time that `seconds` counts from: the creation of the secret.
             * @default created_at
             * @enum {string}
             */
            anchor: "created_at";
            /**
             * Format: int32
             * @description Seconds until the secret expires, 10 to 7200. Default: 600.
             * @default 600
             */
            seconds: number;
        };
        /** @description A request for a client secret. */
        ClientSecretRequest: {
            /** @description When the secret expires. Default: 600 seconds after its creation. */
            expires_after?: components["schemas"]["ClientSecretExpiry"];
            /** @description The initial session of connections with the secret. Default: a conversation, if the API key may chat. */
            session?: components["schemas"]["RealtimeTranscriptionSessionUpdate"] | components["schemas"]["RealtimeSessionUpdate"];
        };
        /** @description The only answer. */
        CompletionChoice: {
            /** @enum {number} */
            index: 0;
            message: components["schemas"]["CompletionMessage"];
            logprobs: null;
            finish_reason: components["schemas"]["FinishReason"];
        };
        /** @description What a chunk adds to the message. */
        CompletionDelta: {
            /**
             * @description In the first chunk.
             * @enum {string}
             */
            role?: "assistant";
            content?: string;
            /** @description Not part of OpenAI's API. */
            reasoning_content?: string;
            tool_calls?: components["schemas"]["ToolCallDelta"][];
        };
        /** @description The message that the model generated. */
        CompletionMessage: {
            /** @enum {string} */
            role: "assistant";
            /** @description The texts of all steps, joined by an empty line. null for tool calls without text. */
            content: string | null;
            refusal: null;
            /** @description The reasoning text of a reasoning model. Not part of OpenAI's API. */
            reasoning_content?: string;
            /** @description Calls of the caller's tools. */
            tool_calls?: components["schemas"]["ToolCall"][];
        };
        /** @description Token usage, summed over all steps; zeros if the provider does not report it. */
        CompletionUsage: {
            /** Format: int64 */
            prompt_tokens: number;
            /** Format: int64 */
            completion_tokens: number;
            /** Format: int64 */
            total_tokens: number;
            completion_tokens_details: {
                /** Format: int64 */
                reasoning_tokens: number;
            };
        };
        /** @description A part of a message. Other types return 400 `unsupported_value`. */
        ContentPart: {
            /** @description `text`; `refusal` in assistant messages; `image_url` in user messages, for models that support `images`. */
            type: string;
            /** @description The text, for the type `text`. */
            text?: string;
            /** @description Why the model refused to answer, for the type `refusal`. */
            refusal?: string;
            /** @description The image, for the type `image_url`. */
            image_url?: components["schemas"]["ImageUrl"];
        };
        /** @description The text of a message starts. */
        ContentPartAddedEvent: {
            /** @enum {string} */
            type: "response.content_part.added";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            part: components["schemas"]["OutputText"];
        };
        /** @description The text of a message is complete. */
        ContentPartDoneEvent: {
            /** @enum {string} */
            type: "response.content_part.done";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            part: components["schemas"]["OutputText"];
        };
        /** @description A transcript with speakers, in the format `diarized_json`. */
        DiarizedTranscription: {
            /** @enum {string} */
            task: "transcribe";
            /**
             * Format: double
             * @description Seconds; 0 if unknown.
             */
            duration: number;
            /** @description One continuous string; "" for silence. */
            text: string;
            segments: components["schemas"]["SpeakerTurn"][];
            /** @description Only if the duration is known. */
            usage?: components["schemas"]["TranscriptionUsage"];
        };
        /** @description What went wrong, in the format of the OpenAI API. */
        ErrorDetails: {
            /** @description Explains this occurrence of the error and how to fix it, and names any invalid field. */
            message: string;
            /** @description Kind of error. New ones may be added. */
            type: string;
            /** @description The invalid field, such as `messages[2].content[1]`; null if no field is. */
            param: string | null;
            /** @description Machine-readable code. New ones may be added: fall back to the status for an unknown one. */
            code: string | null;
        };
        /**
         * @description An error response, or the last event of a failed stream.
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
        /**
         * @description Why generation ended: a normal end, the token limit (or the step limit), the provider's content filter, or calls of
         *     the caller's tools.
         * @enum {string}
         */
        FinishReason: "stop" | "length" | "content_filter" | "tool_calls";
        /** @description A call of the caller's tool. */
        FunctionCallItem: {
            id: string;
            /** @enum {string} */
            type: "function_call";
            status: components["schemas"]["ItemStatus"];
            /** @description Answered by a `function_call_output` with this `call_id`. */
            call_id: string;
            name: string;
            /** @description The namespace of the tool, if it is in one. */
            namespace?: string;
            /** @description JSON, as generated by the model, not validated. */
            arguments: string;
        };
        /** @description A function that the model may call. */
        FunctionDefinition: {
            /** @description The name by which the model calls the function. */
            name: string;
            /** @description Tells the model what the function does and when to call it. */
            description?: string | null;
            /** @description JSON Schema of the arguments. */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /** @description No effect. */
            strict?: boolean | null;
        };
        /** @description The tool that the model must call. */
        FunctionToolChoice: {
            /** @description Only `function`. */
            type: string;
            /** @description The name of the tool. */
            name?: string | null;
        };
        /** @description A call of the caller's tool in an earlier message. Like `ToolCall`, but `type` may be absent. */
        GivenToolCall: {
            /** @description The id of the call, which the message with its output repeats as `tool_call_id`. */
            id: string;
            /** @description Only `function`. */
            type?: string;
            /** @description The function that was called. */
            function: components["schemas"]["CalledFunction"];
        };
        /** @description An image that is part of a message. */
        ImageUrl: {
            /** @description A `data:` URL of a png, jpeg, webp or gif in base64, up to 10 MB. Other URLs are rejected. */
            url: string;
            /** @description How closely the model should look at the image, such as `low` or `high`. Passed to the model. */
            detail?: string | null;
        };
        /**
         * @description Why a response is incomplete: the token limit (or the step limit), or the provider's content filter.
         * @enum {string}
         */
        IncompleteReason: "max_output_tokens" | "content_filter";
        /**
         * @description A message, a call of the caller's tool, its output, reasoning (dropped), or a reference to an item of an earlier
         *     response. Unknown fields are ignored.
         */
        InputItem: {
            /** @description The kind of item: `message` (the default), `function_call`, `function_call_output`, `reasoning` or `item_reference`. */
            type?: string | null;
            /** @description The role of a message: `system`, `developer` (an alias of `system`), `user` or `assistant`. */
            role?: string | null;
            /**
             * @description The text of a message. Parts are joined by a line feed. All texts of a request together have at most 1000000
             *     characters (code points).
             */
            content?: string | components["schemas"]["InputPart"][] | null;
            /** @description For a reference: the id of a message or a call in an earlier response. */
            id?: string | null;
            /** @description Links a call and its output. Each call needs one output before the next message. */
            call_id?: string | null;
            /** @description The name of the called tool. */
            name?: string | null;
            /** @description The namespace of the called tool, if it is in one. */
            namespace?: string | null;
            /** @description The arguments of a call: JSON, as generated by the model. */
            arguments?: string | null;
            /** @description The output of a tool. */
            output?: string | components["schemas"]["InputPart"][] | null;
        };
        /** @description A part of a message or of a tool's output. */
        InputPart: {
            /**
             * @description The kind of part: `input_text` or `output_text`; `refusal` in assistant messages; `input_image` in user messages, for models that
             *     support `images`.
             */
            type: string;
            /** @description The text, for the types `input_text` and `output_text`. */
            text?: string | null;
            /** @description Why the model refused to answer, for the type `refusal`. */
            refusal?: string | null;
            /**
             * @description For the type `input_image`: a `data:` URL of a png, jpeg, webp or gif in base64, up to 10 MB. Other URLs are
             *     rejected.
             */
            image_url?: string | null;
            /** @description For the type `input_image`: how closely the model should look, such as `low` or `high`. Passed to the model. */
            detail?: string | null;
        };
        /**
         * @description Whether an item is complete.
         * @enum {string}
         */
        ItemStatus: "in_progress" | "completed" | "incomplete";
        /**
         * Format: int32
         * @description A number of tokens, at least 1.
         */
        MaxTokens: number;
        /** @description A message with the texts of all steps, joined by an empty line. */
        MessageItem: {
            id: string;
            /** @enum {string} */
            type: "message";
            status: components["schemas"]["ItemStatus"];
            /** @enum {string} */
            role: "assistant";
            content: components["schemas"]["OutputText"][];
        };
        /** @description A model that a request can select. */
        Model: {
            /** @description Valid for the `model` field of requests. */
            id: string;
            /** @enum {string} */
            object: "model";
            /**
             * Format: int64
             * @description When the service started, as Unix time in seconds.
             */
            created: number;
            /** @description Name of the engine instance in the settings. */
            owned_by: string;
            /** @description Display name. */
            name: string;
            /** @description The kinds of requests that can select it. */
            capabilities: components["schemas"]["Capability"][];
        };
        /** @description The models that requests can select. */
        ModelList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Model"][];
        };
        /** @description The tool that the model must call. */
        NamedToolChoice: {
            /** @description Only `function`. */
            type: string;
            /** @description The function that the model must call. */
            function?: {
                /** @description The name of the function. */
                name: string;
            };
        };
        /** @description A tool in a namespace. */
        NamespacedTool: {
            /** @description The kind of tool: `function`. Other types are ignored next to a function, and listed in `X-Parlance-Ignored`. */
            type: string;
            /** @description The name by which the model calls the tool. */
            name?: string | null;
            /** @description What the tool does and when to call it, for the model. */
            description?: string | null;
            /** @description JSON Schema of the arguments. */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /** @description No effect. */
            strict?: boolean | null;
        };
        /** @description An item of the output. */
        OutputItem: components["schemas"]["ReasoningItem"] | components["schemas"]["MessageItem"] | components["schemas"]["FunctionCallItem"];
        /** @description An item starts, without its text. */
        OutputItemAddedEvent: {
            /** @enum {string} */
            type: "response.output_item.added";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item: components["schemas"]["OutputItem"];
        };
        /** @description An item is complete. */
        OutputItemDoneEvent: {
            /** @enum {string} */
            type: "response.output_item.done";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item: components["schemas"]["OutputItem"];
        };
        /** @description The text of a message. */
        OutputText: {
            /** @enum {string} */
            type: "output_text";
            text: string;
            annotations: unknown[];
            logprobs: unknown[];
        };
        /** @description The next piece of the text of a message. The deltas concatenate to the text of `response.output_text.done`. */
        OutputTextDeltaEvent: {
            /** @enum {string} */
            type: "response.output_text.delta";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            delta: string;
            logprobs: unknown[];
        };
        /** @description The whole text of a message. */
        OutputTextDoneEvent: {
            /** @enum {string} */
            type: "response.output_text.done";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            text: string;
            logprobs: unknown[];
        };
        /** @description The transcript, for the formats json and verbose_json. */
        PlainOrVerboseTranscription: components["schemas"]["Transcription"] | components["schemas"]["VerboseTranscription"];
        /**
         * @description How the samples are encoded: `audio/pcm` is 16-bit little-endian PCM, mono; `audio/pcmu` and `audio/pcma` are G.711
         *     (µ-law and A-law), 8,000 Hz, mono.
         * @enum {string}
         */
        RealtimeAudioEncoding: "audio/pcm" | "audio/pcmu" | "audio/pcma";
        /** @description The format of the audio that the client sends. */
        RealtimeAudioFormat: {
            type: components["schemas"]["RealtimeAudioEncoding"];
            /**
             * Format: int32
             * @description Hz, only for `audio/pcm`.
             */
            rate?: number;
        };
        /** @description The new audio settings of a session. */
        RealtimeAudioUpdate: {
            /** @description The settings of the audio that the client sends. */
            input?: components["schemas"]["RealtimeInputUpdate"];
        };
        /** @description The events that a client sends in a conversation. */
        RealtimeClientEvent: components["schemas"]["RealtimeClientEventConversationSessionUpdate"] | components["schemas"]["RealtimeClientEventInputAudioBufferAppend"] | components["schemas"]["RealtimeClientEventInputAudioBufferCommit"] | components["schemas"]["RealtimeClientEventInputAudioBufferClear"] | components["schemas"]["RealtimeClientEventConversationItemCreate"] | components["schemas"]["RealtimeClientEventConversationItemRetrieve"] | components["schemas"]["RealtimeClientEventConversationItemDelete"] | components["schemas"]["RealtimeClientEventConversationItemTruncate"] | components["schemas"]["RealtimeClientEventResponseCreate"] | components["schemas"]["RealtimeClientEventResponseCancel"];
        /** @description Adds an item; the answers are `conversation.item.added` and `conversation.item.done`. */
        RealtimeClientEventConversationItemCreate: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "conversation.item.create";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The item before the new one; `root`: the new one becomes the first. Default: the last item. */
            previous_item_id?: string | null;
            /** @description The new item. */
            item: components["schemas"]["RealtimeItemCreate"];
        };
        /** @description Removes an item; the answer is `conversation.item.deleted`. */
        RealtimeClientEventConversationItemDelete: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "conversation.item.delete";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The id of the item. */
            item_id: string;
        };
        /** @description Asks for an item; the answer is `conversation.item.retrieved`. A transcription session keeps no items. */
        RealtimeClientEventConversationItemRetrieve: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "conversation.item.retrieve";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The id of the item. */
            item_id: string;
        };
        /** @description Cuts a spoken answer to what was heard; the answer is `conversation.item.truncated`. */
        RealtimeClientEventConversationItemTruncate: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "conversation.item.truncate";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The id of the item. */
            item_id: string;
            /** @description Only 0. */
            content_index?: number | null;
            /** @description The milliseconds that were heard. Default: 0. A longer time becomes the length of the answer. */
            audio_end_ms?: number | null;
        };
        /** @description Changes the conversation; the answer is `session.updated`. */
        RealtimeClientEventConversationSessionUpdate: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "session.update";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The settings to change. */
            session: components["schemas"]["RealtimeSessionUpdate"];
        };
        /** @description Adds audio. A piece may have any length, and may end within a sample. There is no answer. */
        RealtimeClientEventInputAudioBufferAppend: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "input_audio_buffer.append";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description Base64, without a WAV header. */
            audio: string;
        };
        /** @description Drops the uncommitted audio and the open turn, which gets no further events. */
        RealtimeClientEventInputAudioBufferClear: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "input_audio_buffer.clear";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
        };
        /**
         * @description Ends the turn, which is then transcribed. The answer is `input_audio_buffer.committed`, or an `error` with the code
         *     `input_audio_buffer_commit_empty` for less than 100 ms or, with turn detection, no open turn.
         */
        RealtimeClientEventInputAudioBufferCommit: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "input_audio_buffer.commit";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
        };
        /** @description Ends the response in progress; `response.done` follows. */
        RealtimeClientEventResponseCancel: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "response.cancel";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The response to cancel. Default: the one that adds to the conversation. */
            response_id?: string | null;
        };
        /**
         * @description Makes the model answer. The answer is `response.created`, immediately; the model is called when the turns before it are
         *     transcribed.
         */
        RealtimeClientEventResponseCreate: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "response.create";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The settings of this response. */
            response?: components["schemas"]["RealtimeResponseCreate"] | null;
        };
        /** @description Changes the session; the answer is `session.updated`. */
        RealtimeClientEventSessionUpdate: {
            /**
             * @description Selects this event.
             * @enum {string}
             */
            type: "session.update";
            /** @description Repeated in the `error` that the event causes. */
            event_id?: string | null;
            /** @description The settings to change. */
            session: components["schemas"]["RealtimeTranscriptionSessionUpdate"];
        };
        /** @description A part of a message. It never has audio. */
        RealtimeContent: {
            type: components["schemas"]["RealtimeContentType"];
            /** @description Only in text parts. */
            text?: string;
            /** @description Only in audio parts. null: not transcribed yet. */
            transcript?: string | null;
        };
        /** @description A part of a message of the client. */
        RealtimeContentCreate: {
            /**
             * @description `input_text`, `output_text` or `text`, in messages of any role; `output_audio` with a transcript; `input_audio` with
             *     a transcript or audio.
             */
            type: string;
            /** @description The text, for text parts. */
            text?: string | null;
            /** @description The transcript, for audio parts. */
            transcript?: string | null;
            /**
             * @description Audio of the user in the input format of the session, in base64, ignored if there is a transcript. It must be the only
             *     part of its message, which gets its transcript like a turn. Not supported in the input of a response.
             */
            audio?: string | null;
        };
        /**
         * @description The kind of a content part: input of the user and the system, or output of the model, as text or audio.
         * @enum {string}
         */
        RealtimeContentType: "input_text" | "input_audio" | "output_text" | "output_audio";
        /** @description The audio settings of a conversation. */
        RealtimeConversationAudio: {
            input: components["schemas"]["RealtimeConversationInput"];
            output: components["schemas"]["RealtimeOutput"];
        };
        /** @description The new audio settings of a conversation. */
        RealtimeConversationAudioUpdate: {
            /** @description The settings of the audio that the client sends. */
            input?: components["schemas"]["RealtimeConversationInputUpdate"] | null;
            /** @description The settings of spoken answers. */
            output?: components["schemas"]["RealtimeOutputUpdate"] | null;
        };
        /** @description How the audio of a conversation is received and transcribed. */
        RealtimeConversationInput: {
            format: components["schemas"]["RealtimeAudioFormat"];
            /** @description null: the transcripts of turns are not sent. */
            transcription: components["schemas"]["RealtimeTranscription"] | null;
            /** @description Not supported. */
            noise_reduction: null;
            /** @description null: the client commits, and creates responses. */
            turn_detection: components["schemas"]["RealtimeConversationTurnDetection"] | null;
        };
        /** @description How audio is received and transcribed from now on. */
        RealtimeConversationInputUpdate: {
            /** @description The format of the audio that follows. */
            format?: components["schemas"]["RealtimeFormatUpdate"] | null;
            /** @description The model and hints for the next turns. null selects the default model, and transcripts are not sent. */
            transcription?: components["schemas"]["RealtimeTranscriptionUpdate"] | null;
            /** @description How the end of a turn is detected. null: the client commits, and creates responses. */
            turn_detection?: components["schemas"]["RealtimeConversationTurnDetectionUpdate"] | null;
        };
        /** @description Turns end with silence, and may start and interrupt responses. */
        RealtimeConversationTurnDetection: {
            type: components["schemas"]["RealtimeTurnDetectionType"];
            /**
             * Format: double
             * @description Only for `server_vad`, 0 to 1; 0.5 is 12 dB above the noise of the room.
             */
            threshold?: number;
            /**
             * Format: int32
             * @description Only for `server_vad`: milliseconds before the first voiced frame that belong to the turn.
             */
            prefix_padding_ms?: number;
            /**
             * Format: int32
             * @description Only for `server_vad`: milliseconds of silence that end a turn.
             */
            silence_duration_ms?: number;
            /** @description Only for `semantic_vad`. */
            eagerness?: components["schemas"]["RealtimeEagerness"];
            /** @description Whether a turn with a transcript gets an answer. */
            create_response: boolean;
            /** @description Whether the start of a turn interrupts the response in progress. */
            interrupt_response: boolean;
            /** @description Not supported. */
            idle_timeout_ms: null;
        };
        /** @description How the end of a turn is detected from now on, and what turns cause. */
        RealtimeConversationTurnDetectionUpdate: {
            /** @description Default: the current type, else `server_vad`. */
            type?: components["schemas"]["RealtimeTurnDetectionType"];
            /** @description Only for `server_vad`, 0 to 1: how loud speech must be. 0.5 is 12 dB above the noise of the room. Default: 0.5. */
            threshold?: number | null;
            /** @description Only for `server_vad`, 0 to 2000: milliseconds before the first voiced frame that belong to the turn. Default: 300. */
            prefix_padding_ms?: number | null;
            /** @description Only for `server_vad`, 100 to 5000: milliseconds of silence that end a turn. Default: 500. */
            silence_duration_ms?: number | null;
            /** @description Only for `semantic_vad`. Default: `auto`. */
            eagerness?: components["schemas"]["RealtimeEagerness"] | null;
            /** @description Whether a turn with a transcript gets an answer. Default: true. */
            create_response?: boolean | null;
            /** @description Whether the start of a turn interrupts the response in progress. Default: true. */
            interrupt_response?: boolean | null;
        };
        /**
         * @description How soon `semantic_vad` ends a turn: after a silence of 800 (`low`), 600 (`medium`, `auto`) or 400 (`high`) ms.
         * @enum {string}
         */
        RealtimeEagerness: "low" | "medium" | "high" | "auto";
        /** @description What is wrong, and which event of the client caused it. */
        RealtimeErrorDetails: {
            /** @description Kind of error. New ones may be added. */
            type: string;
            /** @description Machine-readable code, as in a response of the API. */
            code: string;
            message: string;
            /** @description The invalid field, such as `session.audio.input.format.rate`. */
            param: string | null;
            /** @description The `event_id` of the client's event that caused the error. */
            event_id: string | null;
        };
        /** @description The new format of the audio that the client sends. It replaces the current one. */
        RealtimeFormatUpdate: {
            /** @description How the samples are encoded. */
            type: components["schemas"]["RealtimeAudioEncoding"];
            /** @description Hz, for `audio/pcm`. Default: 24000. */
            rate?: number | null;
        };
        /** @description The function that the model must call. */
        RealtimeFunctionChoice: {
            /** @enum {string} */
            type: "function";
            name: string;
        };
        /** @description A function of the client. */
        RealtimeFunctionTool: {
            /** @enum {string} */
            type: "function";
            name: string;
            description?: string;
            /** @description JSON Schema of the arguments. */
            parameters?: {
                [key: string]: unknown;
            };
        };
        /** @description The input tokens of a response. */
        RealtimeInputTokenDetails: {
            /** Format: int64 */
            text_tokens: number;
            /** Format: int64 */
            audio_tokens: number;
            /** Format: int64 */
            cached_tokens: number;
        };
        /** @description How audio is received and transcribed from now on. */
        RealtimeInputUpdate: {
            /** @description The format of the audio that follows. */
            format?: components["schemas"]["RealtimeFormatUpdate"];
            /** @description The model and hints for the next turns. null removes the hints and selects the default model. */
            transcription?: components["schemas"]["RealtimeTranscriptionUpdate"] | null;
            /** @description How the end of a turn is detected. null: the client ends turns with `input_audio_buffer.commit`. */
            turn_detection?: components["schemas"]["RealtimeTurnDetectionUpdate"] | null;
        };
        /** @description An item of a conversation. */
        RealtimeItem: {
            id: string;
            /** @enum {string} */
            object: "realtime.item";
            type: components["schemas"]["RealtimeItemType"];
            status: components["schemas"]["RealtimeItemStatus"];
            /** @description Only in messages. */
            role?: components["schemas"]["RealtimeRole"];
            /** @description Only in messages. */
            content?: components["schemas"]["RealtimeContent"][];
            /** @description Only in calls and their outputs. */
            call_id?: string;
            /** @description Only in calls: the name of the function. */
            name?: string;
            /** @description Only in calls: JSON as the model wrote it, not validated; "" until the call is complete. */
            arguments?: string;
            /** @description Only in outputs. */
            output?: string;
        };
        /** @description An item of the client. */
        RealtimeItemCreate: {
            /** @description Unique in the conversation. Default: a new id. */
            id?: string | null;
            /** @description `message`, `function_call` or `function_call_output`; in the input of a response also `item_reference`. */
            type: string;
            /** @description Required for messages. */
            role?: components["schemas"]["RealtimeRole"] | null;
            /** @description The parts of a message. */
            content?: components["schemas"]["RealtimeContentCreate"][] | null;
            /** @description Connects an output with its call. Required for outputs. Default for calls: a new id. */
            call_id?: string | null;
            /** @description The name of the called function. */
            name?: string | null;
            /** @description The arguments of a call, as JSON. */
            arguments?: string | null;
            /** @description The output of a call. */
            output?: string | null;
        };
        /**
         * @description The state of an item. `incomplete`: its response was canceled, failed or reached a limit.
         * @enum {string}
         */
        RealtimeItemStatus: "in_progress" | "completed" | "incomplete";
        /**
         * @description The kind of an item: a message, the model's call of a tool, or the output of a called tool.
         * @enum {string}
         */
        RealtimeItemType: "message" | "function_call" | "function_call_output";
        /** @description A number of tokens, or `inf` for the limit of the model. */
        RealtimeMaxTokens: number | "inf";
        /**
         * @description How the model answers. A response has one of them.
         * @enum {string}
         */
        RealtimeModality: "text" | "audio";
        /** @description How answers are spoken. */
        RealtimeOutput: {
            format: components["schemas"]["RealtimeAudioFormat"];
            voice: string;
            /** Format: double */
            speed: number;
        };
        /** @description The output tokens of a response. */
        RealtimeOutputTokenDetails: {
            /** Format: int64 */
            text_tokens: number;
            /** Format: int64 */
            audio_tokens: number;
        };
        /** @description How answers are spoken from now on. */
        RealtimeOutputUpdate: {
            /** @description `audio/pcm` of 24,000 Hz, or G.711. */
            format?: components["schemas"]["RealtimeFormatUpdate"] | null;
            /** @description A voice of the default speech model, or an alias such as `alloy`. */
            voice?: components["schemas"]["RealtimeVoice"] | null;
            /** @description 0.25 to 1.5. Default: 1. */
            speed?: number | null;
        };
        /** @description A part of an answer. */
        RealtimePart: {
            type: components["schemas"]["RealtimeModality"];
            /** @description Only in text. */
            text?: string;
            /** @description Only in audio. */
            transcript?: string;
        };
        /** @description An answer of the model. Mirrors `RealtimeResponse`. */
        RealtimeResponse: {
            id: string;
            /** @enum {string} */
            object: "realtime.response";
            status: components["schemas"]["RealtimeResponseStatus"];
            /** @description null unless the response is canceled, incomplete or failed. */
            status_details: components["schemas"]["RealtimeResponseStatusDetails"] | null;
            /** @description In order; empty until the response is done. */
            output: components["schemas"]["RealtimeItem"][];
            /** @description null for a response that is not part of the conversation. */
            conversation_id: string | null;
            output_modalities: components["schemas"]["RealtimeModality"][];
            max_output_tokens: components["schemas"]["RealtimeMaxTokens"];
            audio: components["schemas"]["RealtimeResponseAudio"];
            /** @description null until the response is done. */
            usage: components["schemas"]["RealtimeResponseUsage"] | null;
            /** @description As sent in `response.create`. */
            metadata: {
                [key: string]: string;
            } | null;
        };
        /** @description The audio settings of a response. */
        RealtimeResponseAudio: {
            output: components["schemas"]["RealtimeResponseOutput"];
        };
        /** @description The settings of a spoken answer. */
        RealtimeResponseAudioCreate: {
            /** @description How the answer is spoken. */
            output?: components["schemas"]["RealtimeOutputUpdate"] | null;
        };
        /** @description The settings of one response. They replace those of the session. */
        RealtimeResponseCreate: {
            /** @description `["audio"]` or `["text"]`. Default: audio, if a voice is available. */
            output_modalities?: components["schemas"]["RealtimeModality"][] | null;
            /** @description The system message. "": none. */
            instructions?: string | null;
            /** @description The client's tools. Without tools, the model has the tools of the service. */
            tools?: components["schemas"]["RealtimeToolUpdate"][] | null;
            /** @description `auto`, `none`, `required`, or the function that the model must call. Default: `auto`. */
            tool_choice?: components["schemas"]["RealtimeToolChoiceUpdate"] | null;
            /** @description Maximum number of tokens of a response. Default: `inf`. */
            max_output_tokens?: components["schemas"]["RealtimeMaxTokens"] | null;
            /** @description Whether the model may call several tools in one response. Ignored by models without `json`. */
            parallel_tool_calls?: boolean | null;
            /** @description How a reasoning model thinks. */
            reasoning?: components["schemas"]["ReasoningOptions"] | null;
            /** @description Not supported. */
            prompt?: unknown;
            /** @description `auto` (the default) adds the output to the conversation. `none`: a response of its own, beside others. */
            conversation?: string | null;
            /** @description The items to answer, instead of the conversation: whole items, or references to items of the conversation. */
            input?: components["schemas"]["RealtimeItemCreate"][] | null;
            /** @description Returned in the response. At most 16 strings. */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description The settings of a spoken answer. */
            audio?: components["schemas"]["RealtimeResponseAudioCreate"] | null;
        };
        /** @description How a response is spoken. */
        RealtimeResponseOutput: {
            format: components["schemas"]["RealtimeAudioFormat"];
            voice: string;
        };
        /**
         * @description Why a response is canceled or incomplete.
         * @enum {string}
         */
        RealtimeResponseReason: "turn_detected" | "client_cancelled" | "max_output_tokens" | "content_filter";
        /**
         * @description The state of a response.
         * @enum {string}
         */
        RealtimeResponseStatus: "in_progress" | "completed" | "cancelled" | "incomplete" | "failed";
        /** @description Why a response is not `completed`. */
        RealtimeResponseStatusDetails: {
            type: components["schemas"]["RealtimeResponseStatus"];
            reason?: components["schemas"]["RealtimeResponseReason"];
            error?: components["schemas"]["RealtimeTranscriptionError"];
        };
        /** @description The tokens of a response; 0 if the provider reports none. */
        RealtimeResponseUsage: {
            /** Format: int64 */
            total_tokens: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            input_token_details: components["schemas"]["RealtimeInputTokenDetails"];
            output_token_details: components["schemas"]["RealtimeOutputTokenDetails"];
        };
        /** @description How much of a conversation remains when it no longer fits into the context of the model. */
        RealtimeRetentionRatio: {
            /**
             * @description Selects this form.
             * @enum {string}
             */
            type: "retention_ratio";
            /**
             * Format: double
             * @description The share of the text. `auto` is 0.8.
             */
            retention_ratio: number;
        };
        /**
         * @description The author of a message.
         * @enum {string}
         */
        RealtimeRole: "system" | "user" | "assistant";
        /** @description The events that the service sends in a conversation. New types may be added. */
        RealtimeServerEvent: components["schemas"]["RealtimeServerEventConversationSessionCreated"] | components["schemas"]["RealtimeServerEventConversationSessionUpdated"] | components["schemas"]["RealtimeServerEventInputAudioBufferSpeechStarted"] | components["schemas"]["RealtimeServerEventInputAudioBufferSpeechStopped"] | components["schemas"]["RealtimeServerEventInputAudioBufferCommitted"] | components["schemas"]["RealtimeServerEventInputAudioBufferCleared"] | components["schemas"]["RealtimeServerEventConversationItemAdded"] | components["schemas"]["RealtimeServerEventConversationItemDone"] | components["schemas"]["RealtimeServerEventConversationItemRetrieved"] | components["schemas"]["RealtimeServerEventConversationItemDeleted"] | components["schemas"]["RealtimeServerEventConversationItemTruncated"] | components["schemas"]["RealtimeServerEventConversationItemInputAudioTranscriptionDelta"] | components["schemas"]["RealtimeServerEventConversationItemInputAudioTranscriptionCompleted"] | components["schemas"]["RealtimeServerEventConversationItemInputAudioTranscriptionFailed"] | components["schemas"]["RealtimeServerEventResponseCreated"] | components["schemas"]["RealtimeServerEventResponseOutputItemAdded"] | components["schemas"]["RealtimeServerEventResponseOutputItemDone"] | components["schemas"]["RealtimeServerEventResponseContentPartAdded"] | components["schemas"]["RealtimeServerEventResponseContentPartDone"] | components["schemas"]["RealtimeServerEventResponseOutputTextDelta"] | components["schemas"]["RealtimeServerEventResponseOutputTextDone"] | components["schemas"]["RealtimeServerEventResponseOutputAudioTranscriptDelta"] | components["schemas"]["RealtimeServerEventResponseOutputAudioTranscriptDone"] | components["schemas"]["RealtimeServerEventResponseOutputAudioDelta"] | components["schemas"]["RealtimeServerEventResponseOutputAudioDone"] | components["schemas"]["RealtimeServerEventResponseFunctionCallArgumentsDelta"] | components["schemas"]["RealtimeServerEventResponseFunctionCallArgumentsDone"] | components["schemas"]["RealtimeServerEventResponseDone"] | components["schemas"]["RealtimeServerEventError"];
        /** @description An item is in the conversation now. The item of a turn comes after `input_audio_buffer.committed`. */
        RealtimeServerEventConversationItemAdded: {
            /** @enum {string} */
            type: "conversation.item.added";
            event_id: string;
            /** @description The item before it; null for the first one. */
            previous_item_id: string | null;
            item: components["schemas"]["RealtimeItem"];
        };
        /** @description The answer to `conversation.item.delete`. */
        RealtimeServerEventConversationItemDeleted: {
            /** @enum {string} */
            type: "conversation.item.deleted";
            event_id: string;
            item_id: string;
        };
        /** @description An item is complete, except for the transcript of a turn, which has its own events. */
        RealtimeServerEventConversationItemDone: {
            /** @enum {string} */
            type: "conversation.item.done";
            event_id: string;
            /** @description The item before it; null for the first one. */
            previous_item_id: string | null;
            item: components["schemas"]["RealtimeItem"];
        };
        /** @description The transcript of a turn, sent once; "" if nothing was said. */
        RealtimeServerEventConversationItemInputAudioTranscriptionCompleted: {
            /** @enum {string} */
            type: "conversation.item.input_audio_transcription.completed";
            event_id: string;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            transcript: string;
            usage: components["schemas"]["RealtimeTranscriptionUsage"];
            /** @description Absent if the model reports no language. */
            languages?: components["schemas"]["TranscriptionLanguage"][];
        };
        /** @description The next part of the transcript of a committed turn. The deltas concatenate to `transcript`. */
        RealtimeServerEventConversationItemInputAudioTranscriptionDelta: {
            /** @enum {string} */
            type: "conversation.item.input_audio_transcription.delta";
            event_id: string;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            delta: string;
        };
        /** @description The transcription of a turn failed. The session continues. */
        RealtimeServerEventConversationItemInputAudioTranscriptionFailed: {
            /** @enum {string} */
            type: "conversation.item.input_audio_transcription.failed";
            event_id: string;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            error: components["schemas"]["RealtimeTranscriptionError"];
        };
        /** @description The answer to `conversation.item.retrieve`. An interrupted answer has the text that was heard. */
        RealtimeServerEventConversationItemRetrieved: {
            /** @enum {string} */
            type: "conversation.item.retrieved";
            event_id: string;
            item: components["schemas"]["RealtimeItem"];
        };
        /** @description The answer to `conversation.item.truncate`. */
        RealtimeServerEventConversationItemTruncated: {
            /** @enum {string} */
            type: "conversation.item.truncated";
            event_id: string;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            /**
             * Format: int64
             * @description The value that is in effect.
             */
            audio_end_ms: number;
        };
        /** @description The first event. */
        RealtimeServerEventConversationSessionCreated: {
            /** @enum {string} */
            type: "session.created";
            event_id: string;
            session: components["schemas"]["RealtimeSession"];
        };
        /** @description The whole session after an update. */
        RealtimeServerEventConversationSessionUpdated: {
            /** @enum {string} */
            type: "session.updated";
            event_id: string;
            session: components["schemas"]["RealtimeSession"];
        };
        /** @description A client event was rejected without effect, or the session ends. */
        RealtimeServerEventError: {
            /** @enum {string} */
            type: "error";
            event_id: string;
            error: components["schemas"]["RealtimeErrorDetails"];
        };
        /** @description The answer to `input_audio_buffer.clear`. */
        RealtimeServerEventInputAudioBufferCleared: {
            /** @enum {string} */
            type: "input_audio_buffer.cleared";
            event_id: string;
        };
        /** @description The transcription of a turn starts. It ends with `completed` or `failed`, possibly out of order. */
        RealtimeServerEventInputAudioBufferCommitted: {
            /** @enum {string} */
            type: "input_audio_buffer.committed";
            event_id: string;
            item_id: string;
            /** @description The item before it; null for the first one. */
            previous_item_id: string | null;
        };
        /** @description A turn begins. */
        RealtimeServerEventInputAudioBufferSpeechStarted: {
            /** @enum {string} */
            type: "input_audio_buffer.speech_started";
            event_id: string;
            item_id: string;
            /**
             * Format: int64
             * @description Milliseconds of audio since the start of the session, with the padding.
             */
            audio_start_ms: number;
        };
        /** @description A turn has ended. `input_audio_buffer.committed` follows. */
        RealtimeServerEventInputAudioBufferSpeechStopped: {
            /** @enum {string} */
            type: "input_audio_buffer.speech_stopped";
            event_id: string;
            item_id: string;
            /**
             * Format: int64
             * @description Milliseconds of audio since the start of the session, with the silence that ended the turn.
             */
            audio_end_ms: number;
        };
        /** @description The content of a message begins. */
        RealtimeServerEventResponseContentPartAdded: {
            /** @enum {string} */
            type: "response.content_part.added";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            part: components["schemas"]["RealtimePart"];
        };
        /** @description The content of a message is complete. */
        RealtimeServerEventResponseContentPartDone: {
            /** @enum {string} */
            type: "response.content_part.done";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            part: components["schemas"]["RealtimePart"];
        };
        /** @description A response begins. */
        RealtimeServerEventResponseCreated: {
            /** @enum {string} */
            type: "response.created";
            event_id: string;
            response: components["schemas"]["RealtimeResponse"];
        };
        /** @description A response has ended. Each `response.created` is followed by one. */
        RealtimeServerEventResponseDone: {
            /** @enum {string} */
            type: "response.done";
            event_id: string;
            response: components["schemas"]["RealtimeResponse"];
        };
        /** @description The arguments of a call. */
        RealtimeServerEventResponseFunctionCallArgumentsDelta: {
            /** @enum {string} */
            type: "response.function_call_arguments.delta";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            call_id: string;
            delta: string;
        };
        /** @description The whole arguments of a call. The client sends an item with the output, and then `response.create`. */
        RealtimeServerEventResponseFunctionCallArgumentsDone: {
            /** @enum {string} */
            type: "response.function_call_arguments.done";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            call_id: string;
            name: string;
            arguments: string;
        };
        /** @description The next part of the audio of an answer, in base64, at most 100 ms. */
        RealtimeServerEventResponseOutputAudioDelta: {
            /** @enum {string} */
            type: "response.output_audio.delta";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            delta: string;
        };
        /** @description The audio of an answer is complete, as far as it was sent. */
        RealtimeServerEventResponseOutputAudioDone: {
            /** @enum {string} */
            type: "response.output_audio.done";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
        };
        /** @description The words of the audio that follows. The deltas concatenate to `transcript`. */
        RealtimeServerEventResponseOutputAudioTranscriptDelta: {
            /** @enum {string} */
            type: "response.output_audio_transcript.delta";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            delta: string;
        };
        /** @description The words of the whole audio, as far as it was sent. */
        RealtimeServerEventResponseOutputAudioTranscriptDone: {
            /** @enum {string} */
            type: "response.output_audio_transcript.done";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            transcript: string;
        };
        /** @description An item of a response begins. `conversation.item.added` follows, unless the response is not part of the conversation. */
        RealtimeServerEventResponseOutputItemAdded: {
            /** @enum {string} */
            type: "response.output_item.added";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item: components["schemas"]["RealtimeItem"];
        };
        /** @description An item of a response is complete, or `incomplete`. `conversation.item.done` follows, unless the item was deleted or the response is not part of the conversation. */
        RealtimeServerEventResponseOutputItemDone: {
            /** @enum {string} */
            type: "response.output_item.done";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item: components["schemas"]["RealtimeItem"];
        };
        /** @description The next part of the text of an answer. The deltas concatenate to `text`. */
        RealtimeServerEventResponseOutputTextDelta: {
            /** @enum {string} */
            type: "response.output_text.delta";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            delta: string;
        };
        /** @description The whole text of an answer, as far as it was sent. */
        RealtimeServerEventResponseOutputTextDone: {
            /** @enum {string} */
            type: "response.output_text.done";
            event_id: string;
            response_id: string;
            /**
             * Format: int32
             * @description The position of the item in `output` of the response.
             */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            content_index: 0;
            text: string;
        };
        /** @description The first event. */
        RealtimeServerEventSessionCreated: {
            /** @enum {string} */
            type: "session.created";
            event_id: string;
            session: components["schemas"]["RealtimeTranscriptionSession"];
        };
        /** @description The whole session after an update. */
        RealtimeServerEventSessionUpdated: {
            /** @enum {string} */
            type: "session.updated";
            event_id: string;
            session: components["schemas"]["RealtimeTranscriptionSession"];
        };
        /** @description A conversation as it is in effect. Mirrors `RealtimeSessionCreateResponseGA`. */
        RealtimeSession: {
            /** @enum {string} */
            type: "realtime";
            /** @enum {string} */
            object: "realtime.session";
            id: string;
            /**
             * Format: int64
             * @description When the session ends, as Unix time in seconds.
             */
            expires_at: number;
            /** @description The id of the entry in `GET /models`, even if an alias was sent. */
            model: string;
            output_modalities: components["schemas"]["RealtimeModality"][];
            instructions: string;
            tools: components["schemas"]["RealtimeFunctionTool"][];
            tool_choice: components["schemas"]["RealtimeToolChoice"];
            max_output_tokens: components["schemas"]["RealtimeMaxTokens"];
            truncation: components["schemas"]["RealtimeTruncation"];
            audio: components["schemas"]["RealtimeConversationAudio"];
            /** @description Not supported. */
            tracing: null;
            /** @description Not supported. */
            prompt: null;
            /** @description Not supported. */
            include: null;
        };
        /** @description The audio settings of a session. */
        RealtimeSessionAudio: {
            input: components["schemas"]["RealtimeSessionInput"];
        };
        /** @description How the audio of a session is received and transcribed. */
        RealtimeSessionInput: {
            format: components["schemas"]["RealtimeAudioFormat"];
            transcription: components["schemas"]["RealtimeTranscription"];
            /** @description Not supported. */
            noise_reduction: null;
            /** @description null: the client commits. */
            turn_detection: components["schemas"]["RealtimeTurnDetection"] | null;
        };
        /** @description The new settings of a conversation. Only the fields that are present change; null resets one. */
        RealtimeSessionUpdate: {
            /**
             * @description The type of the session, which cannot change.
             * @enum {string}
             */
            type: "realtime";
            /** @description `["audio"]` or `["text"]`. Default: audio, if a voice is available. */
            output_modalities?: components["schemas"]["RealtimeModality"][] | null;
            /** @description The system message. "": none. */
            instructions?: string | null;
            /** @description The client's tools. Without tools, the model has the tools of the service. */
            tools?: components["schemas"]["RealtimeToolUpdate"][] | null;
            /** @description `auto`, `none`, `required`, or the function that the model must call. Default: `auto`. */
            tool_choice?: components["schemas"]["RealtimeToolChoiceUpdate"] | null;
            /** @description Maximum number of tokens of a response. Default: `inf`. */
            max_output_tokens?: components["schemas"]["RealtimeMaxTokens"] | null;
            /** @description Whether the model may call several tools in one response. Ignored by models without `json`. */
            parallel_tool_calls?: boolean | null;
            /** @description How a reasoning model thinks. */
            reasoning?: components["schemas"]["ReasoningOptions"] | null;
            /** @description Not supported. */
            prompt?: unknown;
            /** @description The chat model: an id from `GET /models`. An alias such as `gpt-realtime` keeps the current one. */
            model?: string | null;
            /** @description How the service responds if the conversation no longer fits into the model's context. Default: `auto`. */
            truncation?: components["schemas"]["RealtimeTruncation"] | null;
            /** @description The audio settings. */
            audio?: components["schemas"]["RealtimeConversationAudioUpdate"] | null;
            /** @description Only `[]` or null: log probabilities are not supported. */
            include?: string[] | null;
        };
        /** @description Whether the model calls tools, or the function that it must call. */
        RealtimeToolChoice: components["schemas"]["ToolChoiceMode"] | components["schemas"]["RealtimeFunctionChoice"];
        /** @description A mode, the name of a function, or a function. */
        RealtimeToolChoiceUpdate: string | components["schemas"]["FunctionToolChoice"];
        /** @description A tool of the client. */
        RealtimeToolUpdate: {
            /** @description Only `function`. */
            type: string;
            /** @description The name by which the model calls the function. */
            name?: string | null;
            /** @description Tells the model what the function does and when to call it. */
            description?: string | null;
            /** @description JSON Schema of the arguments. */
            parameters?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The model and the hints that the next turns are transcribed with. */
        RealtimeTranscription: {
            /** @description The id of the entry in `GET /models`, even if an alias was sent. */
            model: string;
            /** @description ISO 639-1. Absent: the model detects it. */
            language?: string;
            /** @description The languages to choose from, if there is no `language`. */
            languages?: string[];
            /** @description The text that guides the model. */
            prompt?: string;
            /** @description Words and names that may occur. */
            keywords?: string[];
            /** @description As sent. It has no effect: a transcript always comes after its turn. */
            delay?: string;
        };
        /** @description The events that a client sends in a transcription session. */
        RealtimeTranscriptionClientEvent: components["schemas"]["RealtimeClientEventSessionUpdate"] | components["schemas"]["RealtimeClientEventInputAudioBufferAppend"] | components["schemas"]["RealtimeClientEventInputAudioBufferCommit"] | components["schemas"]["RealtimeClientEventInputAudioBufferClear"] | components["schemas"]["RealtimeClientEventConversationItemRetrieve"] | components["schemas"]["RealtimeClientEventConversationItemDelete"] | components["schemas"]["RealtimeClientEventConversationItemTruncate"] | components["schemas"]["RealtimeClientEventResponseCancel"];
        /** @description An error as in a response of the API. */
        RealtimeTranscriptionError: {
            /** @description Kind of error. New ones may be added. */
            type: string;
            /** @description Machine-readable code, as in a response of the API. */
            code: string;
            message: string;
        };
        /** @description The events that the service sends in a transcription session. New types may be added. */
        RealtimeTranscriptionServerEvent: components["schemas"]["RealtimeServerEventSessionCreated"] | components["schemas"]["RealtimeServerEventSessionUpdated"] | components["schemas"]["RealtimeServerEventInputAudioBufferSpeechStarted"] | components["schemas"]["RealtimeServerEventInputAudioBufferSpeechStopped"] | components["schemas"]["RealtimeServerEventInputAudioBufferCommitted"] | components["schemas"]["RealtimeServerEventInputAudioBufferCleared"] | components["schemas"]["RealtimeServerEventConversationItemAdded"] | components["schemas"]["RealtimeServerEventConversationItemDone"] | components["schemas"]["RealtimeServerEventConversationItemInputAudioTranscriptionDelta"] | components["schemas"]["RealtimeServerEventConversationItemInputAudioTranscriptionCompleted"] | components["schemas"]["RealtimeServerEventConversationItemInputAudioTranscriptionFailed"] | components["schemas"]["RealtimeServerEventError"];
        /**
         * @description A session as it is in effect: unused fields are absent or null. Mirrors
         *     `RealtimeTranscriptionSessionCreateResponseGA`.
         */
        RealtimeTranscriptionSession: {
            /** @enum {string} */
            type: "transcription";
            /** @enum {string} */
            object: "realtime.transcription_session";
            id: string;
            /**
             * Format: int64
             * @description When the session ends, as Unix time in seconds.
             */
            expires_at: number;
            audio: components["schemas"]["RealtimeSessionAudio"];
            /** @description Not supported. */
            include: null;
        };
        /** @description The new settings of a session. Only the fields that are present change; null clears a field. */
        RealtimeTranscriptionSessionUpdate: {
            /**
             * @description The type of the session, which cannot change.
             * @enum {string}
             */
            type: "transcription";
            /** @description The audio settings. */
            audio?: components["schemas"]["RealtimeAudioUpdate"];
        };
        /** @description The model and hints for the next turns. Hints that the model does not support have no effect. */
        RealtimeTranscriptionUpdate: {
            /** @description An id from `GET /models`, or an alias as for a transcription, such as `gpt-realtime-whisper`. null: the default. */
            model?: string | null;
            /** @description The spoken language: `de`, `de-DE`, `deu` or `german`. Unknown ones have no effect. */
            language?: string | null;
            /** @description The languages that may be spoken. */
            languages?: string[] | null;
            /** @description Text that guides the model. The last 8,192 characters of a longer prompt are used. */
            prompt?: string | null;
            /** @description Words and names that may occur. At most 200 of up to 64 characters, 2,000 in total; others have no effect. */
            keywords?: string[] | null;
            /** @description Returned as sent, without an effect: a transcript always comes after its turn. */
            delay?: string | null;
        };
        /** @description The length of a turn. */
        RealtimeTranscriptionUsage: {
            /** @enum {string} */
            type: "duration";
            /** Format: double */
            seconds: number;
        };
        /**
         * @description How the service responds if the conversation no longer fits into the model's context. `auto`: the oldest turns are
         *     not sent to the model. `disabled`: the response fails.
         */
        RealtimeTruncation: components["schemas"]["RealtimeTruncationMode"] | components["schemas"]["RealtimeRetentionRatio"];
        /**
         * @description Whether the model gets only the last part of a conversation that no longer fits into its context.
         * @enum {string}
         */
        RealtimeTruncationMode: "auto" | "disabled";
        /** @description Turns end with silence. */
        RealtimeTurnDetection: {
            type: components["schemas"]["RealtimeTurnDetectionType"];
            /**
             * Format: double
             * @description Only for `server_vad`, 0 to 1; 0.5 is 12 dB above the noise of the room.
             */
            threshold?: number;
            /**
             * Format: int32
             * @description Only for `server_vad`: milliseconds before the first voiced frame that belong to the turn.
             */
            prefix_padding_ms?: number;
            /**
             * Format: int32
             * @description Only for `server_vad`: milliseconds of silence that end a turn.
             */
            silence_duration_ms?: number;
            /** @description Only for `semantic_vad`. */
            eagerness?: components["schemas"]["RealtimeEagerness"];
        };
        /**
         * @description How the end of a turn is detected: by silence. `semantic_vad` is accepted for clients that always send it; its
         *     silence depends on `eagerness`.
         * @enum {string}
         */
        RealtimeTurnDetectionType: "server_vad" | "semantic_vad";
        /**
         * @description How the end of a turn is detected from now on. Merged with the current settings of the same type. Numbers outside a
         *     field's range are clamped; null resets a field.
         */
        RealtimeTurnDetectionUpdate: {
            /** @description Default: the current type, else `server_vad`. */
            type?: components["schemas"]["RealtimeTurnDetectionType"];
            /** @description Only for `server_vad`, 0 to 1: how loud speech must be. 0.5 is 12 dB above the noise of the room. Default: 0.5. */
            threshold?: number | null;
            /** @description Only for `server_vad`, 0 to 2000: milliseconds before the first voiced frame that belong to the turn. Default: 300. */
            prefix_padding_ms?: number | null;
            /** @description Only for `server_vad`, 100 to 5000: milliseconds of silence that end a turn. Default: 500. */
            silence_duration_ms?: number | null;
            /** @description Only for `semantic_vad`. Default: `auto`. */
            eagerness?: components["schemas"]["RealtimeEagerness"] | null;
        };
        /** @description A voice, by its id. */
        RealtimeVoice: string | components["schemas"]["RealtimeVoiceId"];
        /** @description The id of a voice, as an object. */
        RealtimeVoiceId: {
            /** @description The id of the voice. */
            id: string;
        };
        /** @description The next piece of the reasoning text. The deltas concatenate to the text of `response.reasoning_summary_text.done`. */
        ReasoningDeltaEvent: {
            /** @enum {string} */
            type: "response.reasoning_summary_text.delta";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            summary_index: 0;
            delta: string;
        };
        /** @description The whole reasoning text. */
        ReasoningDoneEvent: {
            /** @enum {string} */
            type: "response.reasoning_summary_text.done";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            summary_index: 0;
            text: string;
        };
        /** @description The reasoning text of a reasoning model, up to the first word of the answer. */
        ReasoningItem: {
            id: string;
            /** @enum {string} */
            type: "reasoning";
            status: components["schemas"]["ItemStatus"];
            summary: components["schemas"]["SummaryText"][];
            encrypted_content: null;
        };
        /** @description How a reasoning model thinks. */
        ReasoningOptions: {
            /** @description How much the model thinks, such as `low` or `high`. Ignored by models without `json`. */
            effort?: string | null;
            /** @description No effect: reasoning is always in the output. */
            summary?: string | null;
        };
        /** @description A part of the reasoning text starts. */
        ReasoningPartAddedEvent: {
            /** @enum {string} */
            type: "response.reasoning_summary_part.added";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            summary_index: 0;
            part: components["schemas"]["SummaryText"];
        };
        /** @description A part of the reasoning text is complete. */
        ReasoningPartDoneEvent: {
            /** @enum {string} */
            type: "response.reasoning_summary_part.done";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            /** Format: int32 */
            output_index: number;
            item_id: string;
            /** @enum {number} */
            summary_index: 0;
            part: components["schemas"]["SummaryText"];
        };
        /** @description The last event of a successful stream. */
        ResponseCompletedEvent: {
            /** @enum {string} */
            type: "response.completed";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            response: components["schemas"]["ResponseObject"];
        };
        /** @description The run has started. The output is empty. */
        ResponseCreatedEvent: {
            /** @enum {string} */
            type: "response.created";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            response: components["schemas"]["ResponseObject"];
        };
        /** @description Why a response failed. */
        ResponseError: {
            /** @description `server_error`, `rate_limit_exceeded`, `context_length_exceeded` or `insufficient_quota`. New ones may be added. */
            code: string;
            message: string;
        };
        /** @description An event of a streamed response. The last event is `response.completed`, `response.incomplete` or `response.failed`, without a `[DONE]`. */
        ResponseEvent: components["schemas"]["ResponseCreatedEvent"] | components["schemas"]["ResponseInProgressEvent"] | components["schemas"]["OutputItemAddedEvent"] | components["schemas"]["OutputItemDoneEvent"] | components["schemas"]["ReasoningPartAddedEvent"] | components["schemas"]["ReasoningDeltaEvent"] | components["schemas"]["ReasoningDoneEvent"] | components["schemas"]["ReasoningPartDoneEvent"] | components["schemas"]["ContentPartAddedEvent"] | components["schemas"]["OutputTextDeltaEvent"] | components["schemas"]["OutputTextDoneEvent"] | components["schemas"]["ContentPartDoneEvent"] | components["schemas"]["ArgumentsDeltaEvent"] | components["schemas"]["ArgumentsDoneEvent"] | components["schemas"]["ResponseCompletedEvent"] | components["schemas"]["ResponseIncompleteEvent"] | components["schemas"]["ResponseFailedEvent"];
        /** @description The last event of a failed stream, with the output so far. */
        ResponseFailedEvent: {
            /** @enum {string} */
            type: "response.failed";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            response: components["schemas"]["ResponseObject"];
        };
        /** @description Sent directly after `response.created`. */
        ResponseInProgressEvent: {
            /** @enum {string} */
            type: "response.in_progress";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            response: components["schemas"]["ResponseObject"];
        };
        /** @description The last event of a stream whose answer was truncated. */
        ResponseIncompleteEvent: {
            /** @enum {string} */
            type: "response.incomplete";
            /**
             * Format: int64
             * @description Starts at 0, increments by 1.
             */
            sequence_number: number;
            response: components["schemas"]["ResponseObject"];
        };
        /** @description The answer to a conversation. */
        ResponseObject: {
            /** @description `resp_` and the request id, without hyphens. */
            id: string;
            /** @enum {string} */
            object: "response";
            /**
             * Format: int64
             * @description Unix time in seconds, like `completed_at`.
             */
            created_at: number;
            /** @description null except in a completed response. */
            completed_at: number | null;
            status: components["schemas"]["ResponseStatus"];
            /** @enum {boolean} */
            background: false;
            /** @description Why the response failed. */
            error: components["schemas"]["ResponseError"] | null;
            /** @description Why the response is incomplete: the token limit (or the step limit), or the provider's content filter. */
            incomplete_details: {
                reason: components["schemas"]["IncompleteReason"];
            } | null;
            instructions: string | null;
            max_output_tokens: number | null;
            /** @description The model that generated the answer. */
            model: string;
            /** @description At most one reasoning item and one message, then the calls to the caller's tools. */
            output: components["schemas"]["OutputItem"][];
            parallel_tool_calls: boolean;
            previous_response_id: null;
            reasoning: {
                effort: string | null;
                summary: string | null;
            };
            /**
             * @description Responses cannot be fetched.
             * @enum {boolean}
             */
            store: false;
            temperature: number | null;
            text: {
                format: {
                    [key: string]: unknown;
                };
            };
            tool_choice: components["schemas"]["ToolChoiceMode"] | components["schemas"]["FunctionToolChoice"];
            tools: components["schemas"]["ResponseTool"][];
            top_p: number | null;
            /** @enum {string} */
            truncation: "disabled";
            /** @description null in the first events of a stream. */
            usage: components["schemas"]["ResponseUsage"] | null;
            metadata: {
                [key: string]: unknown;
            };
        };
        /**
         * @description A conversation. Unknown fields are ignored. Unsupported fields that change neither the form nor the meaning of the
         *     response are ignored and listed in `X-Parlance-Ignored`. Any other unsupported field returns 400
         *     `unsupported_parameter`.
         * @example {
         *       "input": "What is the capital of France?"
         *     }
         */
        ResponseRequest: {
            /** @description A user message, or the whole conversation in order, 1 to 2000 items. */
            input?: string | components["schemas"]["InputItem"][] | null;
            /** @description A system message before the input. */
            instructions?: string | null;
            /** @description An id from `GET /models`. Absent or null: the server's default. */
            model?: string | null;
            /** @description Returns the answer as server-sent events. */
            stream?: boolean | null;
            /** @description 0 to 2; lower is more predictable. */
            temperature?: number | null;
            /** @description Nucleus sampling, greater than 0 and up to 1. */
            top_p?: number | null;
            /** @description Maximum number of generated tokens, reasoning included. */
            max_output_tokens?: components["schemas"]["MaxTokens"] | null;
            /**
             * @description Tools of the caller. They replace the server's own tools, and the model's calls are items of the output. Only for
             *     models that support `tools`.
             */
            tools?: components["schemas"]["ResponseTool"][] | null;
            /** @description Whether the model may or must call tools. `none` without `tools` disables the server's own tools. */
            tool_choice?: components["schemas"]["ToolChoiceMode"] | components["schemas"]["FunctionToolChoice"] | null;
            /** @description false: the model calls at most one tool at a time. Ignored by models without `json`. */
            parallel_tool_calls?: boolean | null;
            /** @description The form of the answer. */
            text?: components["schemas"]["ResponseText"] | null;
            /** @description How a reasoning model thinks. */
            reasoning?: components["schemas"]["ReasoningOptions"] | null;
            /**
             * @description Unless false, the messages and calls of the response stay in memory for an hour, only for `item_reference`.
             *     Responses cannot be fetched.
             */
            store?: boolean | null;
            /** @description Further output. Only `reasoning.encrypted_content`, which is always null. */
            include?: string[] | null;
            /** @description Data of the caller, returned with the response. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description No effect. */
            truncation?: components["schemas"]["ResponseTruncation"] | null;
            /** @description Not supported: send the whole conversation as `input`. */
            previous_response_id?: unknown;
            /** @description Not supported: send the whole conversation as `input`. */
            conversation?: unknown;
            /** @description Not supported. */
            prompt?: unknown;
            /** @description Whether to return before the answer is complete. Only false. */
            background?: unknown;
            /** @description The number of probabilities for each token. Only 0. */
            top_logprobs?: unknown;
            /** @description Not supported. */
            max_tool_calls?: unknown;
            /** @description No effect. */
            user?: unknown;
            /** @description No effect. */
            safety_identifier?: unknown;
            /** @description No effect. */
            service_tier?: unknown;
            /** @description No effect. */
            prompt_cache_key?: unknown;
            /** @description No effect. */
            prompt_cache_retention?: unknown;
            /** @description No effect. */
            client_metadata?: unknown;
            /** @description No effect. */
            stream_options?: unknown;
        };
        /**
         * @description Whether a response is complete.
         * @enum {string}
         */
        ResponseStatus: "in_progress" | "completed" | "incomplete" | "failed";
        /** @description The form of the answer. */
        ResponseText: {
            /** @description An object with the `type` `text` (the default), `json_object` or `json_schema`; the latter two only for models that support `json`. */
            format?: {
                [key: string]: unknown;
            } | null;
            /** @description No effect. */
            verbosity?: unknown;
        };
        /** @description A function, or a `namespace` of functions. */
        ResponseTool: {
            /** @description The kind of tool: `function`. Other types are ignored next to a function, and listed in `X-Parlance-Ignored`. */
            type: string;
            /** @description The name by which the model calls the tool. */
            name?: string | null;
            /** @description What the tool does and when to call it, for the model. */
            description?: string | null;
            /** @description JSON Schema of the arguments. */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /** @description No effect. */
            strict?: boolean | null;
            /** @description The tools in a namespace. The model sees them as `<namespace>__<name>`. */
            tools?: components["schemas"]["NamespacedTool"][] | null;
        };
        /**
         * @description How to shorten an input that is too long. No effect.
         * @enum {string}
         */
        ResponseTruncation: "auto" | "disabled";
        /** @description Token usage, summed over all steps; zeros if the provider does not report it. */
        ResponseUsage: {
            /** Format: int64 */
            input_tokens: number;
            input_tokens_details: {
                /** @enum {number} */
                cached_tokens: 0;
            };
            /** Format: int64 */
            output_tokens: number;
            output_tokens_details: {
                /** Format: int64 */
                reasoning_tokens: number;
            };
            /** Format: int64 */
            total_tokens: number;
        };
        /**
         * @description `true` if the same request may be sent again, otherwise `false`.
         * @enum {string}
         */
        ShouldRetry: "true" | "false";
        /** @description The uninterrupted speech of one speaker. */
        SpeakerTurn: {
            /** @enum {string} */
            type: "transcript.text.segment";
            id: string;
            /** @description The same for all segments of a speaker. */
            speaker: string;
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
        };
        /** @description The next part of the audio. */
        SpeechAudioDelta: {
            /** @enum {string} */
            type: "speech.audio.delta";
            /** @description Base64. Decoded and concatenated, the deltas equal the audio of `stream_format: audio`. */
            audio: string;
        };
        /** @description The last event of streamed speech. */
        SpeechAudioDone: {
            /** @enum {string} */
            type: "speech.audio.done";
            usage: components["schemas"]["SpeechUsage"];
        };
        /** @description An event of streamed speech. The stream ends after `speech.audio.done`, without `[DONE]`. */
        SpeechEvent: components["schemas"]["SpeechAudioDelta"] | components["schemas"]["SpeechAudioDone"];
        /**
         * @description The format of the speech audio.
         * @enum {string}
         */
        SpeechFormat: "mp3" | "opus" | "wav" | "ogg" | "aac" | "flac" | "pcm";
        /**
         * @description A text to speak.
         * @example {
         *       "input": "Good morning.",
         *       "voice": "alloy",
         *       "response_format": "mp3"
         *     }
         */
        SpeechRequest: {
            /**
             * @description An id from `GET /models`. Absent, null or empty: the server's default. `tts-1`, `tts-1-hd` and `gpt-4o-mini-tts`,
             *     also with a date (`gpt-4o-mini-tts-2025-12-15`), are aliases of the default.
             */
            model?: string | null;
            /** @description The text to speak. */
            input: string;
            /**
             * @description An id from `GET /audio/voices`. Absent, null or empty: the default voice. OpenAI's voices (such as `alloy`) are
             *     aliases of the default, unless the model has a voice of that name.
             */
            voice?: string | components["schemas"]["SpeechVoice"] | null;
            /**
             * @description `opus` is Opus in Ogg, `ogg` is Vorbis, `aac` is AAC in ADTS; `pcm` is 16-bit little-endian samples at 24,000 Hz,
             *     mono, no header. `opus`, `flac` and `aac` need ffmpeg on the server, unless the provider of the model supports
             *     them. Default: mp3.
             */
            response_format?: components["schemas"]["SpeechFormat"] | null;
            /** @description 1 is the normal speed of the voice. Other values need a model with `speed`. */
            speed?: number | null;
            /** @description How to speak. Ignored by models without `instructions`. */
            instructions?: string | null;
            /** @description `sse` returns server-sent events with the audio in base64. Default: audio. */
            stream_format?: components["schemas"]["SpeechStreamFormat"] | null;
        };
        /**
         * @description How speech is sent: as plain audio, or as server-sent events.
         * @enum {string}
         */
        SpeechStreamFormat: "audio" | "sse";
        /** @description Always zeros, because engines do not count tokens. */
        SpeechUsage: {
            /** @enum {number} */
            input_tokens: 0;
            /** @enum {number} */
            output_tokens: 0;
            /** @enum {number} */
            total_tokens: 0;
        };
        /** @description A voice, as an object. */
        SpeechVoice: {
            /** @description An id from `GET /audio/voices`, or the name of one of OpenAI's voices. */
            id: string;
        };
        /** @description Options for a streamed answer. */
        StreamOptions: {
            /** @description Adds a last chunk with the usage and no choices. */
            include_usage?: boolean | null;
        };
        /** @description A part of the reasoning text. */
        SummaryText: {
            /** @enum {string} */
            type: "summary_text";
            text: string;
        };
        /** @description A tool of the caller, called by the model. */
        ToolCall: {
            /** @description Answered by a `tool` message with this `tool_call_id`. */
            id: string;
            /** @enum {string} */
            type: "function";
            function: components["schemas"]["CalledFunction"];
        };
        /** @description A whole tool call: it is never split across chunks. */
        ToolCallDelta: {
            /** Format: int32 */
            index: number;
            /** @description Answered by a `tool` message with this `tool_call_id`. */
            id: string;
            /** @enum {string} */
            type: "function";
            function: components["schemas"]["CalledFunction"];
        };
        /**
         * @description Whether the model calls tools: never (`none`), if it wants to (`auto`), or always (`required`).
         * @enum {string}
         */
        ToolChoiceMode: "none" | "auto" | "required";
        /** @description A tool of the caller. */
        ToolDefinition: {
            /** @description Only `function`. */
            type: string;
            /** @description The function that the model may call. */
            function?: components["schemas"]["FunctionDefinition"];
        };
        /** @description The next part of a streamed transcript. */
        TranscriptTextDelta: {
            /** @enum {string} */
            type: "transcript.text.delta";
            delta: string;
        };
        /** @description The last event of a streamed transcript. Its text is the concatenation of all deltas. */
        TranscriptTextDone: {
            /** @enum {string} */
            type: "transcript.text.done";
            text: string;
            /** @description Empty if the model reports no language. */
            languages: components["schemas"]["TranscriptionLanguage"][];
        };
        /** @description A transcript in the format `json`. */
        Transcription: {
            /** @description One continuous string; "" for silence. */
            text: string;
            /** @description Empty if the model reports no language. */
            languages: components["schemas"]["TranscriptionLanguage"][];
            /** @description Only if the duration is known. */
            usage?: components["schemas"]["TranscriptionUsage"];
        };
        /** @description An event of a streamed transcription. A successful stream ends with `data: [DONE]`. */
        TranscriptionEvent: components["schemas"]["SpeakerTurn"] | components["schemas"]["TranscriptTextDelta"] | components["schemas"]["TranscriptTextDone"];
        /**
         * @description The format of a transcript.
         * @enum {string}
         */
        TranscriptionFormat: "json" | "text" | "srt" | "vtt" | "verbose_json" | "diarized_json";
        /** @description A detected language. */
        TranscriptionLanguage: {
            /** @description ISO 639-1. */
            code: string;
        };
        /**
         * @description A recording to transcribe, as a form. Fields may be in any order. Arrays are repeated fields with or without
         *     `[]`, and empty fields count as absent. Names with other brackets are rejected, except those of
         *     `chunking_strategy`. Unknown fields are ignored. Known fields without an effect are listed in
         *     `X-Parlance-Ignored`: `chunking_strategy`, `vad_filter`, `without_timestamps`. Fields that would change the
         *     response are rejected: `include`, `diarize`.
         */
        TranscriptionRequest: {
            /**
             * Format: binary
             * @description The recording, 1 byte to 25 MB (26214400 bytes). Its format is detected; file name and media type are ignored.
             */
            file: string;
            /**
             * @description An id from `GET /models`. Absent or empty: the server's default. `gpt-transcribe`, `gpt-live-transcribe`,
             *     `gpt-realtime-whisper`, `gpt-4o-transcribe`, `gpt-4o-mini-transcribe`, `gpt-4o-transcribe-diarize` and `whisper-1`,
             *     also with a date (`gpt-4o-transcribe-2025-12-15`), are aliases of the default. `gpt-4o-transcribe-diarize` prefers
             *     a model that distinguishes speakers.
             */
            model?: string;
            /** @description The spoken language: `de`, `de-DE`, `deu`, `german` or `yue`. Absent or `auto`: the model detects it. */
            language?: string;
            /** @description Words that may occur, or the preceding text. Ignored by models without `prompt`. */
            prompt?: string;
            /**
             * @description The languages that may be spoken, such as `de` and `en-US`, without `language`. One has the effect of `language`.
             *     Several limit the detection of a model with `languages`; other models ignore them. Unknown languages are ignored.
             */
            languages?: string[];
            /**
             * @description Words and names that may occur, at most 200 of up to 64 characters; those beyond a total of 2,000 characters are
             *     dropped. `hotwords`, comma-separated, is the same. Models without `keywords` get them in the prompt, if they
             *     support one.
             */
            keywords?: string[];
            /** @description 0 to 1; lower is more predictable. Ignored by models without `temperature`. */
            temperature?: string;
            /**
             * @description `srt` and `vtt` need a model with segment timestamps, `diarized_json` one that distinguishes speakers. Default:
             *     json.
             */
            response_format?: components["schemas"]["TranscriptionFormat"];
            /** @description Names of speakers for `diarized_json`, at most 4 of up to 64 characters. */
            known_speaker_names?: string[];
            /** @description A recording of each of these speakers, as data URLs of at most 1 MB (1000000 bytes). */
            known_speaker_references?: string[];
            /**
             * @description `word`, `segment` or both, only for `verbose_json`. `word` needs a model with word timestamps. Default: segment, if
             *     the model supports it.
             */
            timestamp_granularities?: string[];
            /**
             * @description Maximum characters per line in srt and vtt, 10 to 200. Needs a model with word timestamps. A longer word gets its
             *     own line. Default with `max_line_count`: 42.
             */
            max_line_width?: string;
            /** @description Maximum lines per cue, 1 to 10. Default with `max_line_width`: 2. */
            max_line_count?: string;
            /** @description `true` returns server-sent events, for the formats json, text and diarized_json. Default: false. */
            stream?: string;
        };
        /** @description A segment of a transcript. Whisper's internal values are placeholders, because engines do not report them. */
        TranscriptionSegment: {
            /**
             * Format: int64
             * @description Starts at 0.
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
            /** @description Starts with the preceding space, if the language has one, so that all segments concatenate to `text`. */
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
        /**
         * @description Whether the transcript is in the spoken language (`transcribe`) or in English (`translate`).
         * @enum {string}
         */
        TranscriptionTask: "transcribe" | "translate";
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
        /** @description A word of a transcript, with its time in the recording. */
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
        /**
         * @description The format of a translation.
         * @enum {string}
         */
        TranslationFormat: "json" | "text" | "srt" | "vtt" | "verbose_json";
        /**
         * @description A recording to translate into English, as a form with the same rules as a transcription form. `language`,
         *     `stream`, `timestamp_granularities`, `max_line_width` and `max_line_count` are rejected: translations do not
         *     support them.
         */
        TranslationRequest: {
            /**
             * Format: binary
             * @description The recording, 1 byte to 25 MB (26214400 bytes), in any language.
             */
            file: string;
            /** @description As for a transcription, but the model must support `translate`. */
            model?: string;
            /** @description English words that may occur, or the preceding English text. Ignored by models without `prompt`. */
            prompt?: string;
            /**
             * @description The languages that may be spoken, such as `de` and `en-US`, without `language`. One has the effect of `language`.
             *     Several limit the detection of a model with `languages`; other models ignore them. Unknown languages are ignored.
             */
            languages?: string[];
            /**
             * @description Words and names that may occur, at most 200 of up to 64 characters; those beyond a total of 2,000 characters are
             *     dropped. `hotwords`, comma-separated, is the same. Models without `keywords` get them in the prompt, if they
             *     support one.
             */
            keywords?: string[];
            /** @description 0 to 1; lower is more predictable. Ignored by models without `temperature`. */
            temperature?: string;
            /** @description `srt` and `vtt` need a model with segment timestamps. Default: json. */
            response_format?: components["schemas"]["TranslationFormat"];
        };
        /** @description A transcript in the format `verbose_json`. */
        VerboseTranscription: {
            task: components["schemas"]["TranscriptionTask"];
            /** @description The lower-case English name of the language of `text`, if the model reports it. */
            language?: string;
            /** @description The languages of the recording. Empty if the model reports none. */
            languages: components["schemas"]["TranscriptionLanguage"][];
            /**
             * Format: double
             * @description Seconds, if known.
             */
            duration?: number;
            /** @description One continuous string; "" for silence. */
            text: string;
            /** @description If requested or by default, and if the model has segment timestamps. */
            segments?: components["schemas"]["TranscriptionSegment"][];
            /** @description If requested. */
            words?: components["schemas"]["TranscriptionWord"][];
            /** @description Only if the duration is known. */
            usage?: components["schemas"]["TranscriptionUsage"];
        };
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
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "Send an API key as \"Authorization: Bearer <key>\".",
                 *         "type": "invalid_request_error",
                 *         "param": null,
                 *         "code": "invalid_api_key"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description The API key may not use the operation or the model, or, without API keys (open mode), the Host or the Origin of the
         *     request is not allowed.
         */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "The API key may not use createChat; ask the operator for it.",
                 *         "type": "permission_error",
                 *         "param": null,
                 *         "code": "operation_not_allowed"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
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
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "PUT is not supported; allowed: GET, HEAD, POST",
                 *         "type": "invalid_request_error",
                 *         "param": null,
                 *         "code": "unknown_url"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
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
                 * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                 *     (`qu`, else requests) in `w` seconds. Absent without limits.
                 * @example "requests";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                /**
                 * @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits.
                 * @example "requests";r=0;t=1
                 */
                RateLimit?: string;
                /** @description Requests per minute of the API key, if limited. */
                "x-ratelimit-limit-requests"?: string;
                /** @description Remaining requests in this minute. */
                "x-ratelimit-remaining-requests"?: string;
                /** @description Time until this minute ends, such as `12s`. */
                "x-ratelimit-reset-requests"?: string;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "The API key may send 60 requests in a minute; try again in 1 s.",
                 *         "type": "rate_limit_error",
                 *         "param": null,
                 *         "code": "rate_limit_exceeded"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The service or its engine failed. The log has the cause under the request id. */
        InternalServerError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "Unexpected error. The log has the cause under this request id.",
                 *         "type": "server_error",
                 *         "param": null,
                 *         "code": "internal_error"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Unavailable, temporarily or by configuration. */
        ServiceUnavailable: {
            headers: {
                /**
                 * @description Seconds to wait before a retry, if known.
                 * @example 1
                 */
                "Retry-After"?: string;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "All slots are in use; try again later.",
                 *         "type": "server_error",
                 *         "param": null,
                 *         "code": "overloaded"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The model does not exist. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "Unknown model \"nobody\".",
                 *         "type": "invalid_request_error",
                 *         "param": "model",
                 *         "code": "model_not_found"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The request body did not arrive in time. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "The body did not arrive within 300 s.",
                 *         "type": "invalid_request_error",
                 *         "param": null,
                 *         "code": "request_timeout"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The body or the recording is too large. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "The body is larger than the limit of this operation.",
                 *         "type": "invalid_request_error",
                 *         "param": null,
                 *         "code": "body_too_large"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The operation does not accept this content type. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "Expected application/json, got text/plain.",
                 *         "type": "invalid_request_error",
                 *         "param": null,
                 *         "code": "unsupported_media_type"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The provider failed or is unreachable. */
        BadGateway: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "The provider failed.",
                 *         "type": "server_error",
                 *         "param": null,
                 *         "code": "provider_error"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The provider or the engine timed out. */
        GatewayTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "The provider did not respond within 300 s.",
                 *         "type": "server_error",
                 *         "param": null,
                 *         "code": "provider_timeout"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The request is invalid: it violates the contract, the recording is not usable, or the model does not support it. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-Should-Retry": components["headers"]["X-Should-Retry"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "message": "messages must NOT have fewer than 1 items",
                 *         "type": "invalid_request_error",
                 *         "param": "messages",
                 *         "code": "invalid_request"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The request id, also in the operator's log. */
        "X-Request-Id": string;
        /**
         * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
         *     (`qu`, else requests) in `w` seconds. Absent without limits.
         */
        "RateLimit-Policy": string;
        /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
        RateLimit: string;
        /** @description Requests per minute of the API key, if limited. */
        "x-ratelimit-limit-requests": string;
        /** @description Remaining requests in this minute. */
        "x-ratelimit-remaining-requests": string;
        /** @description Time until this minute ends, such as `12s`. */
        "x-ratelimit-reset-requests": string;
        /** @description Whether the same request may succeed later and has had no effect yet. */
        "X-Should-Retry": components["schemas"]["ShouldRetry"];
        /**
         * @description Seconds to wait before a retry, if known.
         * @example 1
         */
        "Retry-After": string;
        /**
         * @description The id of the model that handled the request, percent-encoded if it is not ASCII. Differs from `model` for
         *     aliases and defaults.
         * @example local
         */
        "X-Parlance-Model": string;
        /** @description Fields of the request without an effect, comma-separated; absent if there are none. */
        "X-Parlance-Ignored": string;
    };
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
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "models": [
                     *         {
                     *           "id": "espeak",
                     *           "name": "eSpeak NG"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AudioModelList"];
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
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    "X-Parlance-Model": components["headers"]["X-Parlance-Model"];
                    /** @description Fields of the request without an effect, comma-separated; absent if there are none. */
                    "X-Parlance-Ignored"?: string;
                    /** @description The speech is synthetic, whether it was made here or by a provider. */
                    "X-Parlance-Synthetic": "true";
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": unknown;
                    "audio/wav": unknown;
                    "audio/ogg": unknown;
                    "audio/flac": unknown;
                    "audio/aac": unknown;
                    "audio/pcm": unknown;
                    "text/event-stream": components["schemas"]["SpeechEvent"];
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model does not support it. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Should-Retry": components["headers"]["X-Should-Retry"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "message": "espeak has no voice \"nobody\".",
                     *         "type": "invalid_request_error",
                     *         "param": "voice",
                     *         "code": "voice_not_supported"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
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
                 *       "model": "whisper-1",
                 *       "response_format": "verbose_json",
                 *       "timestamp_granularities": [
                 *         "word"
                 *       ]
                 *     }
                 */
                "multipart/form-data": components["schemas"]["TranscriptionRequest"];
            };
        };
        responses: {
            /** @description The transcript in the requested format. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    "X-Parlance-Model": components["headers"]["X-Parlance-Model"];
                    /** @description Fields of the request without an effect, comma-separated; absent if there are none. */
                    "X-Parlance-Ignored"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnyTranscription"];
                    "text/plain": string;
                    "text/vtt": string;
                    "text/event-stream": components["schemas"]["TranscriptionEvent"];
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model does not support it. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Should-Retry": components["headers"]["X-Should-Retry"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "message": "Unknown language \"xx\"; send an ISO 639-1 code such as de.",
                     *         "type": "invalid_request_error",
                     *         "param": "language",
                     *         "code": "language_not_supported"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createTranslation: {
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
                 *       "model": "whisper-1"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["TranslationRequest"];
            };
        };
        responses: {
            /** @description The English transcript in the requested format. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    "X-Parlance-Model": components["headers"]["X-Parlance-Model"];
                    /** @description Fields of the request without an effect, comma-separated; absent if there are none. */
                    "X-Parlance-Ignored"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlainOrVerboseTranscription"];
                    "text/plain": string;
                    "text/vtt": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    listAudioVoices: {
        parameters: {
            query?: {
                /** @description Returns only the voices of this speech model. */
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
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "voices": [
                     *         {
                     *           "id": "en",
                     *           "name": "English"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AudioVoiceList"];
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model does not support it. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Should-Retry": components["headers"]["X-Should-Retry"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "message": "model must be a speech model",
                     *         "type": "invalid_request_error",
                     *         "param": "model",
                     *         "code": "invalid_request"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
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
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    "X-Parlance-Model": components["headers"]["X-Parlance-Model"];
                    /** @description Fields of the request without an effect, comma-separated; absent if there are none. */
                    "X-Parlance-Ignored"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": components["schemas"]["ChatCompletionChunk"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    listModels: {
        parameters: {
            query?: {
                /** @description Returns only models with this capability. */
                capability?: components["schemas"]["Capability"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "data": [
                     *         {
                     *           "id": "llama3.2",
                     *           "object": "model",
                     *           "created": 1763769600,
                     *           "owned_by": "ollama",
                     *           "name": "llama3.2",
                     *           "capabilities": [
                     *             "chat"
                     *           ]
                     *         },
                     *         {
                     *           "id": "whisper-1",
                     *           "object": "model",
                     *           "created": 1763769600,
                     *           "owned_by": "local",
                     *           "name": "Whisper base",
                     *           "capabilities": [
                     *             "transcription"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model does not support it. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Should-Retry": components["headers"]["X-Should-Retry"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "message": "capability must be one of chat, transcription, speech, images",
                     *         "type": "invalid_request_error",
                     *         "param": "capability",
                     *         "code": "invalid_request"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorResponse"];
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
    retrieveModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An id from `GET /models`, or an alias. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "ollama/llama3.2",
                     *       "object": "model",
                     *       "created": 1763769600,
                     *       "owned_by": "ollama",
                     *       "name": "llama3.2",
                     *       "capabilities": [
                     *         "chat"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Model"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    connectRealtime: {
        parameters: {
            query?: {
                /** @description `transcription`. Absent: a conversation. */
                intent?: "transcription";
                /**
                 * @description The model of the conversation or transcription: an id from `GET /models`, or an alias such as `gpt-realtime`. Absent:
                 *     the server's default.
                 */
                model?: string;
                /** @description Rejected: WebRTC and SIP are not supported. */
                call_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection is a WebSocket from now on. */
            101: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is invalid: it violates the contract, the recording is not usable, or the model does not support it. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Should-Retry": components["headers"]["X-Should-Retry"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "message": "intent must be transcription",
                     *         "type": "invalid_request_error",
                     *         "param": "intent",
                     *         "code": "invalid_request"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            /** @description The request must be a WebSocket upgrade. */
            426: {
                headers: {
                    /**
                     * @description The required protocol.
                     * @example websocket
                     */
                    Upgrade: "websocket";
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Should-Retry": components["headers"]["X-Should-Retry"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "message": "Connect with a WebSocket client, to ws:// or wss://.",
                     *         "type": "invalid_request_error",
                     *         "param": null,
                     *         "code": "upgrade_required"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createRealtimeClientSecret: {
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
                 *       "session": {
                 *         "type": "transcription"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ClientSecretRequest"];
            };
        };
        responses: {
            /** @description The secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "value": "ek_Vb1yPz4mQ0iYxkq3o9TtWwVb1yPz4mQ0iYxkq3o9TtW",
                     *       "expires_at": 1763770200,
                     *       "session": {
                     *         "type": "transcription",
                     *         "object": "realtime.transcription_session",
                     *         "id": "sess_Vb1yPz4mQ0iYxkq3o9TtWw",
                     *         "expires_at": 1763773200,
                     *         "audio": {
                     *           "input": {
                     *             "format": {
                     *               "type": "audio/pcm",
                     *               "rate": 24000
                     *             },
                     *             "transcription": {
                     *               "model": "local",
                     *               "language": "de"
                     *             },
                     *             "noise_reduction": null,
                     *             "turn_detection": {
                     *               "type": "server_vad",
                     *               "threshold": 0.5,
                     *               "prefix_padding_ms": 300,
                     *               "silence_duration_ms": 500
                     *             }
                     *           }
                     *         },
                     *         "include": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ClientSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createResponse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponseRequest"];
            };
        };
        responses: {
            /** @description The response, whole or in events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /**
                     * @description The limits of the API key that apply to this operation (draft-ietf-httpapi-ratelimit-headers-11): `q` units
                     *     (`qu`, else requests) in `w` seconds. Absent without limits.
                     */
                    "RateLimit-Policy"?: string;
                    /** @description Remaining quota of these limits: `r` units, until `t` seconds from now. A 429 has only the violated limits. */
                    RateLimit?: string;
                    /** @description Requests per minute of the API key, if limited. */
                    "x-ratelimit-limit-requests"?: string;
                    /** @description Remaining requests in this minute. */
                    "x-ratelimit-remaining-requests"?: string;
                    /** @description Time until this minute ends, such as `12s`. */
                    "x-ratelimit-reset-requests"?: string;
                    "X-Parlance-Model": components["headers"]["X-Parlance-Model"];
                    /** @description Fields of the request without an effect, comma-separated; absent if there are none. */
                    "X-Parlance-Ignored"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResponseObject"];
                    "text/event-stream": components["schemas"]["ResponseEvent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
}
