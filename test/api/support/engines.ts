/**
 * Small engines for services under test, as their authors would write them: one file beside parlance.config.yaml.
 */
import type { TestServiceOptions } from '../../support/service.ts';

type Setup = Required<Pick<TestServiceOptions, 'config' | 'files'>>;

/** The settings and the file of an engine; `code` is the body of its `create(options, context)`. */
function engine(name: string, code: string): Setup {
  const source = `
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const entry = (id) => ({ id, local: true });

export default {
  contract: 1,
  name: '${name}',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create(options, context) {
    ${code}
  },
};
`;
  return { config: `engines: { ${name}: { use: ./${name}.mjs } }\n`, files: { [`${name}.mjs`]: source } };
}

/** Its transcript is what it was handed, as JSON. */
export interface Echo {
  readonly model: string;
  readonly language?: string;
  readonly keywords?: readonly string[];
  readonly bytes: number;
  readonly container: string;
}

/** Serves `first`, and `second`, which accepts keywords and German only. */
export const echo = engine(
  'echo',
  `return {
      models: [entry('first'), { ...entry('second'), supports: ['keywords'], languages: ['de'] }],
      async transcribe({ recording: { bytes, container }, model, language, keywords }) {
        return { text: JSON.stringify({ model, language, keywords, bytes, container }), language: language ?? null };
      },
    };`,
);

/** Works until a file named \`finish\` lies beside its settings; it logs \`the engine works\` when it begins. */
export const patient = engine(
  'patient',
  `return {
      models: [entry('patient')],
      async transcribe(_call, { signal }) {
        context.log.info({}, 'the engine works');
        while (!existsSync(context.resolve('finish'))) await wait(10, undefined, { signal });
        return { text: 'at last', language: null };
      },
    };`,
);

/** Throws what no contract foresees. */
export const broken = engine(
  'broken',
  `return {
      models: [entry('broken')],
      async transcribe() {
        throw new TypeError('the secret of the engine', { cause: new Error('deep down') });
      },
    };`,
);

/** Answers what the contract does not allow. */
export const lawless = engine(
  'lawless',
  `return {
      models: [entry('lawless')],
      transcribe: async () => ({ text: 'fine', language: 'English' }),
    };`,
);
