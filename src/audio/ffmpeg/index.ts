/**
 * Decodes with a sandboxed ffmpeg: forced demuxer, no network protocols, no other input file, no output file, limits on
 * memory, time and duration. (A plain `ffmpeg -i` follows playlists to local files and the network.)
 */
import { rename, rm } from 'node:fs/promises';
import { EngineError } from '../../../engines/contract/index.ts';
import type { DecodedRecording, DecodeRequest } from '../decode-request.ts';
import { decodeTrack, type DecodedTrack, type FfmpegOptions, type TrackOptions } from './decode-track.ts';
import { FfmpegReport } from './report.ts';

/**
 * Creates the file `wavPath`, and removes it on failure. If the default track is silent or cannot be decoded, decodes
 * the first track that has sound: screen recorders write one track per source, and films have one track per speaker
 * layout. Throws `JoinedRecording`.
 */
export async function decodeWithFfmpeg(
  ffmpeg: string,
  request: DecodeRequest,
  options: FfmpegOptions,
): Promise<DecodedRecording> {
  const report = new FfmpegReport();
  let sections: Promise<number> | undefined;
  const countSections = () => (sections ??= countSectionsOf(request, options));
  // Other tracks are not tried, because they are not channels of this one.
  if (request.channel !== undefined)
    return (await decodeTrack(ffmpeg, request, { ...options, report, countSections })).decoded;
  const main = await settle(decodeTrack(ffmpeg, request, { ...options, report, countSections }));
  if (isTrack(main) && main.hasSound) return main.decoded;
  try {
    for (const { index } of report.streams) {
      if (index === report.chosen?.index) continue;
      const other = { ...options, track: index, report: new FfmpegReport(), countSections };
      const decoded = await replaceBy(ffmpeg, request, other);
      if (decoded) return decoded;
    }
    if (isTrack(main)) return main.decoded;
    throw main;
  } catch (error) {
    await rm(request.wavPath, { force: true });
    throw error;
  }
}

/** Runs in a thread, because counting reads the whole file. */
async function countSectionsOf(request: DecodeRequest, options: FfmpegOptions): Promise<number> {
  const { countSections } = await import('../wasm/index.ts');
  return countSections(request, options);
}

/** If the track is silent or cannot be decoded, returns undefined and leaves `wavPath` unchanged. */
async function replaceBy(
  ffmpeg: string,
  request: DecodeRequest,
  options: TrackOptions,
): Promise<DecodedRecording | undefined> {
  const wavPath = `${request.wavPath}.track`;
  try {
    const track = await settle(decodeTrack(ffmpeg, { ...request, wavPath }, options));
    if (!isTrack(track) || !track.hasSound) return undefined;
    await rename(wavPath, request.wavPath);
    return { ...track.decoded, wavPath: request.wavPath };
  } finally {
    await rm(wavPath, { force: true });
  }
}

/** Resolves with the failure if the track cannot be decoded. */
async function settle(decoding: Promise<DecodedTrack>): Promise<DecodedTrack | EngineError> {
  try {
    return await decoding;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'recording-undecodable') return error;
    throw error;
  }
}

function isTrack(track: DecodedTrack | EngineError): track is DecodedTrack {
  return !EngineError.is(track);
}
