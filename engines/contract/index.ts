/**
 * The engine contract, version 1: the only file of the service that an engine imports.
 *
 * An engine is a module whose default export is `defineEngine({...})`, or an array of such definitions. The service
 * passes everything else that an engine needs in its `EngineContext`.
 *
 * The service guards every call into an engine. If a function throws something other than an `EngineError`, returns a
 * value that its type does not allow, or exceeds its timeout, only that entry (`engine-failed`) or that call
 * (`engine-failed`, `engine-timeout`) fails; the cause is logged. Three things cannot be contained and end the service:
 * an infinite synchronous loop, `process.exit()`, and uncaught exceptions or unhandled rejections (thrown in a timer,
 * in an event listener, or by a promise that is not returned).
 *
 * Within version 1, only optional members are added: an engine that works today works with every version 1 service. A
 * breaking change is version 2, and a service states the versions that it supports.
 */
export * from './assets.ts';
export * from './definition.ts';
export * from './engine.ts';
export * from './models.ts';
export * from './sound.ts';
export * from './transcription.ts';
export * from './speakers.ts';
export * from './chat.ts';
export * from './speech.ts';
export * from './context.ts';
export * from './resident.ts';
export * from './errors.ts';
export * from './limits.ts';
