/**
 * With TEST_FLEET=1: skips the exceptions, and fails for those that no test has any more. Imports nothing of the service:
 * tests mock its modules.
 */
import { afterAll, beforeEach, type RunnerTask } from 'vitest';
import { exceptions, exceptionFor } from './fleet-exceptions.ts';

if (process.env.TEST_FLEET === '1') {
  beforeEach(({ task, skip }) => {
    const exception = exceptionFor(task.file.filepath, task.fullTestName);
    if (exception) skip(exception.reason);
  });
  // eslint-disable-next-line no-empty-pattern -- Vitest requires a pattern
  afterAll(({}, { file }) => {
    const titles = titlesIn(file.tasks);
    const unused = exceptions.filter(
      (one) => file.filepath.endsWith(one.file) && !titles.some((title) => title.includes(one.title ?? '')),
    );
    if (unused.length > 0) throw new Error(`no such test: ${unused.map(({ title }) => title).join(', ')}`);
  });
}

function titlesIn(tasks: readonly RunnerTask[]): string[] {
  return tasks.flatMap((task) => (task.type === 'suite' ? titlesIn(task.tasks) : [task.fullTestName]));
}
