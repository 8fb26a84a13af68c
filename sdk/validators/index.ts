/** `@tatami/sdk/validators`: checks the shape of a request body before it is sent. */
import type { FieldIssue } from '../generated/errors.ts';
import { bodySchemas, type BodyName } from '../generated/schemas.ts';
import { check, type Schema } from './check.ts';

export type { FieldIssue } from '../generated/errors.ts';
export type { BodyName } from '../generated/schemas.ts';

/** An entry of `details` in the error `validation_failed`. */
export interface Problem {
  /** Field path, such as `labels.0`; empty for the body itself. */
  readonly path: string;
  readonly issue: FieldIssue;
}

const read = new Map<BodyName, Schema>();

/**
 * Returns the issues for which the server would reject the shape of a body; empty if there are none. Rules that need
 * data, such as the existence of a label, are only checked by the server.
 * @param operation name such as `issues.create`
 */
export function validate(operation: BodyName, body: unknown): Problem[] {
  let schema = read.get(operation);
  if (!schema) read.set(operation, (schema = JSON.parse(bodySchemas[operation]) as Schema));
  return check(schema, body);
}
