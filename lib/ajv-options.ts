/**
 * Options of Ajv for every schema of the service. The schemas were validated when they were written: doing so at
 * startup would take 50 ms. Ajv's code optimization takes half of the compile time, and validation is as fast without
 * it (1.2 us for a chat of 20 messages).
 */
export const ajvOptions = { strict: false, validateSchema: false, code: { optimize: false } } as const;
