/** Whether a key belongs to an input method: it ends or drops a word that is being composed. */
export function isComposing(event: KeyboardEvent): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- Safari ends the composition first; only this is left
  return event.isComposing || event.keyCode === 229;
}
