import { expect, it } from 'vitest';
import { runChecks } from '../../../src/conformance/kit.ts';
import { openerOf } from '../../../src/conformance/open.ts';
import { speechChecks } from '../../../src/conformance/speech.ts';

it('passes the conformance kit for speech engines', async () => {
  const subject = { options: { voice: 'en' }, open: openerOf('espeak', import.meta.dirname) };
  const verdicts = await runChecks(speechChecks, subject);
  expect(verdicts.filter(({ failure }) => failure !== undefined)).toEqual([]);
  expect(verdicts.filter(({ remark }) => remark !== undefined)).toEqual([
    { check: 'a model that supports instructions accepts them', remark: 'the model does not support instructions' },
  ]);
});
