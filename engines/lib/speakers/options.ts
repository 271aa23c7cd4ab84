/** The option `speakers`. */

export interface SpeakersOptions {
  readonly folder?: string;
  readonly threshold?: number;
}

/** For TitaNet small. */
export const defaultThreshold = 0.7;

export const speakersOption = {
  type: 'object',
  additionalProperties: false,
  description:
    'The models that tell speakers apart, for every model with timestamps of words. Default: those of `npm run setup -- speakers`, once they are installed.',
  properties: {
    folder: {
      type: 'string',
      minLength: 1,
      description:
        'Path of a folder with model.onnx (pyannote segmentation) and nemo_en_titanet_small.onnx (another embedding model for sherpa-onnx may take its place, under the same name).',
    },
    threshold: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      description: `Cosine distance above which two voices are two speakers; the right value depends on the embedding model. Default: ${defaultThreshold}, for TitaNet small.`,
    },
  },
} as const;
