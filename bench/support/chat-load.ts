/** Sends plain chats from a separate process: each message `{ url, requests, concurrent }` is answered with "done". */
import { Agent } from 'undici';

export interface ChatLoad {
  readonly url: string;
  readonly requests: number;
  readonly concurrent: number;
}

const body = JSON.stringify({ model: 'fake', messages: [{ role: 'user', content: 'Say twenty words.' }] });
const headers = { 'content-type': 'application/json' };
const agent = new Agent({ connections: 64 });

async function load({ url, requests, concurrent }: ChatLoad): Promise<void> {
  const { origin, pathname: path } = new URL(url);
  let left = requests;
  const caller = async () => {
    while (left-- > 0) {
      const answer = await agent.request({ origin, path, method: 'POST', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200 || !text.includes('word word')) throw new Error(`${answer.statusCode}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, caller));
}

process.on('message', (message) => {
  void load(message as ChatLoad).then(() => process.send?.('done'));
});
process.on('disconnect', () => process.exit());
