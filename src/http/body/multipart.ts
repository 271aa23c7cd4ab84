/** Reads a form: text fields into memory, and the recording to disk under a file name chosen by the server. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import busboy, { type Busboy } from 'busboy';
import type { Recording } from '../../../engines/contract/index.ts';
import { linkedSignal, onAbort } from '../../../lib/abort.ts';
import { inTurn } from '../../../lib/event-loop.ts';
import { mediaTypes, sniff } from '../../audio/sniff.ts';
import type { FormBounds } from '../../contract/document.ts';
import type { FormFields, Upload } from '../../contract/operations.ts';
import { inBody, invalid, ProblemError } from '../../contract/problems.ts';
import type { RefusableBody, Reservation } from './body-budget.ts';
import { type BodySource, declaredLength, receive } from './receive.ts';
import { checkName, TextFields, type FieldRules } from './text-fields.ts';
import { ignore } from '../../../lib/errors.ts';

/** Maximum size of a recording: 25 MB inclusive, as in the contract. */
export const maxRecordingBytes = 26_214_400;

/** Allowance for the multipart framing around the recording and for the other fields. */
const frameBytes = ({ large }: FormBounds) => 65_536 + (large ? large.count * large.fieldSize : 0);

export interface Form {
  readonly file: Recording;
  readonly fields: FormFields;
  /** Total size of the text fields in bytes. */
  readonly bytes: number;
}

/** Called before a file is stored, with the text fields that precede it. Rejects to refuse the form immediately. */
export type BeforeFile = (fields: FormFields) => Promise<void>;

/** The request of a form. Its text fields count against the memory budget until the request ends. */
export interface FormSource extends BodySource {
  readonly reserve: (body: RefusableBody) => Reservation;
}

export interface FormRules extends FieldRules {
  readonly beforeFile: BeforeFile;
  /** Appended to the error message for a file that is too large. */
  readonly hint?: string | undefined;
}

/**
 * Stores the recording in `destination`, whose owner removes it. Throws a `ProblemError` for an invalid upload,
 * `storage-full`, `overloaded`, or the rejection of `beforeFile`.
 */
export async function readForm(source: FormSource, destination: Upload, rules: FormRules): Promise<Form> {
  const { req } = source;
  if ((declaredLength(req) ?? 0) > destination.maxBytes + frameBytes(rules.bounds)) throw tooLarge(destination, rules);
  if (!hasBody(req)) throw missing(howToSend);
  const { file, text } = await receive(source, (signal) =>
    parse(req, { destination, signal, reserve: source.reserve, ...rules }),
  );
  if (!file) throw missing(howToSend);
  return { file: await sniffed(file), fields: text.read(), bytes: text.bytes };
}

const howToSend = 'send the recording as multipart/form-data in the field "file", with a filename';

function hasBody(req: IncomingMessage): boolean {
  return declaredLength(req) !== undefined || req.headers['transfer-encoding'] !== undefined;
}

interface Parsing extends FormRules, Pick<FormSource, 'reserve'> {
  readonly destination: Upload;
  readonly signal: AbortSignal;
}

interface Parsed {
  readonly file: StoredFile | undefined;
  readonly text: TextFields;
}

/** The first failure aborts everything: the parser, the file, and the loop that feeds them. */
async function parse(req: IncomingMessage, { destination, signal, reserve, ...rules }: Parsing): Promise<Parsed> {
  using ending = linkedSignal(signal);
  const fail = (reason: unknown) => ending.abort(reason);
  const { bounds, beforeFile } = rules;
  const parser = addAbortSignal(ending.signal, createParser(req, bounds, destination));
  const text = new TextFields(rules);
  const memory = reserve({ refuse: fail });
  let storing: Promise<StoredFile | undefined> | undefined;
  const collecting: Promise<void>[] = [];
  parser.on('field', (name, value, { valueTruncated }) => {
    try {
      text.add(name, value, valueTruncated);
      memory.grow(text.bytes);
    } catch (problem) {
      fail(problem);
    }
  });
  parser.on('file', (name, stream, { filename, mimeType }) => {
    stream.on('error', ignore); // the parser emits the same error
    if (bounds.large?.isFile && name === bounds.large.name) {
      const adding = addFile(text, { name, stream, filename, mimeType }).then(() => memory.grow(text.bytes));
      adding.catch(fail);
      return void collecting.push(adding);
    }
    if (storing) return fail(invalid('body', '/file', 'must be a single file'));
    stream.on('limit', () => fail(tooLarge(destination, rules)));
    const admit = () => beforeFile(text.read());
    storing = store(
      { name, stream, filename },
      { path: join(destination.path, 'upload'), admit, signal: ending.signal },
    );
    storing.catch(fail);
  });
  const tooMany = `must not have more than ${String(bounds.fields)} fields besides the recording`;
  for (const limit of ['fieldsLimit', 'partsLimit']) parser.on(limit, () => fail(invalid('body', '', tooMany)));
  const whole = finished(parser).catch(explain);
  const maxBytes = destination.maxBytes + frameBytes(bounds);
  feed(req, { parser, destination, maxBytes, hint: rules.hint, signal: ending.signal, fail });
  const stored = whole.then(async () => {
    const file = await storing;
    await Promise.all(collecting);
    memory.settle(text.bytes);
    return { file, text };
  });
  return await ending.race(stored);
}

function createParser(
  { headers }: IncomingMessage,
  { fields, fieldSize, large }: FormBounds,
  { maxBytes }: Pick<Upload, 'maxBytes'>,
): Busboy {
  // busboy reports a size limit when it is reached, not when it is exceeded, so add one.
  const limits = {
    fileSize: maxBytes + 1,
    fields,
    parts: fields + 2 + (large?.count ?? 0),
    fieldSize: Math.max(fieldSize, large?.fieldSize ?? 0) + 1,
  };
  try {
    return busboy({ headers, limits });
  } catch (error) {
    return explain(error);
  }
}

interface Feeding extends Pick<FormRules, 'hint'> {
  readonly parser: Busboy;
  readonly destination: Upload;
  /** Maximum size of the body in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly fail: (reason: unknown) => void;
}

/**
 * Does not use a pipe, because each chunk must be counted and charged to the disk budget before the parser writes any
 * of it.
 */
function feed(req: IncomingMessage, { parser, destination, maxBytes, hint, signal, fail }: Feeding): void {
  let bytes = 0;
  const add = (chunk: Buffer) => {
    try {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(destination, { hint });
      destination.account.take(chunk.length);
      req.pause();
      if (parser.write(chunk)) inTurn(read);
    } catch (problem) {
      fail(problem);
    }
  };
  const end = () => parser.end();
  const read = () => req.resume();
  parser.on('drain', () => inTurn(read));
  req.on('data', add).once('end', end);
  onAbort(signal, () => req.off('data', add).off('end', end));
}

interface FilePart {
  /** Undefined for a part without a name, contrary to busboy's types. */
  readonly name: string | undefined;
  readonly stream: Readable;
  readonly filename: string | undefined;
}

interface Storing {
  readonly path: string;
  readonly admit: () => Promise<void>;
  readonly signal: AbortSignal;
}

interface StoredFile {
  readonly path: string;
  readonly bytes: number;
}

/** Adds a small file to the text fields. Ignores the empty file input of a browser, which has no file name. */
async function addFile(
  text: TextFields,
  { name = '', stream, filename, mimeType }: FilePart & { readonly mimeType: string },
): Promise<void> {
  if (filename === undefined || filename === '') return void stream.resume();
  const file = text.openFile(name);
  for await (const chunk of stream as AsyncIterable<Buffer>) file.add(chunk);
  file.end(mimeType);
}

/** Returns undefined for the empty file input of a browser, which has no file name. */
async function store(
  { name, stream, filename }: FilePart,
  { path, admit, signal }: Storing,
): Promise<StoredFile | undefined> {
  signal.throwIfAborted();
  checkName(name);
  if (filename === undefined || filename === '') {
    stream.resume();
    return undefined;
  }
  if (name !== 'file') throw missing(`found a file in the field ${JSON.stringify(name.slice(0, 40))}`);
  await admit();
  signal.throwIfAborted();
  const file = createWriteStream(path, { flags: 'wx' });
  await pipeline(stream, file).catch(async (error: unknown) => {
    // Waits before answering, so that the rejected file no longer takes disk space from other requests.
    if (!file.closed) await once(file, 'close');
    await rm(path, { force: true });
    explain(error);
  });
  return { path, bytes: file.bytesWritten };
}

async function sniffed({ path, bytes }: StoredFile): Promise<Recording> {
  if (bytes === 0)
    throw new ProblemError('recording-empty', 'The recording is empty.', inBody('/file', 'must not be empty'));
  await using handle = await open(path);
  const found = await sniff(handle);
  if (found.container !== undefined)
    return { path, bytes, container: found.container, mediaType: mediaTypes[found.container] };
  const problem = `${found.detected}; supported: ${Object.keys(mediaTypes).join(', ')}`;
  const detail = `Detected ${problem}. The file name and media type are ignored.`;
  throw new ProblemError('recording-not-accepted', detail, inBody('/file', `is ${problem}`));
}

/** Throws `malformed-body` for errors of busboy, which have no code, unlike errors of the file system. */
function explain(error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) throw error;
  throw new ProblemError('malformed-body', `Invalid multipart body: ${message}.`, {
    cause: error,
    ...inBody('', 'must be well-formed multipart/form-data'),
  });
}

function missing(hint: string): ProblemError {
  return invalid('body', '/file', `is missing; ${hint}`);
}

function tooLarge({ maxBytes }: Pick<Upload, 'maxBytes'>, { hint }: Pick<FormRules, 'hint'>): ProblemError {
  const size = `${String(Math.round(maxBytes / 1_048_576))} MB (${String(maxBytes)} bytes)`;
  const detail = `The recording exceeds the limit of ${size}${hint === undefined ? '' : `; ${hint}`}.`;
  const blame = inBody('/file', `must not have more than ${String(maxBytes)} bytes`);
  return new ProblemError('recording-too-large', detail, blame);
}
