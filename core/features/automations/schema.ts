// JSON schema of a rule in a file, for editors.
import { Type, type TSchema } from 'typebox';
import { eventTypes } from '../../kernel/events/catalogue.ts';
import { isRunEvent } from '../../../sdk/plugin/event-types.ts';
import { IssueCreate, IssueUpdate } from '../issues/index.ts';
import { automation } from './contract.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import { partSchemas } from './shape.ts';

type Json = Readonly<Record<string, unknown>>;

export function ruleSchema(): Json {
  const { properties: own } = schemasOf(automation).create as object as {
    properties: Record<string, TSchema>;
  };
  const { triggers, conditions, selection, actions } = partSchemas;
  const event = { ...triggers.event.properties.event, enum: eventTypes.filter((type) => !isRunEvent(type)) };
  const schema = Type.Object({
    id: Type.String({
      pattern: `^${automation.id}_`,
      description: 'Id of the automation; absent in a new rule.',
    }),
    name: own.name!,
    description: own.description!,
    enabled: Type.Boolean({
      description: 'True to enable the automation, false to pause it; absent to leave its state.',
    }),
    mode: own.mode!,
    stepDown: own.stepDown!,
    trigger: anyOf({ ...triggers, event: withProperties(triggers.event, { event }) }),
    conditions: conditions as TSchema,
    issues: Type.Union([selection, Type.Null()]),
    actions: Type.Array(
      anyOf({
        ...actions,
        set: withProperties(actions.set, { fields: fieldsOf(IssueUpdate) }),
        create: withProperties(actions.create, { issues: Type.Array(fieldsOf(IssueCreate)) }),
      }),
      { minItems: 1 },
    ),
  });
  return plain({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Automation rule',
    ...schema,
    required: ['name', 'trigger', 'actions'],
    additionalProperties: false,
  }) as Json;
}

const anyOf = (schemas: Readonly<Record<string, object>>): TSchema =>
  ({ anyOf: Object.values(schemas) }) as TSchema;

const withProperties = (schema: { readonly properties: object }, properties: object): object => ({
  ...schema,
  properties: { ...schema.properties, ...properties },
});

/** Returns the schema of fields by name. Their values have any type, because each can be a template. */
function fieldsOf(body: object): TSchema {
  const { properties } = body as {
    readonly properties: Readonly<Record<string, { readonly description?: string }>>;
  };
  const fields = Object.entries(properties).map(([name, { description = '' }]) => [name, { description }]);
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    additionalProperties: false,
  } as object as TSchema;
}

/** Removes the annotations of the API. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (/^(x-|~)/.test(name) ? [] : [[name, plain(one)]])),
  );
}
