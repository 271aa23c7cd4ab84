/** whisper-host for one recording, which it loads the model for: what it is asked comes by its stdin. */
import { EngineError, type EngineContext, type Resident } from '../contract/index.ts';
import { parseObject } from '../../lib/json.ts';
import { toJsonLine } from '../../lib/json-lines.ts';
import { lastLine } from '../../lib/text.ts';
import { LineSplitter } from '../../lib/line-splitter.ts';
import { hardLimitMs } from './run-whisper-cli.ts';
import { spinLimit } from './loaded-models.ts';

const longestMessage = 1_048_576;

export function singleHost(program: string, modelFile: string, context: EngineContext): Pick<Resident, 'call'> {
  return {
    async call(question, { signal, onMessage }) {
      const answered = Promise.withResolvers<undefined>();
      async function* input() {
        yield Buffer.from(toJsonLine({ ...question, id: 1 }));
        await answered.promise; // it ends when its stdin closes
      }
      const call = { signal, timeoutMs: hardLimitMs, cwd: '/', env: spinLimit, input: input() };
      const { output, exit } = context.start(program, [modelFile], call);
      const lines = new LineSplitter(longestMessage, 'throw');
      try {
        for await (const chunk of output) {
          for (const line of lines.push(chunk)) {
            const { id, ...message } = parseObject(line) ?? {};
            if ('error' in message) throw failed(String(message.error));
            if ('done' in message) return message.done;
            if (id !== undefined) onMessage?.(message);
          }
        }
      } finally {
        answered.resolve(undefined);
      }
      const { code, stderr } = await exit;
      throw failed(`whisper-host ended with exit code ${String(code)}; output: ${lastLine(stderr)}`);
    },
  };
}

function failed(why: string): EngineError {
  return new EngineError('engine-failed', 'The transcription program failed.', { cause: new Error(why) });
}
