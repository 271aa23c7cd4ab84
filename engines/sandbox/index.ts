/**
 * All three capabilities without a key, a network, a model or a program: deterministic, made-up answers for the contract
 * tests of consumers. It says what it is in its ids and reasons.
 */
import { chat } from './chat.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';

export default [transcription, chat, speech];
