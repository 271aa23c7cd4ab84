/** What the pages of the browser test can do: bundled with the client, called by the test. */
/* global AbortController, AudioContext, Blob, MediaRecorder */
import { createClient, ParlanceError } from '../../../src/client/index.ts';

/** `work` with a client for the address (the page's own origin when absent); a failure comes back as plain facts. */
const withClient =
  (work) =>
  async (options, ...args) => {
    try {
      return await work(createClient(options), ...args);
    } catch (error) {
      if (!(error instanceof ParlanceError)) throw error;
      const { code, status, errors, retryAfter, requestId } = error;
      return { error: { code, status, errors, retryAfter, requestId } };
    }
  };

/** Of the call that can be aborted now. */
let leaving = new AbortController();

globalThis.page = {
  /** Plays the sound into a MediaRecorder, as a microphone would, and transcribes what that recorded. */
  transcribeRecording: withClient(async (client, wav, options) => {
    const bytes = Uint8Array.from(wav);
    const recording = await record(bytes);
    return { type: recording.type, bytes: recording.size, ...(await client.transcribe(recording, options)) };
  }),

  transcribeBytes: withClient((client, bytes, options) => client.transcribe(Uint8Array.from(bytes), options)),

  /** With the shares that were reported. */
  uploadWithProgress: withClient(async (client, bytes, options) => {
    const shares = [];
    const onUploadProgress = (share) => void shares.push(share);
    const answer = await client.transcribe(Uint8Array.from(bytes), { ...options, onUploadProgress });
    return { ...answer, shares };
  }),

  transcribePath: withClient((client, path) => client.transcribe(path).catch((error) => String(error))),

  stream: withClient(async (client, content) => {
    const events = [];
    for await (const event of client.streamChat({ messages: [{ role: 'user', content }] })) events.push(event);
    return events;
  }),

  chat: withClient((client, content) => client.chat({ messages: [{ role: 'user', content }] })),

  /** Ends the call below that is going on. */
  abort: () => leaving.abort('enough'),

  /** Answers with the reason that came back. */
  abortedStream: withClient(async (client) => {
    leaving = new AbortController();
    try {
      const request = { messages: [{ role: 'user', content: 'wait' }] };
      const events = client.streamChat(request, { signal: leaving.signal });
      while (!(await events.next()).done);
      return 'it was not aborted';
    } catch (reason) {
      return reason;
    }
  }),

  abortedUpload: withClient(async (client, bytes) => {
    leaving = new AbortController();
    const options = { model: 'ear', language: 'zz', signal: leaving.signal };
    return client.transcribe(Uint8Array.from(bytes), options).catch((reason) => reason);
  }),

  abortedUploadWithProgress: withClient(async (client, bytes) => {
    leaving = new AbortController();
    const options = { model: 'ear', language: 'zz', signal: leaving.signal, onUploadProgress: () => {} };
    return client.transcribe(Uint8Array.from(bytes), options).catch((reason) => reason);
  }),

  speak: withClient(async (client, text) => {
    const blob = await (await client.speak({ text, format: 'wav' })).blob();
    return { type: blob.type, text: await blob.text() };
  }),

  listings: withClient(async (client) => {
    const lists = await Promise.all([client.transcriptionModels(), client.chatModels(), client.speechModels()]);
    return lists.map(({ default: standard }) => standard);
  }),
};

async function record(wav) {
  await using context = { audio: new AudioContext(), [Symbol.asyncDispose]: () => context.audio.close() };
  const { audio } = context;
  const source = audio.createBufferSource();
  source.buffer = await audio.decodeAudioData(wav.buffer);
  const output = audio.createMediaStreamDestination();
  source.connect(output);
  const recorder = new MediaRecorder(output.stream, { mimeType: 'audio/webm;codecs=opus' });
  const pieces = [];
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  const done = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start(250);
  source.onended = () => recorder.stop();
  source.start();
  await done;
  return new Blob(pieces, { type: recorder.mimeType });
}
