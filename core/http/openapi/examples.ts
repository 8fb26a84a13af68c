// What answers and events look like: recorded from a server that every operation was asked of once
// (`UPDATE_DOCS=1 bun test test/api/openapi.test.ts`).
import type { TSchema } from 'typebox';
import type { JsonObject } from './components.ts';
import recorded from './generated/examples.json' with { type: 'json' };

const examples: Readonly<Record<string, unknown>> = recorded;

/** The recorded answer of an operation; of what cannot be recorded, the example of its schema. */
export function exampleOf(operation: string, schema: TSchema): JsonObject {
  const { examples: [own] = [] } = schema as { examples?: readonly unknown[] };
  return own === undefined ? exampleNamed(operation) : { example: own };
}

/** As a member of a media type; none while nothing is recorded under the name. */
export function exampleNamed(name: string): JsonObject {
  return name in examples ? { example: examples[name] } : {};
}
