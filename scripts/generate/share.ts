/**
 * Moves responses and headers that occur more than once into `components`. TypeSpec writes them out for every
 * operation, which doubles the size of the documents and gives generators an anonymous type for each occurrence.
 */
import { STATUS_CODES } from 'node:http';

type Named<T> = Record<string, T>;

interface Answer {
  readonly headers?: Named<object>;
}

/** The part of an OpenAPI document that is read and changed here. */
export interface Shareable {
  readonly paths: Named<Named<{ readonly operationId?: string; readonly responses?: Named<Answer> }>>;
  components: object;
}

/**
 * The names of responses that share their status with others, by operation id and status of any operation that has
 * them. Other responses are named after their status.
 */
const variants: Readonly<Record<string, string>> = {
  'startPreparation 403': 'ForbiddenPreparation',
  'startPreparation 404': 'PreparationNotFound',
  'getTranscriptionJob 404': 'TranscriptionNotFound',
  'getSpeechClip 404': 'ClipNotFound',
  'createChat 422': 'InvalidChat',
  'createSpeech 422': 'InvalidSpeech',
  'streamTranscription 200': 'TranscriptionStream',
};

/** Throws if a response or a header would need a name that is already taken. */
export function shareAnswers(document: Shareable): void {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const answers = operations.flatMap(({ operationId = '', responses = {} }) =>
    occurrencesIn(responses).map((found) => ({ ...found, variant: variants[`${operationId} ${found.key}`] })),
  );
  const every = answers.map(({ value }) => value as Answer);
  const responses = share('responses', answers, (status) => (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, ''));
  const kept = new Set([...Object.values(responses), ...answers.map(({ of, key }) => of[key])]);
  const occurrences = every
    .filter((answer) => kept.has(answer))
    .flatMap((answer) => occurrencesIn(answer.headers ?? {}));
  const headers = share('headers', occurrences, (name) => name);
  document.components = { ...document.components, responses, headers };
}

/** A value that may have to be replaced with a reference. */
interface Occurrence {
  readonly of: Named<object>;
  readonly key: string;
  readonly value: object;
  /** The name of the value if it is shared and not named after its key. */
  readonly variant?: string | undefined;
}

function occurrencesIn(of: Named<object>): Occurrence[] {
  return Object.entries(of).map(([key, value]) => ({ of, key, value }));
}

/** Replaces each value that occurs more than once with a reference, and returns these values by name. */
function share(section: string, occurrences: readonly Occurrence[], nameAfter: (key: string) => string): Named<object> {
  const shared: Named<object> = {};
  for (const alike of Map.groupBy(occurrences, ({ key, value }) => `${key} ${JSON.stringify(value)}`).values()) {
    const [{ key, value }] = alike as [Occurrence];
    if (alike.length === 1) continue;
    const name = alike.find(({ variant }) => variant !== undefined)?.variant ?? nameAfter(key);
    if (name === '' || Object.hasOwn(shared, name)) {
      throw new Error(`components/${section} needs another name than "${name}" for ${key}: ${JSON.stringify(value)}`);
    }
    shared[name] = value;
    for (const place of alike) place.of[place.key] = { $ref: `#/components/${section}/${name}` };
  }
  return shared;
}
