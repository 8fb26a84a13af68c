// Examples of responses and events, recorded from a server on which every operation was called once
// (`UPDATE_DOCS=1 bun test test/api/openapi.test.ts`).
import type { TSchema } from 'typebox';
import type { JsonObject } from './components.ts';
import recorded from './generated/examples.json' with { type: 'json' };

const examples: Readonly<Record<string, unknown>> = recorded;

/**
 * Returns the example in the schema, which operations that cannot be recorded have; otherwise the recorded
 * response.
 */
export function exampleOf(operation: string, schema: TSchema): JsonObject {
  const { examples: [own] = [] } = schema as { examples?: readonly unknown[] };
  return own === undefined ? exampleByName(operation) : { example: own };
}

/** Returns the example as a member of a media type; empty if nothing is recorded under the name. */
export function exampleByName(name: string): JsonObject {
  return name in examples ? { example: examples[name] } : {};
}
