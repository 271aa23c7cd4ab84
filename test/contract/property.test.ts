/**
 * Requests made by the contract itself (fast-check): what keeps its rules is never refused by them; what breaks one is
 * refused with the place of it; and nothing that can be sent makes the service fail. Every answer is held against the
 * contract. PROPERTY_RUNS says about how many requests are sent (2000).
 */
import fc from '../support/fast-check.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type Answer, type Api } from '../support/http.ts';
import { operations, placesOfViolations, root, type Operation } from './support/document.ts';
import { hostileBodies, hostilePaths } from './support/hostile.ts';
import { encode, isForm, requestBreaks, smallRequest, validRequests, type Parts } from './support/requests.ts';
import { reachScripted, type Reachable } from './support/service.ts';

const wanted = Number(process.env.PROPERTY_RUNS ?? 2000);
/** Beside a whole run, so many times as often. */
const scale = wanted / 2000;
const runs = (usual: number) => Math.ceil(usual * scale);
const timeout = 120_000 * Math.max(1, scale); // hundreds of requests, however busy the machine is

let service: Reachable;
let sent = 0;
let api: Api;

beforeAll(async () => {
  service = await reachScripted();
  const { send, ...rest } = createApi(service.url);
  api = { ...rest, send: (...call) => (sent++, send(...call)) };
});
afterAll(() => service[Symbol.asyncDispose]());

async function ask(operation: Operation, parts: Parts): Promise<Answer> {
  const { path, ...call } = encode(operation, parts);
  return released(await api.send(operation.method, path, call));
}

/** A caller may have eight jobs. */
async function released(answer: Answer): Promise<Answer> {
  const place = answer.status === 202 ? answer.headers.get('location') : null;
  if (place !== null) await createApi(service.url).send('DELETE', place);
  return answer;
}

/** What the schema cannot know: which ids there are, what the model behind one can do, and whether the file has channels. */
const beyondSchema = [
  'recording-undecodable',
  'parameter-not-supported',
  'unknown-model',
  'language-not-supported',
  'voice-not-supported',
  'format-not-supported',
  'clip-not-found',
  'transcription-not-found',
  'preparation-not-found',
];

function expectAccepted({ status, text, body }: Answer): void {
  const { code, errors } = body as { code?: string; errors?: unknown };
  if (status >= 300) expect(beyondSchema, text).toContain(code);
  if (status === 422) expect(errors, text).toHaveLength(1);
}

function expectRefused({ status, problem }: Answer, statuses: readonly number[] = [422]): void {
  expect(statuses, problem.detail).toContain(status);
}

/** As a body is to be answered that breaks the contract at these places. */
function expectJudged(answer: Answer, places: ReadonlySet<string>): void {
  if (places.size === 0) return expectAccepted(answer);
  expectRefused(answer);
  const { errors = [] } = answer.problem;
  expect(errors.length).toBeGreaterThan(0);
  for (const { pointer } of errors) expect([...places]).toContain(pointer);
}

describe.each(operations.map((operation) => ({ ...operation, title: `${operation.method} ${operation.template}` })))(
  '$title',
  { timeout },
  (operation) => {
    test('accepts valid requests', async () => {
      const statuses = new Set<number>();
      const property = fc.asyncProperty(validRequests(operation), async (parts) => {
        const answer = await ask(operation, parts);
        expectAccepted(answer);
        statuses.add(answer.status);
      });
      const isAlwaysTheSame = Object.keys(operation.schemas).length === 0;
      // The smallest one succeeds: a few dozen others may all name a model that there is not.
      await fc.assert(property, { numRuns: runs(isAlwaysTheSame ? 3 : 80), examples: [[smallRequest(operation)]] });
      // No id of a clip or a job can be guessed.
      expect(statuses).toContain(operation.schemas.path ? 404 : operation.statuses.find((status) => status < 300));
    });

    const breaks = requestBreaks(operation);
    if (breaks.length > 0) {
      test.each(breaks)('rejects and names the field: $rule', async ({ arbitrary, costly }) => {
        const property = fc.asyncProperty(arbitrary, async ({ parts, ...place }) => {
          const answer = await ask(operation, parts);
          expectRefused(answer);
          const { code, errors = [] } = answer.problem;
          expect(beyondSchema).not.toContain(code);
          expect(errors.length).toBeGreaterThan(0);
          for (const error of errors) expect(error).toMatchObject(place);
        });
        await fc.assert(property, { numRuns: costly ? 1 : runs(9) });
      });
    }

    const { body: schema } = operation.schemas;
    if (schema) {
      test.each(Object.entries(hostileBodies(operation, validRequests(operation))))(
        'survives %s',
        async (_what, arbitrary) => {
          const property = fc.asyncProperty(arbitrary, async ({ type, body, isTooDeep }) => {
            const call = { headers: type === undefined ? {} : { 'content-type': type }, body };
            const answer = await released(await api.send(operation.method, root + operation.template, call));
            if (type?.split(';')[0] !== operation.mediaType) return expectRefused(answer, [415]);
            // What is left of a damaged form may still be one.
            if (isForm(operation)) return answer.status < 300 ? undefined : expectRefused(answer);
            expectJudged(answer, isTooDeep ? new Set(['']) : placesOfViolations(schema, tryJson(body)));
          });
          await fc.assert(property, { numRuns: runs(17) });
        },
      );
    }

    test.each(Object.entries(hostilePaths(operation)))('survives %s', async (_what, arbitrary) => {
      const property = fc.asyncProperty(arbitrary, async (path) => {
        if (schema) return expectRefused(await api.send(operation.method, path), [401, 404, 415]);
        const answer = await api.send(operation.method, path);
        if (answer.status !== 422) expect([200, 404]).toContain(answer.status);
      });
      await fc.assert(property, { numRuns: runs(14) });
    });
  },
);

test('enough requests were generated, and the service is still alive', async () => {
  expect(sent).toBeGreaterThanOrEqual(wanted);
  expect((await api.get('/healthz')).status).toBe(200);
  const { own } = service;
  if (!own) return;
  expect(own.log.filter(({ level }) => level >= 50)).toEqual([]);
  const isKept = (path: string) => path.includes('/clip-'); // for ten minutes
  await expect.poll(async () => (await own.leftovers()).filter((path) => !isKept(path))).toEqual([]);
});

function tryJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
