/** Lets the browser draw and handle clicks between the events of a fast answer, which all come in one task. */
const maxTaskMs = 30;

export async function* paced<T>(events: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  let startedAt = performance.now();
  for await (const event of events) {
    if (performance.now() - startedAt > maxTaskMs) {
      await nextTask();
      startedAt = performance.now();
    }
    yield event;
  }
}

/** Uses a message, because timers in a hidden tab fire only once a second or once a minute. */
function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
