/** A part of a recording cannot be read. The message completes "The recording could not be decoded: ...". */
export class DamagedRecording extends Error {
  override readonly name = 'DamagedRecording';
}

export function damagedBeforeEnd(name: string): DamagedRecording {
  return new DamagedRecording(`the ${name} file is damaged before its end`);
}
