// Stands for a hosted provider: listens on a free port of 127.0.0.1 and writes a line per connection to stdout.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  response.end(JSON.stringify({ text: 'transcribed by the provider' }));
});
server.on('connection', () => console.log('connection'));
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
