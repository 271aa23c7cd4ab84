/**
 * Options of Ajv for every schema here. Each was checked when it was written: doing so again takes 50 ms of a start.
 * What Ajv calls optimization takes half of the time in which it compiles, and validation is as fast without (a chat of
 * 20 messages: 1.2 us).
 */
export const ajvOptions = { strict: false, validateSchema: false, code: { optimize: false } } as const;
