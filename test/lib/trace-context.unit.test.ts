/** W3C Trace Context, levels 1 and 2: what is read, what begins a new trace, what is passed on. */
import { describe, expect, it, test } from 'vitest';
import { openTrace, writeTraceparent } from '../../lib/trace-context.ts';

const request = 'cac6e9a8-85bc-4d0a-a5e6-21172f35d987';
const [traceId, parentId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const ownSpan = 'a5e621172f35d987';
const valid = `00-${traceId}-${parentId}-01`;

describe('a valid traceparent', () => {
  it('is continued with a span of our own', () => {
    const trace = openTrace(request, valid, undefined);
    expect(trace).toEqual({ traceId, parentId, spanId: ownSpan, flags: 1, state: undefined });
    expect(writeTraceparent(trace)).toBe(`00-${traceId}-${ownSpan}-01`);
  });

  it.each([
    ['not sampled', `00-${traceId}-${parentId}-00`, '00'],
    ['sampled, random id', `00-${traceId}-${parentId}-03`, '03'],
    ['flags that no level defines', `00-${traceId}-${parentId}-ff`, '03'],
    ['a later version', `cc-${traceId}-${parentId}-01`, '01'],
    ['a later version with more fields', `cc-${traceId}-${parentId}-01-what-the-future-brings`, '01'],
  ])('%s', (_what, header, flags) => {
    expect(writeTraceparent(openTrace(request, header, undefined))).toBe(`00-${traceId}-${ownSpan}-${flags}`);
  });
});

describe('a new trace begins', () => {
  it('with the digits of the request id', () => {
    const trace = openTrace(request, undefined, undefined);
    expect(trace).toEqual({ traceId: 'cac6e9a885bc4d0aa5e621172f35d987', spanId: ownSpan, flags: 0 });
  });

  it.each([
    ['without a header', undefined],
    ['for an empty one', ''],
    ['for version ff', `ff-${traceId}-${parentId}-01`],
    ['for a trace id of zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
    ['for a parent id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['for upper case', valid.toUpperCase()],
    ['for other digits', valid.replace('4bf9', '4bg9')],
    ['for a short trace id', valid.replace('4bf9', '4bf')],
    ['for a long parent id', valid.replace('00f0', '00f00')],
    ['for one digit of flags', valid.slice(0, -1)],
    ['for version 00 with more', `${valid}-more`],
    ['for a later version that goes on without a hyphen', `cc${valid.slice(2)}x`],
    ['for a version of one digit', valid.slice(1)],
    ['for spaces in it', ` ${valid}`],
    ['for a line break after it', `${valid}\n`],
    ['for two of them', `${valid}, ${valid}`],
    ['for a list of them', [valid, valid]],
  ])('%s', (_what, header) => {
    const trace = openTrace(request, header, 'vendor=1');
    expect(trace.traceId).toBe('cac6e9a885bc4d0aa5e621172f35d987');
    expect(trace.parentId).toBeUndefined();
    expect(trace.state).toBeUndefined();
  });
});

test.each([
  ['one member', 'vendor=value', 'vendor=value'],
  ['several', 'a=1, tenant@vendor=x/y*z, 9=ok', 'a=1, tenant@vendor=x/y*z, 9=ok'],
  ['several headers', ['a=1', 'b=2'], 'a=1,b=2'],
  ['empty members', 'a=1,,b=2', 'a=1,,b=2'],
  ['none', undefined, undefined],
  ['nothing', '', undefined],
  ['upper case in a key', 'Vendor=1', undefined],
  ['no value', 'vendor', undefined],
  ['two equals signs', 'vendor=1=2', undefined],
  ['33 members', Array.from({ length: 33 }, (_, i) => `v${i}=1`).join(','), undefined],
  ['513 characters', `${'a=1,'.repeat(5)}b=${'x'.repeat(200)},c=${'x'.repeat(200)},d=${'x'.repeat(85)}`, undefined],
  ['other characters', 'vendor=é', undefined],
])('tracestate with %s', (_what, header, state) => {
  expect(openTrace(request, valid, header).state).toBe(state);
});
