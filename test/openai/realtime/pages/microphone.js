/** A microphone in a room that is never quite silent: `say` plays a recording into it. Loaded before the scripts of a page. */
/* global AudioBufferSourceNode, AudioContext, navigator, window */
const context = new AudioContext();
const microphone = context.createMediaStreamDestination();

const noise = context.createBuffer(1, 1_009, context.sampleRate);
noise.getChannelData(0).forEach((_, at, samples) => (samples[at] = ((at * at) % 1_009) / 1_000_000));

function play(buffer, loop = false) {
  const source = new AudioBufferSourceNode(context, { buffer, loop });
  source.connect(microphone);
  source.start();
  return source;
}

navigator.mediaDevices.getUserMedia = async () => {
  await context.resume();
  play(noise, true);
  return microphone.stream;
};

/** Resolves when the recording, a WAV file in base64, has been said. */
window.say = async (recording) => {
  const source = play(await context.decodeAudioData(Uint8Array.fromBase64(recording).buffer));
  await new Promise((resolve) => (source.onended = resolve));
};
