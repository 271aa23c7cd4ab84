/** Global setup: with TEST_FLEET=1, a redis-server for all tests of the run (fleet-mode.ts). */
import { openRedisServer } from './redis.ts';
import { redisVariable } from './fleet-mode.ts';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_FLEET !== '1' || process.env[redisVariable] !== undefined) return undefined;
  const redis = await openRedisServer();
  process.env[redisVariable] = redis.url;
  return async () => redis[Symbol.asyncDispose]();
}
