/** With TEST_FLEET=1: skips the exceptions. */
import { beforeEach } from 'vitest';
import { exceptionFor } from './fleet-exceptions.ts';
import { redisVariable } from './fleet-mode.ts';

if (process.env[redisVariable] !== undefined)
  beforeEach(({ task, skip }) => {
    const exception = exceptionFor(task.file.filepath, task.fullTestName);
    if (exception) skip(exception.reason);
  });
