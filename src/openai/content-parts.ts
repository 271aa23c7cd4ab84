/** Non-text parts of messages. Images must be data URLs, so nothing is ever fetched. */
import { imageTypes, type ImagePart, type Message, type MessagePart } from '../../engines/contract/index.ts';
import { invalid } from '../contract/problems.ts';
import { supports } from '../engine-host/models/model-selection.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { UnsupportedValue } from './errors.ts';

/** Maximum number of base64 digits of an image: 10 MB. */
const maxImageDigits = Math.ceil((10 * 1024 * 1024) / 3) * 4;

/** The first bytes of each image type, as Latin-1. */
const signatures: Readonly<Record<ImagePart['mediaType'], RegExp>> = {
  // eslint-disable-next-line no-control-regex -- they are bytes
  'image/png': /^\x89PNG\r\n\x1a\n/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/webp': /^RIFF....WEBP/s,
  'image/gif': /^GIF8[79]a/,
};

/** Throws unless the URL is a data URL of an image. */
export function toImage(url: string | null | undefined, detail: string | null | undefined, field: string): ImagePart {
  const [head, named] = /^data:image\/(png|jpe?g|webp|gif);base64,/.exec(url?.slice(0, 64) ?? '') ?? [];
  const mediaType = imageTypes.find((type) => type === `image/${named === 'jpg' ? 'jpeg' : String(named)}`);
  if (url == null || head === undefined || mediaType === undefined) {
    throw new UnsupportedValue(field, 'is not fetched: send it as a data: URL, a png, jpeg, webp or gif in base64');
  }
  const data = url.slice(head.length);
  if (data.length > maxImageDigits) throw invalid('body', field, 'must not be larger than 10 MB');
  const begin = Buffer.from(data.slice(0, 32), 'base64').toString('latin1');
  if (!signatures[mediaType].test(begin) || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    throw invalid('body', field, `must be an ${mediaType} in base64, as it says`);
  }
  return { type: 'image', mediaType, data, ...(detail != null && { detail }) };
}

/** Returns the content of a message: its text, and all parts if one of them is an image. */
export function contentOf(parts: readonly MessagePart[]): Pick<Message, 'content' | 'parts'> {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return { content: texts.join('\n'), ...(texts.length < parts.length && { parts }) };
}

/** JSON Pointer of the first image in a message whose content is at `field`. */
export function imageField({ parts = [] }: Message, field: string): string | undefined {
  const index = parts.findIndex(({ type }) => type === 'image');
  return index < 0 ? undefined : `${field}/${index}`;
}

/** Throws if the model does not support images, because it would make up an answer. */
export function requireImages(model: ServedModel<'chat'>, field: string): void {
  if (supports(model, 'images')) return;
  throw new UnsupportedValue(field, `is an image, which the model "${model.id}" does not support`);
}

export function unsupportedPart(type: string, field: string): UnsupportedValue {
  const hint =
    type === 'input_audio'
      ? 'transcribe it first: /v1/audio/transcriptions'
      : 'only text and images of the user are supported';
  return new UnsupportedValue(field, `has the type "${type}"; ${hint}`);
}
