/** Recording uploads: multipart to disk, within limits, under file names chosen by the server. */
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { addAbortSignal, type Writable } from 'node:stream';
import multer from '@koa/multer';
import { MulterError } from 'multer';
import type { Recording } from '../../engines/contract/index.ts';
import { mediaTypes, sniff } from '../audio/sniff.ts';
import type { FormBounds } from '../contract/document.ts';
import type { DiskAccount } from '../system/disk-budget.ts';
import type { AccountedDirectory } from '../system/workspace.ts';
import { ProblemError, invalid } from '../contract/problems.ts';
import { declaredLength, receive, type BodySource } from './body.ts';

/** 25 MB, inclusive (contract). */
export const maxRecordingBytes = 26_214_400;

/** Allowance for the multipart framing around the recording. */
const frameBytes = 65_536;

const fieldNameSize = 100;

const multerLimits = ({ fields, fieldSize, nesting }: FormBounds) => ({
  fileSize: maxRecordingBytes,
  files: 1,
  fields,
  parts: fields + 1,
  fieldSize,
  fieldNameSize,
  headerPairs: 16,
  fieldNestingDepth: nesting,
});

export interface Form {
  readonly file: Recording;
  /** The non-empty text fields. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Called before a file is stored, with the non-empty text fields that precede it; rejects to refuse the form at once. */
export type AdmitFile = (fields: Form['fields']) => Promise<void>;

export interface FormRules {
  readonly bounds: FormBounds;
  readonly admitFile: AdmitFile;
}

/**
 * Stores the recording in `directory`; its owner removes it. Throws a `ProblemError` for an invalid upload, `storage-full`,
 * or what `admitFile` rejects with.
 */
export async function readForm(
  source: BodySource,
  { path: directory, account }: AccountedDirectory,
  rules: FormRules,
): Promise<Form> {
  if ((declaredLength(source.req) ?? 0) > maxRecordingBytes + frameBytes) throw tooLarge();
  const refused = Promise.withResolvers<never>();
  const { fields, files } = await receive(source, (signal) =>
    Promise.race([
      parse(source, { directory, signal, ...rules, refuse: refused.reject }),
      overflow(source.req, { account, signal }),
      refused.promise,
    ]),
  );
  const file = recordingOf(fields, files);
  return { file: await sniffed(file.path, file.size), fields: withoutEmpty(fields) };
}

interface Parsed {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: readonly { readonly fieldname: string; readonly path: string; readonly size: number }[];
}

/** Set on the request by multer. */
interface MulterFields {
  readonly body?: Parsed['fields'];
  readonly files?: Parsed['files'];
}

interface Parsing {
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly bounds: FormBounds;
  readonly admitFile: AdmitFile;
  /** Ends the reading at once: multer reports an error only after the whole body. */
  readonly refuse: (reason: unknown) => void;
}

async function parse(
  { req, res }: BodySource,
  { directory, signal, bounds, admitFile, refuse }: Parsing,
): Promise<Parsed> {
  const storage = multer.diskStorage({
    destination: (source, _file, done) => {
      const { body = {} } = source as IncomingMessage & MulterFields; // so far
      const store = () => {
        if (!signal.aborted) done(null, directory);
      };
      admitFile(withoutEmpty(body)).then(store).catch(refuse);
    },
    filename: (_req, _file, done) => done(null, 'upload'),
  });
  // Closes the file when the response does not wait for the end of the body; it would leak otherwise.
  const streamHandler = (_req: IncomingMessage, parser: Writable) => {
    addAbortSignal(signal, req.pipe(parser));
  };
  const options = { storage, limits: multerLimits(bounds), streamHandler };
  // The wrapper declares Koa's context but uses only these two.
  const context = { req, res } as unknown as Parameters<ReturnType<typeof middleware>>[0];
  const middleware = () => multer(options).any();
  try {
    await middleware()(context, () => Promise.resolve());
  } catch (error) {
    throw explain(error, bounds);
  }
  const { body = {}, files = [] } = req as IncomingMessage & MulterFields;
  return { fields: body, files };
}

interface Counting {
  readonly account: DiskAccount;
  readonly signal: AbortSignal;
}

/**
 * Rejects as soon as the body exceeds the limit (multer reports limits only after the whole body) or the disk budget is
 * exhausted.
 */
function overflow(req: IncomingMessage, { account, signal }: Counting): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    if (signal.aborted) return; // the rest is not written
    bytes += chunk.length;
    try {
      if (bytes > maxRecordingBytes + frameBytes) throw tooLarge();
      account.take(chunk.length);
    } catch (error) {
      reject(error);
    }
  });
  return promise;
}

function recordingOf(fields: Parsed['fields'], files: Parsed['files']): Parsed['files'][number] {
  const [file] = files;
  if ('file' in fields) {
    throw invalid('body', '/file', 'must be a file, not a text field; a file part has a filename');
  }
  if (file?.fieldname === 'file') return file;
  if (file)
    throw invalid(
      'body',
      '/file',
      `is missing; found a file in the field ${JSON.stringify(file.fieldname.slice(0, 40))}`,
    );
  throw invalid(
    'body',
    '/file',
    'is missing; send the recording as multipart/form-data in the field "file", with a filename',
  );
}

async function sniffed(path: string, bytes: number): Promise<Recording> {
  if (bytes === 0)
    throw new ProblemError('recording-empty', 'The recording is empty.', at('/file', 'must not be empty'));
  await using handle = await open(path);
  const found = await sniff(handle);
  if (found.container !== undefined)
    return { path, bytes, container: found.container, mediaType: mediaTypes[found.container] };
  const problem = `${found.detected}; supported: ${Object.keys(mediaTypes).join(', ')}`;
  const detail = `Detected ${problem}. The file name and media type are ignored.`;
  throw new ProblemError('recording-not-accepted', detail, at('/file', `is ${problem}`));
}

/** Forms cannot omit fields as easily as JSON: an empty text field counts as absent. */
function withoutEmpty(fields: Parsed['fields']): Form['fields'] {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

function explain(error: unknown, bounds: FormBounds): unknown {
  if (error instanceof MulterError) return explainLimit(error, bounds);
  const { code, message } = error as NodeJS.ErrnoException;
  // File system errors have a code, busboy's parse errors do not.
  if (code !== undefined) return error;
  const detail = `Invalid multipart body: ${message}.`;
  return new ProblemError('malformed-body', detail, {
    cause: error,
    ...at('', 'must be well-formed multipart/form-data'),
  });
}

function explainLimit({ code, field = '' }: MulterError, { fields, fieldSize, nesting }: FormBounds): ProblemError {
  const place =
    field.length > 0 && field.length <= fieldNameSize ? `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}` : '';
  switch (code) {
    case 'LIMIT_FILE_SIZE':
      return tooLarge();
    case 'LIMIT_FILE_COUNT':
    case 'LIMIT_UNEXPECTED_FILE':
      return invalid('body', '/file', 'must be a single file');
    case 'LIMIT_FIELD_VALUE':
      return invalid('body', place, `must not have more than ${String(fieldSize)} bytes`);
    case 'LIMIT_FIELD_COUNT':
    case 'LIMIT_PART_COUNT':
      return invalid('body', '', `must not have more than ${String(fields)} fields besides the recording`);
    case 'LIMIT_FIELD_KEY':
      return invalid('body', '', `must not have field names of more than ${String(fieldNameSize)} bytes`);
    case 'MISSING_FIELD_NAME':
      return invalid('body', '', 'must have a name for each part');
    default:
      return invalid(
        'body',
        place,
        nesting === 0 ? 'must have a plain field name, without brackets' : 'must have at most one pair of brackets',
      );
  }
}

function tooLarge(): ProblemError {
  const detail = `The recording exceeds the limit of 25 MB (${String(maxRecordingBytes)} bytes).`;
  return new ProblemError(
    'recording-too-large',
    detail,
    at('/file', `must not have more than ${String(maxRecordingBytes)} bytes`),
  );
}

function at(pointer: string, detail: string) {
  return { errors: [{ in: 'body' as const, pointer, detail }] };
}
