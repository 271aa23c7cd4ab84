/** The supported families of models. To add one, add a file such as nemo.ts and a line here. */
import type { Family } from '../lib/sherpa/folder.ts';
import type { ModelFacts } from './model-facts.ts';
import { moonshineV1, moonshineV2 } from './moonshine.ts';
import { nemoCtc, nemoTransducer } from './nemo.ts';
import { senseVoice } from './sense-voice.ts';

export const families = {
  'nemo-ctc': nemoCtc,
  'nemo-transducer': nemoTransducer,
  'sense-voice': senseVoice,
  'moonshine-v1': moonshineV1,
  'moonshine-v2': moonshineV2,
} as const satisfies Record<string, Family<ModelFacts>>;

export type ModelKind = keyof typeof families;
