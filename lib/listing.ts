/** Joins the first names of a list, for a message: `a, b, …`. */
export function joinFirst(names: readonly string[], most: number): string {
  return names.slice(0, most).join(', ') + (names.length > most ? ', …' : '');
}
