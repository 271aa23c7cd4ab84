/** The options that every engine for an OpenAI-compatible provider has, held against their JSON Schema. */
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { idOrMapping, modelProperties, providerProperties } from '../../../../engines/lib/provider/options.ts';

const ajv = new Ajv({ allowUnionTypes: true });
addFormats.default(ajv);
ajv.addFormat('iri', true);
const isOptions = ajv.compile({ type: 'object', additionalProperties: false, properties: providerProperties });
const isModel = ajv.compile({ ...idOrMapping, properties: modelProperties });

test.each<[string, object]>([
  ['an address', { baseUrl: 'https://api.openai.com/v1' }],
  ['an address of this machine', { baseUrl: 'http://127.0.0.1:8000', local: true }],
  ['an IPv6 address', { baseUrl: 'http://[::1]:8000/v1/' }],
  ['an empty key', { apiKey: '' }],
  ['a key', { apiKey: 'sk-very-secret 4711' }],
  ['headers', { headers: { 'x-title': 'Parlance', authorization: 'Basic abc' } }],
  ['a timeout', { timeout: 0.5 }],
])('%s is accepted', (_what, options) => {
  expect(isOptions(options), JSON.stringify(isOptions.errors)).toBe(true);
});

test.each<[string, object]>([
  ['an address with a user, which messages would show', { baseUrl: 'https://user:secret@a.example/v1' }],
  ['an address with a query', { baseUrl: 'https://a.example/v1?key=secret' }],
  ['an address with a fragment', { baseUrl: 'https://a.example/v1#a' }],
  ['an address of another protocol', { baseUrl: 'ftp://a.example' }],
  ['an address without a protocol', { baseUrl: 'api.example.com' }],
  ['an address with a space', { baseUrl: 'https://a.example/v 1' }],
  ['a key with a line end', { apiKey: 'a\nb' }],
  ['a key that no header can carry', { apiKey: 'schlüssel' }],
  ['a header that frames the request', { headers: { 'content-length': '5' } }],
  ['a header in upper case', { headers: { 'X-Title': 'a' } }],
  ['a header with a line end', { headers: { 'x-title': 'a\r\nb: c' } }],
  ['a timeout of 0', { timeout: 0 }],
  ['a timeout of more than a day', { timeout: 86_401 }],
  ['an unknown option', { basUrl: 'https://a.example' }],
])('%s is rejected', (_what, options) => {
  expect(isOptions(options)).toBe(false);
});

test.each(['connection', 'content-type', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])(
  'the header %s is ours',
  (name) => expect(isOptions({ headers: { [name]: 'x' } })).toBe(false),
);

test('a model is an id, or a mapping that has one', () => {
  for (const model of ['a', { id: 'a' }, { id: 'a', remoteId: 'b', name: 'c' }]) expect(isModel(model)).toBe(true);
  for (const model of ['', 'a'.repeat(257), 5, {}, { remoteId: 'a' }, { id: '' }, { id: 'a', other: 1 }]) {
    expect(isModel(model)).toBe(false);
  }
});
