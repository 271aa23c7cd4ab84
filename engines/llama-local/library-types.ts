/** The part of node-llama-cpp 3.22.1 that is used here. */

export type Token = number;

export type HistoryItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly (string | FunctionCall)[] };

export interface FunctionCall {
  readonly type: 'functionCall';
  readonly name: string;
  readonly params: unknown;
  readonly result: unknown;
}

export type Functions = Readonly<Record<string, { readonly description?: string; readonly params?: object }>>;

interface Meter {
  readonly usedOutputTokens: number;
}

export interface Sequence {
  readonly contextTokens: readonly Token[];
  readonly nextTokenIndex: number;
  readonly tokenMeter: { getState(): Meter; diff(before: Meter): Meter };
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
}

export interface Model {
  readonly tokenizer: unknown;
  createContext(options: object): Promise<{ getSequence(): Sequence }>;
  iterateAllTokens(): Iterable<Token>;
  getTokenAttributes(token: Token): { readonly control: boolean; readonly unknown: boolean };
  detokenize(tokens: readonly Token[], specialTokens: boolean): string;
}

/** Text in which control tokens are parsed; in a plain string they are text. */
interface SpecialTokensText {
  readonly value: string;
}

/** An object that is not a `SpecialTokensText` is a single token. */
export type PromptPart = string | SpecialTokensText | object;

interface LlamaText {
  readonly values: readonly PromptPart[];
  tokenize(tokenizer: unknown): Token[];
}

export interface ChatState {
  readonly chatHistory: readonly HistoryItem[];
  readonly availableFunctions?: Functions;
  readonly documentFunctionParams?: boolean;
}

export interface ChatWrapper {
  generateContextState(state: ChatState): { readonly contextText: LlamaText };
}

interface Generation {
  readonly [option: string]: unknown;
  readonly onResponseChunk: (chunk: {
    readonly segmentType: string | undefined;
    readonly text: string;
    readonly tokens: readonly Token[];
  }) => void;
}

interface Generated {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params?: unknown }[];
  readonly metadata: { readonly stopReason: string };
}

export interface Library {
  getLlama(options: object): Promise<{ loadModel(options: object): Promise<Model> }>;
  resolveChatWrapper(model: Model, options: object): ChatWrapper;
  readonly LlamaText: (parts: readonly PromptPart[]) => LlamaText;
  readonly SpecialTokensText: new (value: string) => SpecialTokensText;
  readonly LlamaChat: new (options: object) => {
    generateResponse(history: readonly HistoryItem[], options: Generation): Promise<Generated>;
    dispose(options: object): void;
  };
}
