/** Parses server-sent events (WHATWG HTML, 9.2.6). Only `data` is read: the events of the service are JSON. */

/** Returns a parser, which takes the next part of the stream and returns the data of the events that end in it. */
export function createEventParser(): (text: string) => readonly string[] {
  let pending: string[] = [];
  const data: string[] = [];
  return (text) => {
    const isAfterReturn = pending.at(-1)?.endsWith('\r');
    pending.push(text);
    if (!isAfterReturn && !/[\r\n]/.test(text)) return []; // joins a long line only once
    const lines = pending.join('').split(/\r\n|\n|\r(?!$)/); // a final return may be the first half of CR LF
    pending = lines.splice(-1);
    return lines.flatMap((line) => {
      const field = /^data(?:$|: ?)/.exec(line);
      if (field) data.push(line.slice(field[0].length));
      if (line !== '' || data.length === 0) return [];
      return data.splice(0).join('\n');
    });
  };
}
