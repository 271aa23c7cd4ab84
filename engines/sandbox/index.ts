/**
 * All three capabilities without an API key, network, model or program: deterministic, made-up answers for the contract
 * tests of clients. Model ids and availability reasons say that it is a sandbox.
 */
import { chat } from './chat.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';

export default [transcription, chat, speech];
