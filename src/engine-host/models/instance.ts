/** An engine instance from the settings, and what the service knows about it. */
import type {
  Availability,
  Capability,
  EngineContext,
  Engines,
  Logger,
  ModelEntry,
} from '../../../engines/contract/index.ts';
import type { OpenedParts } from './availability.ts';
import type { PublishedModels } from './published.ts';

/** Receives what an engine publishes and opens through its context. */
export interface EngineHost {
  readonly publish: EngineContext['publish'];
  readonly opened: OpenedParts;
}

/** A current failure of an engine. */
export interface EngineFailure {
  readonly instance: string;
  /** The engine's member that fails, such as `recheck()`, or `models` if the engine cannot list all of its models. */
  readonly what: string;
  readonly error: Error;
}

export interface Instance<C extends Capability> {
  readonly name: string;
  readonly capability: C;
  readonly engine: Engines[C];
  readonly published: PublishedModels;
  /** Current failures, for the operator. */
  readonly failures: () => readonly Pick<EngineFailure, 'what' | 'error'>[];
  readonly availabilityOf: (entry: ModelEntry) => Availability;
  readonly log: Logger;
  /** Undefined if the engine could not be created. */
  readonly context?: EngineContext;
}

/** An instance whose capability is known. */
export type AnyInstance = { readonly [C in Capability]: Instance<C> }[Capability];
