/** Preloaded into the service by the soak: on SIGUSR2 it collects its garbage and prints what is left. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, rss, external } = process.memoryUsage();
  process.stderr.write(`memory ${JSON.stringify({ heapUsed, rss, external })}\n`);
});
