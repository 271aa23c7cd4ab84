/** The realtime session of the AI SDK, with the microphone of the page. `/setup` is the application's own server. */
/* global URLSearchParams, document, location, navigator, window */
import { createOpenAI } from '@ai-sdk/openai';
import { Experimental_AbstractRealtimeSession as RealtimeSession } from 'ai';

const openai = createOpenAI({ apiKey: 'not on this page' });
/** The state of the session, and its errors. */
const seen = { errors: [] };

class Session extends RealtimeSession {
  setState(key, value) {
    seen[key] = value;
  }
}

document.body.append(Object.assign(document.createElement('button'), { textContent: 'Talk', onclick: talk }));

async function talk() {
  const session = new Session({
    model: openai.experimental_realtime('gpt-realtime'),
    api: { token: '/setup' },
    sessionConfig: {
      instructions: 'Be brief.',
      voice: 'alloy',
      inputAudioTranscription: { language: 'en', ...Object.fromEntries(new URLSearchParams(location.search)) },
      turnDetection: { type: 'server-vad', prefixPaddingMs: 500 },
    },
    onToolCall: ({ toolCall }) => `Sunny in ${toolCall.args.city}. `.repeat(100).trim(),
    onError: ({ message }) => seen.errors.push(message),
  });
  await session.connect();
  session.startAudioCapture(await navigator.mediaDevices.getUserMedia({ audio: true }));
}

window.seen = seen;
