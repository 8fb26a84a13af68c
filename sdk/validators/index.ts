/** `@tatami/sdk/validators`: whether a body has the shape that its operation takes, before it is sent. */
import type { FieldIssue } from '../generated/errors.ts';
import { bodySchemas, type BodyName } from '../generated/schemas.ts';
import { check, type Schema } from './check.ts';

export type { FieldIssue } from '../generated/errors.ts';
export type { BodyName } from '../generated/schemas.ts';

/** As in `details` of the error `validation_failed`. */
export interface Problem {
  /** `labels.0`; empty for the body itself. */
  readonly path: string;
  readonly issue: FieldIssue;
}

const read = new Map<BodyName, Schema>();

/**
 * What the server would refuse of the shape of a body; empty where it would not. What only the server knows, such as whether a label
 * exists, it still says itself.
 *
 * @param operation `issues.create`
 */
export function validate(operation: BodyName, body: unknown): Problem[] {
  let schema = read.get(operation);
  if (!schema) read.set(operation, (schema = JSON.parse(bodySchemas[operation]) as Schema));
  return check(schema, body);
}
