/** Candidates for keys, found in linear time: a match takes the whole word. */
const keyLike = /\b(?:sk|pk|rk|gsk|hf|xai|key|bearer|token)[-_: ]+[\w*.-]{8,}/gi;

/** Characters that are examined; what follows is dropped. */
const examined = 65_536;

/** Replaces what looks like a key, including masked keys such as "sk-ab12****wxyz": it has a digit or an asterisk. */
export function maskKeys(text: string): string {
  return text.slice(0, examined).replace(keyLike, (word) => (/[\d*]/.test(word) ? '[key]' : word));
}
