/** A test that connects or listens belongs into any other kind of test: here it fails. */
import { subscribe } from 'node:diagnostics_channel';

const refuse = () => {
  throw new Error('a socket in a *.unit.test.ts');
};
subscribe('net.client.socket', refuse);
subscribe('tracing:net.server.listen:asyncStart', refuse);
