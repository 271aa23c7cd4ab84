/** Preloaded into the service by the soak test: on SIGUSR2, collects the garbage and prints the size of the heap. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  globalThis.gc?.(); // the first one frees array buffers in the background, and the second one waits for that
  const { heapUsed, rss, external } = process.memoryUsage();
  process.stderr.write(`memory ${JSON.stringify({ heapUsed, rss, external })}\n`);
});
