/** The marks that chat models write around their thoughts, for chats and for speech. Case is ignored. */

/** `<think>...</think>`, the mark of most models. */
const tags = ['think', 'thinking', 'thought', 'thoughts', 'reason', 'reasoning', 'seed:think'];

/** A message in the Harmony format, whose head may be in the prompt. */
const harmony = (channel: string) =>
  ['', '<|start|>assistant', '<|end|>', '<|end|><|start|>assistant'].map(
    (head) => `${head}<|channel|>${channel}<|message|>`,
  );

/** Marks that begin a thought. */
export const openingMarks: readonly string[] = [
  ...tags.map((tag) => `<${tag}>`),
  ...['[think]', '◁think▷', '<|think|>', '<|thinking|>'], // Magistral, Kimi, Solar
  ...['<|channel>thought', '<unused94>thought'], // Gemma, MedGemma
  ...['<|start_thinking|>', '<|begin_of_thought|>', '<|im_start|>think'], // Command A, OpenThinker, s1
  ...['analysis', 'commentary'].flatMap(harmony), // gpt-oss
];

/** Marks that end a thought, or begin the answer after it. */
export const closingMarks: readonly string[] = [
  ...tags.map((tag) => `</${tag}>`),
  ...['[/think]', '◁/think▷', '<|/think|>', '<|/thinking|>'],
  ...['<channel|>', '<unused95>'],
  ...['<|end_thinking|>', '<|start_response|>', '<|end_of_thought|>', '<|begin_of_solution|>', '<|im_start|>answer'],
  '[begin final response]', // Apriel
  ...harmony('final'),
];

/** Marks that end a thought or the answer. */
export const endMarks: readonly string[] = [
  ...['<|end|>', '<|return|>', '<|end_response|>', '<|end_of_solution|>', '[end final response]'],
];
