/**
 * The engine contract, version 1: all that an engine may know of the service.
 *
 * An engine is a module whose default export is `defineEngine({...})`, or a list of such. It imports nothing
 * of the service but this file; whatever else it needs arrives in its `EngineContext`.
 *
 * The service guards every function of an engine. One that throws what is no `EngineError`, returns what its type does
 * not allow, or takes longer than its deadline costs its own entry (`engine-failed`) or its own call (`engine-failed`,
 * `engine-timeout`), and the log has the cause. Out of reach are a loop that never yields, `process.exit()`, and errors
 * that are thrown where nobody waits (a timer, a listener, a promise that is not returned): these end the service.
 *
 * Version 1 grows only by what is optional: an engine that works today works with every service of version 1. What
 * would break one is version 2, and a service names the versions that it takes.
 */
export * from './definition.ts';
export * from './engine.ts';
export * from './models.ts';
export * from './transcription.ts';
export * from './chat.ts';
export * from './speech.ts';
export * from './context.ts';
export * from './errors.ts';
