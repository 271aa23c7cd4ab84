/** The types of this API's contract; see src/contract/operations.ts. */
import type { components, operations } from '../../generated/openai-api.d.ts';
import type { AnswerOf, HandlerOf, OperationTableOf, RequestOf } from '../contract/operations.ts';

export type Operations = operations;
export type OperationId = keyof operations;
export type Schemas = components['schemas'];

export type OperationRequest<Op extends OperationId> = RequestOf<operations[Op]>;
export type Answer<Op extends OperationId> = AnswerOf<operations, Op>;
export type Handler<Op extends OperationId, Services> = HandlerOf<operations, Op, Services>;
export type OperationTable<Services> = OperationTableOf<operations, Services>;
