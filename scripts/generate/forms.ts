/**
 * Adds what TypeSpec does not emit for forms: examples, because it has no values for their parts, and descriptions of
 * their schemas.
 */
import type { Schemas } from '../../src/contract/operations.ts';
import type { Schemas as OpenAISchemas } from '../../src/openai/operations.ts';

interface Form {
  readonly schema: { readonly $ref?: string };
  example?: object;
}

interface WithForms {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { description?: string }>> };
}

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: { description?: string; readonly content: Readonly<Record<string, Form>> };
}

/** Examples by operation id. The file name stands for the bytes of the file. */
export const nativeForms: Readonly<Record<string, Schemas['TranscriptionRequest']>> = {
  createTranscription: { file: 'good-morning.webm', language: 'de', timestamps: 'word' },
  streamTranscription: { file: 'good-morning.webm', keywords: 'Parlance, TypeSpec' },
  createTranscriptionJob: { file: 'lecture.mp3', timestamps: 'segment' },
};

export const openaiForms: Readonly<
  Record<string, OpenAISchemas['TranscriptionRequest'] | OpenAISchemas['TranslationRequest']>
> = {
  createTranscription: {
    file: 'good-morning.webm',
    model: 'whisper-1',
    response_format: 'verbose_json',
    timestamp_granularities: ['word'],
  },
  createTranslation: { file: 'good-morning.webm', model: 'whisper-1' },
};

/** Adds the examples, and moves the description of each form body to its schema. Throws if a form has no example. */
export function completeForms({ paths, components }: WithForms, examples: Readonly<Record<string, object>>): void {
  for (const { operationId = '', requestBody } of Object.values(paths).flatMap((path) => Object.values(path))) {
    const form = requestBody?.content['multipart/form-data'];
    if (!form) continue;
    const example = examples[operationId];
    if (!example) throw new Error(`add an example of ${operationId} to scripts/generate/forms.ts`);
    form.example = example;
    const schema = components.schemas[form.schema.$ref?.split('/').at(-1) ?? ''];
    if (schema && requestBody.description !== undefined) schema.description = requestBody.description;
    delete requestBody.description;
  }
}
