/** The kit for chat catches what it is to catch. */
import { chatChecks } from '../../src/conformance/chat.ts';
import {
  badEndings,
  badListings,
  badOptions,
  describeKit,
  leavesProgram,
  litters,
  ownEngineError,
  talksElsewhere,
} from './support.ts';

/** Greets, in JSON if asked to; calls the tool that it is offered, and says what that answered. */
const good = `
  import { writeFile } from 'node:fs/promises';
  import { setTimeout as sleep } from 'node:timers/promises';
  ${ownEngineError}
  const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, reasoningTokens: 0 };
  export const parts = {
    options: { type: 'object', additionalProperties: false, properties: { volume: { type: 'string' } } },
    models: [{ id: 'mind', local: true, supports: ['tools', 'images', 'json'] }],
    refuse: ({ model }) => {
      if (model !== 'mind') throw new EngineError('unknown-model', 'There is no such model.');
    },
    think: async (context, { signal }) => {
      await using directory = await context.temporaryDirectory();
      await writeFile(directory.path + '/notes', 'of the work');
      await sleep(150, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    toRun: (events) => events,
    run: async (tool, { signal }) => {
      try {
        return { ok: true, output: await tool.run({ text: 'alpha' }, { signal, emit: () => undefined }) };
      } catch (error) {
        return { ok: false, error: error.message };
      }
    },
    toolCalls: ([tool]) => [{ id: 'call-1', name: tool.name, arguments: '{"text":"alpha"}' }],
    askCaller: async function* (tools, { result, toolCalls }) {
      yield { type: 'step-started', step: 0 };
      const calls = toolCalls(tools);
      yield { type: 'completed', result: { ...result(''), finishReason: 'tool_calls', toolCalls: calls } };
    },
    toolOutput: (messages) => messages.find(({ role }) => role === 'tool')?.content,
    greet: ({ response_format: format }) => (format?.type === 'json_object' ? '{"greeting":"Hello."}' : 'Hello.'),
    result: (content) => ({ content, finishReason: 'stop', reasoning: null, usage }),
    answer: async function* (step, content, { result }) {
      yield { type: 'step-started', step };
      yield { type: 'content-delta', step, delta: content.slice(0, 2) };
      yield { type: 'content-delta', step, delta: content.slice(2) };
      yield { type: 'completed', result: result(content) };
    },
    call: async function* (tool, options, { run }) {
      const facts = { step: 0, call: 0, name: tool.name };
      yield { type: 'step-started', step: 0 };
      yield { type: 'tool-started', ...facts, arguments: { text: 'alpha' } };
      const outcome = await run(tool, options);
      yield { type: 'tool-finished', ...facts, ...outcome, durationMs: 1 };
      return outcome.output ?? 'It failed.';
    },
  };
  export const engineOf = (own) => ({
    contract: 1,
    name: 'mind',
    capability: 'chat',
    options: own.options,
    create: (_options, context) => ({
      models: own.models,
      ...(own.assets && { assets: own.assets }),
      ...(own.recheck && { recheck: () => own.recheck(context.publish) }),
      complete: (call, options) => own.toRun(complete(own, context, call, options)),
    }),
  });
  async function* complete(own, context, call, options) {
    options.signal.throwIfAborted();
    own.refuse(call);
    await own.think(context, options);
    const [tool] = options.tools;
    const { messages, tools = [], provider = {} } = call;
    const toolOutput = own.toolOutput(messages);
    if (toolOutput !== undefined) yield* own.answer(0, toolOutput, own);
    else if (tools.length > 0) yield* own.askCaller(tools, own);
    else if (tool) yield* own.answer(1, yield* own.call(tool, options, own), own);
    else yield* own.answer(0, own.greet(provider), own);
  }
  export default engineOf(parts);`;

const result = `{ content: 'Hello.', finishReason: 'stop', reasoning: null, usage: null }`;
const started = `yield { type: 'step-started', step: 0 };`;
const said = `yield { type: 'content-delta', step: 0, delta: 'Hello.' };`;
const thought = `yield { type: 'reasoning-delta', step: 0, delta: 'Hm.' };`;
const completed = `yield { type: 'completed', result: ${result} };`;

/** Tells of the call of a tool what is not so. */
const telling = (type: string, lie: string) => `call: async function* (...call) {
  const events = parts.call(...call);
  for (;;) {
    const { value, done } = await events.next();
    if (done) return value;
    yield value.type === '${type}' ? { ...value, ${lie} } : value;
  }
}`;

const bad = {
  ...badListings,
  'an unknown model is rejected': {
    'accepts any model': `refuse: () => undefined`,
    'throws an ordinary error': `refuse: ({ model }) => { if (model !== 'mind') throw new Error('no such model'); }`,
  },
  'a question is answered, and the events follow the contract': {
    'returns a promise of its events': `toRun: async (events) => events`,
    'yields undefined': `answer: async function* () { ${started} yield undefined; ${completed} }`,
    'completes without a result': `answer: async function* () { ${started} yield { type: 'completed' }; }`,
    'does not complete': `answer: async function* () { ${started} ${said} }`,
    'completes twice': `answer: async function* () { ${started} ${said} ${completed} ${completed} }`,
    'continues after it completed': `answer: async function* () { ${started} ${said} ${completed} ${said} }`,
    'starts without a step': `answer: async function* () { ${said} ${completed} }`,
    'skips a step': `answer: async function* () { ${started} yield { type: 'step-started', step: 2 }; ${completed} }`,
    'completes with other content than it streamed': `answer: async function* () { ${started} ${completed} }`,
    'streams its reasoning twice': `answer: async function* () {
      ${started} ${thought} ${thought} ${said} yield { type: 'completed', result: { ...${result}, reasoning: 'Hm.' } };
    }`,
    'returns reasoning that it did not stream': `result: (content) => ({ ...parts.result(content), reasoning: 'Hm.' })`,
    'returns empty content': `answer: (step, _content, own) => parts.answer(step, '', own)`,
    'returns an unknown finish reason': `result: (content) => ({ ...parts.result(content), finishReason: 'done' })`,
    'omits the reasoning': `result: (content) => ({ ...parts.result(content), reasoning: undefined })`,
    'counts half tokens': `result: (content) => ({ ...parts.result(content), usage: { promptTokens: 0.5 } })`,
  },
  'call parameters are accepted, including 0': {
    'rejects a limit': `refuse: (call) => { parts.refuse(call); if (call.maxTokens) throw new Error('no'); }`,
  },
  'a system message is accepted anywhere in the history': {
    'accepts it only at the start': `refuse: (call) => {
      parts.refuse(call);
      if (call.messages.slice(1).some(({ role }) => role === 'system')) throw new Error('no');
    }`,
  },
  'a tool called by the model is run, and its result is used': {
    'emits the arguments as text': telling('tool-started', `arguments: '{"text":"alpha"}'`),
    'emits an empty name': telling('tool-started', `name: ''`),
    'omits ok': telling('tool-finished', `ok: undefined`),
    'emits an object as output': telling('tool-finished', `output: { text: 'alpha' }`),
    'omits the duration': telling('tool-finished', `durationMs: undefined`),
    'does not offer it to the model': `call: async function* () { ${started} return 'Hello.'; }`,
    'does not pass its output to the model': `call: async function* (...call) { yield* parts.call(...call); return 'alpha'; }`,
    'does not run it': `run: async () => ({ ok: true, output: 'alpha' })`,
    'does not emit its end': `call: async function* (tool, options, own) {
      for await (const event of parts.call(tool, options, own)) if (event.type !== 'tool-finished') yield event;
      return 'alpha';
    }`,
    'emits its end before its start': `call: async function* (tool, options, own) {
      const events = [];
      for await (const event of parts.call(tool, options, own)) events.push(event);
      yield events[0]; yield events[2]; yield events[1];
      return 'alpha';
    }`,
  },
  'a failing tool does not fail the chat': {
    'emits the error as an object': telling('tool-finished', `error: new Error('No.')`),
    'reports it as a success': `run: async (...call) => ({ ...await parts.run(...call), ok: true })`,
  },
  'a model that supports tools returns its calls of the caller’s tools, and reads their outputs': {
    'takes no tools': `refuse: (call) => { parts.refuse(call); if (call.tools) throw new Error('no'); }`,
    'calls nothing': `askCaller: async function* (_tools, own) { yield* parts.answer(0, 'Hello.', own); }`,
    'has the reason but no calls': `toolCalls: () => []`,
    'calls tools of its own': `toolCalls: () => [{ id: 'a', name: 'search', arguments: '{}' }]`,
    'calls without an id': `toolCalls: ([{ name }]) => [{ id: '', name, arguments: '{}' }]`,
    'calls twice with one id': `toolCalls: (tools) => [...parts.toolCalls(tools), ...parts.toolCalls(tools)]`,
    'parses the arguments': `toolCalls: ([{ name }]) => [{ id: 'a', name, arguments: { text: 'alpha' } }]`,
    'keeps the calls to itself': `result: (content) => parts.result(content), askCaller: async function* (tools, own) {
      for await (const event of parts.askCaller(tools, own)) {
        yield event.type === 'completed' ? { ...event, result: { ...event.result, finishReason: 'stop' } } : event;
      }
    }`,
    'runs them itself': `askCaller: async function* (tools, own) {
      yield* parts.call({ ...tools[0], run: async () => 'alpha' }, { signal: AbortSignal.timeout(1000) }, own);
      yield* parts.answer(1, 'alpha', own);
    }`,
    'rejects the outputs': `toolOutput: (messages) => { if (parts.toolOutput(messages) !== undefined) throw new Error('no'); }`,
    'ignores the outputs': `toolOutput: (messages) => (parts.toolOutput(messages) === undefined ? undefined : 'Hello.')`,
  },
  'a model that supports images answers a message that has one': {
    'refuses it': `refuse: (call) => {
      parts.refuse(call);
      if (call.messages.some(({ parts: pieces }) => pieces !== undefined)) throw new Error('no');
    }`,
  },
  'a model that supports json answers with JSON, and refuses only what it cannot do': {
    'says hello': `greet: () => 'Hello.'`,
    'answers with an array': `greet: () => '[]'`,
    'rejects the field': `greet: (provider) => { if (provider.response_format) throw new Error('no'); return 'Hello.'; }`,
    'rejects a seed with an ordinary error': `greet: (provider) => {
      if (provider.seed !== undefined) throw new Error('no');
      return parts.greet(provider);
    }`,
    'stops at a word of its own': `result: (content) => ({ ...parts.result(content), finishReason: 'stop_sequence' })`,
  },
  'the stream ends promptly when the consumer stops reading': {
    'takes a second to end': `answer: async function* (...call) { try { yield* parts.answer(...call); } finally { await aSecond(); } }`,
  },
  'an aborted call rejects promptly with the abort reason': {
    'does not stop': `think: () => sleep(1000)`,
    'completes anyway': `think: () => sleep(20)`,
    'leaves a program running': leavesProgram('think'),
    'rejects with an error of its own': `think: (...call) => parts.think(...call).catch(() => { throw new Error(); })`,
  },
  ...talksElsewhere('think'),
  'no files remain after a call, however it ends': {
    'writes to the temporary directory of the system': litters('think'),
    'leaves a directory': `think: async (context, options) => {
      await context.temporaryDirectory();
      await parts.think(context, options);
    }`,
  },
  ...badEndings('think'),
  ...badOptions,
};

/** Keep every rule, too. */
const alsoGood = {
  'answers at once': `think: () => undefined`,
};

describeKit('chat', {
  checks: chatChecks,
  good,
  alsoGood,
  bad,
  toSubject: (subject) => ({ ...subject, callsTools: true }),
});
