/** Global setup: with TEST_FLEET=1, a redis-server for all tests of the run (fleet-mode.ts). */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_FLEET !== '1') return undefined;
  const { redisVariable } = await import('./fleet-mode.ts');
  if (process.env[redisVariable] !== undefined) return undefined; // another project of this run has begun
  const { openRedisServer } = await import('./redis.ts');
  const redis = await openRedisServer();
  process.env[redisVariable] = redis.url;
  return async () => redis[Symbol.asyncDispose]();
}
