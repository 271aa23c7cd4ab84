import { expect, test } from 'vitest';
import { ownAddress, type OwnAddress } from '../../src/settings/own-address.ts';

const usual: OwnAddress = { host: '127.0.0.1', port: 8484 };
const on = (host: string, port = 8484): OwnAddress => ({ host, port });
const at = (publicUrl: string): OwnAddress => ({ ...usual, publicUrl });

test.each<[url: string, OwnAddress]>([
  ['http://127.0.0.1:8484/v1', usual],
  ['http://127.0.0.1:8484', usual],
  ['http://127.1:8484/api/v1', usual],
  ['http://LOCALHOST:8484/v1', usual],
  ['http://parlance.localhost.:8484/v1', usual],
  ['http://0.0.0.0:8484/v1', usual],
  ['http://[::]:8484/v1', usual],
  ['https://127.0.0.1:8484/v1', usual],
  ['http://127.0.0.1/v1', on('127.0.0.1', 80)],
  ['https://127.0.0.1/v1', on('127.0.0.1', 443)],
  ['http://[::1]:8484/v1', on('::1')],
  ['http://[0:0::1]:8484/v1', on('[::1]')],
  ['http://localhost:8484/v1', on('::1')],
  ['http://127.0.0.1:8484/v1', on('localhost')],
  ['http://127.0.0.1:8484/v1', on('0.0.0.0')],
  ['http://127.9.9.9:8484/v1', on('0.0.0.0')],
  ['http://localhost:8484/v1', on('::')],
  ['http://192.168.1.7:8484/v1', on('192.168.1.7')],
  ['http://nas.local:8484/v1', on('NAS.local')],
])('%s is the listener', (url, own) => expect(ownAddress(url, own)).toBe('HOST and PORT'));

test.each<[url: string, OwnAddress]>([
  ['https://voice.example.com', at('https://voice.example.com')],
  ['https://voice.example.com/', at('https://voice.example.com')],
  ['https://Voice.Example.com:443/v1/', at('https://voice.example.com/')],
  ['https://voice.example.com/api/v1', at('https://voice.example.com')],
  ['https://example.com/voice/v1', at('https://example.com/voice')],
  ['https://example.com/voice', at('https://example.com/voice')],
])('%s is PUBLIC_URL', (url, own) => expect(ownAddress(url, own)).toBe('PUBLIC_URL'));

test.each<[url: string, OwnAddress]>([
  ['http://127.0.0.1:8000/v1', usual],
  ['http://127.0.0.2:8484/v1', usual],
  ['http://[::1]:8484/v1', usual],
  ['http://192.168.1.7:8484/v1', usual],
  ['http://example.com:8484/v1', on('0.0.0.0')],
  ['http://127.0.0.1:8484/v1', on('127.0.0.1', 0)],
  ['http://127.0.0.1/v1', usual],
  ['http://voice.example.com/v1', at('https://voice.example.com')],
  ['https://voice.example.com/litellm/v1', at('https://voice.example.com')],
  ['https://voice.example.com/v1beta', at('https://voice.example.com')],
  ['https://example.com/v1', at('https://example.com/voice')],
  ['https://example.com/voices/v1', at('https://example.com/voice')],
  ['no URL', usual],
])('%s is another service', (url, own) => expect(ownAddress(url, own)).toBeUndefined());
