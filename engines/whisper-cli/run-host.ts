/** One recording with whisper-host (host/host.cpp). */
import { EngineError, type Resident } from '../contract/index.ts';
import { isObject } from '../../lib/json.ts';
import { isSegment, toHeard, type Heard, type Segment } from './output.ts';
import type { WhisperCall, WhisperOptions } from './whisper-call.ts';
import { decodeBytes } from './words.ts';

export async function runHost(
  host: Pick<Resident, 'call'>,
  call: WhisperCall,
  { signal, onRaw }: WhisperOptions,
): Promise<Heard> {
  const transcription: Segment[] = [];
  const done = await host.call(questionOf(call), {
    signal,
    onMessage({ segment }) {
      if (!isSegment(segment)) throw unexpected();
      transcription.push(segment);
      if (segment.offsets) onRaw?.({ ...segment.offsets, text: decodeBytes(segment.text) });
    },
  });
  if (!isObject(done) || typeof done.language !== 'string') throw unexpected();
  if (call.translate && done.translated !== true) throw unexpected(); // a program of an earlier release
  return toHeard({ result: { language: done.language }, transcription }, call.wanted);
}

function questionOf({ sound, language, threads, wanted, prompt = '', temperature = 0, ...call }: WhisperCall) {
  const { carriesPrompt, translate, audioContext = 0 } = call;
  const words = wanted.timestamps.includes('word');
  return { ...sound, language, threads, words, prompt, carriesPrompt, translate, temperature, audioContext };
}

function unexpected(): EngineError {
  const cause = new Error('whisper-host wrote a message of an unexpected structure');
  return new EngineError('engine-failed', 'The loaded model failed.', { cause });
}
