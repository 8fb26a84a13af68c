// What a tool is: its words for agents, its schemas, and the operations of the API that it calls.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Route } from '../../http/route.ts';
import { createComponents, type JsonObject } from '../../http/openapi/components.ts';
import { alsoCalled } from '../../lib/schema.ts';
import type { Agent, Json } from '../agent.ts';
import type { Decisions } from '../decisions.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** When to use it, and what comes of it. */
  readonly description: string;
  /** It changes nothing. */
  readonly isRead: boolean;
  /** It may take something away. */
  readonly isDestructive: boolean;
  /** Doing it twice comes to doing it once. */
  readonly isIdempotent: boolean;
  /** The operations that it calls in any case: their scopes are those that it needs. */
  readonly operations: readonly string[];
  readonly input: TObject;
  readonly output: TObject;
  /** @throws Refused, ApiError */
  call(asked: Asked): Promise<Json>;
}

/** One call of a tool. Nothing of its arguments was looked at but their names. */
export interface Asked {
  readonly agent: Agent;
  readonly args: Json;
  readonly decisions: Decisions;
}

export type RouteOf = (name: string) => Route;

/** A property of a body or a query, as it is there. */
export function one(schema: TSchema | undefined, name: string): TSchema {
  const property = (schema as Partial<TObject> | undefined)?.properties?.[name];
  if (!property) throw new Error(`There is no property ${name}.`);
  return property;
}

/** Some of its properties, which need not be given. */
export function some(schema: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  return Object.fromEntries(names.map((name) => [name, Type.Optional(one(schema, name))]));
}

/** Key in the schema of a property that is taken and not listed, as agents read each list whole. */
const isUnlisted: unique symbol = Symbol('unlisted');

/** Some of its properties, which are taken and not listed. */
export function unlisted(schema: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  const hidden = (name: string): TSchema => Type.Optional({ ...one(schema, name), [isUnlisted]: true });
  return Object.fromEntries(names.map((name) => [name, hidden(name)]));
}

/** Fields of a body. What a body takes under two names is described under the one given here, and taken under both. */
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

/** All that an answer shows. */
export function shownBy({ responses }: Route): Record<string, TSchema> {
  const [schema] = Object.values(responses);
  return (schema as TObject).properties;
}

export const idempotencyKey = {
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A text of your own that names this one change, such as a UUID. Where an answer was lost, the same call with the same key changes nothing twice.',
    }),
  ),
};

/** An object as JSON Schema 2020-12, with every named part once. @param side whether callers give it or are shown it */
export function jsonSchemaOf(schema: TObject, side: 'given' | 'shown'): JsonObject {
  const components = createComponents();
  const root = components.ref(schema, side) as JsonObject;
  const { schemas } = components;
  const parts = Object.keys(schemas).length > 0 ? { $defs: side === 'shown' ? bare(schemas) : schemas } : {};
  const text = JSON.stringify({ ...root, ...parts });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as JsonObject;
}

/** Without words: agents read them with every list of tools, and what an answer shows speaks for itself. */
function bare(schemas: Readonly<Record<string, JsonObject>>): unknown {
  const isSaid = (value: unknown): boolean => typeof value === 'string';
  return JSON.parse(
    JSON.stringify(schemas, (name, value: unknown) =>
      name === 'description' && isSaid(value) ? undefined : value,
    ),
  );
}

/** The arguments that are given, of those names. */
export function given(args: Json, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]),
  );
}

/** What a write is given of `idempotencyKey`. */
export function keyOf({ idempotency_key: key }: Json): { idempotencyKey?: string } {
  return typeof key === 'string' ? { idempotencyKey: key } : {};
}
