// Interface of a tool, and helpers for its schemas and arguments.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Route } from '../../../kernel/http/route.ts';
import { createComponents, type JsonObject } from '../../../kernel/http/openapi/components.ts';
import { alsoCalled } from '../../../platform/lib/schema.ts';
import type { Agent, Json } from '../agent.ts';
import type { Decisions } from '../decisions.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Description for agents: effect of the tool, and when to use it. */
  readonly description: string;
  /** True for a tool that changes nothing. */
  readonly isRead: boolean;
  /** True for a tool that may remove or overwrite data. */
  readonly isDestructive: boolean;
  /** True if a repeated call has no further effect. */
  readonly isIdempotent: boolean;
  /** Names of the operations that every call uses. The tool needs their scopes. */
  readonly operations: readonly string[];
  readonly input: TObject;
  readonly output: TObject;
  /** @throws Refused, ApiError */
  call(request: ToolRequest): Promise<Json>;
}

export interface Waiter {
  readonly agent: Agent;
  readonly decisions: Decisions;
}

export interface ToolRequest extends Waiter {
  readonly args: Json;
}

export type RouteOf = (name: string) => Route;

/** @throws Error for a property that the schema does not have */
export function one(schema: TSchema | undefined, name: string): TSchema {
  const property = (schema as Partial<TObject> | undefined)?.properties?.[name];
  if (!property) throw new Error(`There is no property ${name}.`);
  return property;
}

/** Returns the named properties as optional ones. */
export function some(schema: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  return Object.fromEntries(names.map((name) => [name, Type.Optional(one(schema, name))]));
}

/** Marks properties that are accepted but not listed, so that the list of tools stays short for agents. */
const isUnlisted: unique symbol = Symbol('unlisted');

/** Returns the named properties as optional ones that are accepted but not listed. */
export function unlisted(schema: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  const hidden = (name: string): TSchema => Type.Optional({ ...one(schema, name), [isUnlisted]: true });
  return Object.fromEntries(names.map((name) => [name, hidden(name)]));
}

/**
 * Returns the named properties of a body as optional ones. An alias is listed, and its original name is
 * accepted as well.
 */
export function fieldsOf(body: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  const fields = names.map((name): Record<string, TSchema> => {
    const { [alsoCalled]: of } = one(body, name) as { [alsoCalled]?: string };
    if (of === undefined) return some(body, [name]);
    return { [name]: Type.Optional({ ...one(body, of) }), ...unlisted(body, [of]) };
  });
  return Object.assign({}, ...fields) as Record<string, TSchema>;
}

export function listedInput({ properties, ...rest }: TObject): TObject {
  const listed = Object.entries(properties).filter(([, property]) => !(isUnlisted in property));
  return { ...rest, properties: Object.fromEntries(listed) };
}

export function responseFieldsOf({ responses }: Route): Record<string, TSchema> {
  const [schema] = Object.values(responses);
  return (schema as TObject).properties;
}

export const idempotencyKey = {
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Unique key of this change, such as a UUID. After a lost response, repeat the call with the same key; the change is made only once.',
    }),
  ),
};

/**
 * Converts a schema to JSON Schema 2020-12 with shared definitions.
 * @param side `given` for input, `shown` for output
 */
export function jsonSchemaOf(schema: TObject, side: 'given' | 'shown'): JsonObject {
  const components = createComponents();
  const root = components.ref(schema, side) as JsonObject;
  const { schemas } = components;
  const parts = Object.keys(schemas).length > 0 ? { $defs: side === 'shown' ? bare(schemas) : schemas } : {};
  const text = JSON.stringify({ ...root, ...parts });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as JsonObject;
}

/**
 * Removes descriptions from output definitions, because they lengthen each list of tools that an agent reads.
 */
function bare(schemas: Readonly<Record<string, JsonObject>>): unknown {
  const isSaid = (value: unknown): boolean => typeof value === 'string';
  return JSON.parse(
    JSON.stringify(schemas, (name, value: unknown) =>
      name === 'description' && isSaid(value) ? undefined : value,
    ),
  );
}

/** Returns the arguments with these names, without undefined ones. */
export function pickArguments(args: Json, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]),
  );
}

export function keyOf({ idempotency_key: key }: Json): { idempotencyKey?: string } {
  return typeof key === 'string' ? { idempotencyKey: key } : {};
}
