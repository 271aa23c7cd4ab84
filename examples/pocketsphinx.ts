// pocketsphinx.ts: an engine that recognizes the words of a list, with Debian's program
// (apt-get install pocketsphinx pocketsphinx-en-us)
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineEngine, EngineError, type Availability } from '@parlance/server/engine';

const program = 'pocketsphinx_continuous';
const missing: Availability = {
  available: false,
  code: 'program-missing',
  reason: `${program} is not on the PATH; install it with: apt-get install pocketsphinx pocketsphinx-en-us`,
};

export default defineEngine<'transcription', { words: string[] }>({
  contract: 1,
  name: 'pocketsphinx',
  capability: 'transcription',
  options: {
    type: 'object',
    properties: { words: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z]+$' } } },
    required: ['words'],
    additionalProperties: false,
  },
  async create({ words }, context) {
    const call = { signal: new AbortController().signal, timeoutMs: 10_000, cwd: '/' };
    const isThere = await context.run(program, [], call).then(
      () => true,
      () => false,
    );
    const queue = context.queue({ slots: context.cores, waiting: 16 });
    return {
      models: [{ id: 'sphinx', name: 'PocketSphinx', local: true, ...(!isThere && { availability: missing }) }],
      async transcribe({ recording, model, language = 'en' }, { signal }) {
        if (model !== 'sphinx') throw new EngineError('unknown-model', `Unknown model ${model}.`);
        if (language !== 'en') throw new EngineError('language-not-supported', 'PocketSphinx supports English only.');
        const { wavPath, endMs: durationMs } = await context.decode(recording, { signal });
        const directory = await context.temporaryDirectory();
        try {
          const grammar = join(directory.path, 'words.gram');
          await writeFile(grammar, `#JSGF V1.0;\ngrammar words;\npublic <words> = (${words.join(' | ')})+;\n`);
          const args = ['-infile', wavPath, '-jsgf', grammar, '-logfn', '/dev/null'];
          const call = () => context.run(program, args, { signal, timeoutMs: 60_000, cwd: directory.path });
          const { code, stdout, stderr } = await queue.run(call, { signal });
          if (code !== 0) throw new EngineError('engine-failed', 'PocketSphinx failed.', { cause: new Error(stderr) });
          const text = stdout.trim().replace(/\s+/g, ' ');
          return { text, language: text === '' ? null : 'en', durationMs };
        } finally {
          await directory[Symbol.asyncDispose]();
        }
      },
    };
  },
});
