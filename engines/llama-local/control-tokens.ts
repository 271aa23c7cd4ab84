/**
 * Keeps control tokens such as `<|im_end|>` out of third-party texts in tools and calls. The library tokenizes message
 * contents separately. The template of a model, however, writes tools and calls into one text with its own control
 * tokens, in which an argument could end the turn and begin a system turn.
 */
import { randomBytes } from 'node:crypto';
import type { ChatState, ChatWrapper, HistoryItem, Library, Model, PromptPart } from './library-types.ts';

/**
 * Replaces the texts of control tokens with random names while the wrapper renders, and the names with plain text
 * afterwards.
 */
export function keepControlTextsPlain(
  wrapper: ChatWrapper,
  model: Model,
  { LlamaText, SpecialTokensText }: Library,
): void {
  const texts = controlTexts(model);
  if (texts.length === 0) return;
  const secret = randomBytes(16).toString('hex');
  const standIns = new Map(texts.map((text, index) => [inJson(text), `x${secret}n${index}x`]));
  const plainTexts = new Map(texts.map((text, index) => [`x${secret}n${index}x`, text]));
  const anyText = new RegExp(texts.map(inJson).map(escape).join('|'), 'g');
  const anyStandIn = new RegExp(`(x${secret}n\\d+x)`, 'g');

  function hide<Value>(value: Value): Value {
    const json = JSON.stringify(value).replace(anyText, (found) => standIns.get(found) ?? '');
    return JSON.parse(json) as Value;
  }

  function hideInCalls(item: HistoryItem): HistoryItem {
    if (item.type !== 'model') return item;
    const response = item.response.map((part) =>
      typeof part === 'string' ? part : { ...part, ...hide({ name: part.name, params: part.params }) },
    );
    return { ...item, response };
  }

  function show(part: PromptPart): PromptPart[] {
    const text = part instanceof SpecialTokensText ? part.value : part;
    if (typeof text !== 'string') return [part];
    const isPlain = text === part;
    return text
      .split(anyStandIn)
      .map((piece) => plainTexts.get(piece) ?? (isPlain ? piece : new SpecialTokensText(piece)));
  }

  const render = wrapper.generateContextState.bind(wrapper);
  wrapper.generateContextState = ({ chatHistory, availableFunctions, ...others }: ChatState) => {
    const functions = availableFunctions && { availableFunctions: hide(availableFunctions) };
    const state = render({ ...others, chatHistory: chatHistory.map(hideInCalls), ...functions });
    return { ...state, contextText: LlamaText(state.contextText.values.flatMap(show)) };
  };
}

/**
 * Returns the texts of the control tokens, the longest first, because one may begin with another. Tokens that the
 * vocabulary calls user-defined, such as `<think>`, are not included: the library reads them in message contents as
 * well.
 */
function controlTexts(model: Model): string[] {
  const texts: string[] = [];
  for (const token of model.iterateAllTokens()) {
    const { control, unknown } = model.getTokenAttributes(token);
    const text = control || unknown ? model.detokenize([token], true).trim() : '';
    if (text !== '') texts.push(text);
  }
  return texts.toSorted((a, b) => b.length - a.length);
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

const escape = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
