import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Small files that take long: Vitest begins with the large ones, and these would run alone at the end. */
const slow = [
  'conformance/built-ins.process',
  'transcription/hostile.process',
  'transcription/recordings.process',
  'page/docs.process',
  'realtime/noises.process',
  'audio/joined.process',
];

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => slow.some((name) => moduleId.includes(name));
    return (await super.sort(files)).toSorted((a, b) => Number(isSlow(b)) - Number(isSlow(a)));
  }
}
