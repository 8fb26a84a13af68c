import { Type } from 'typebox';
import { Closed, enumeration, namedSchema, nullable } from '../../../platform/lib/schema.ts';

export const handlerName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9-]{0,39}$',
  description: 'Name of the handler in the manifest.',
});

const ActionResponse = namedSchema(
  'PluginAction',
  Closed({
    name: handlerName,
    target: enumeration('ActionTarget', ['issue', 'project', 'none'], 'Type of the target.'),
    title: Type.String({ description: 'Display name of the action; default its `name`.' }),
    description: Type.String({
      description: 'Description by the author of the plugin; empty if there is none.',
    }),
    input: nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'JSON Schema of the input; null if the action takes none.',
      }),
    ),
  }),
);
export const ActionList = namedSchema(
  'PluginActionList',
  Closed({ data: Type.Array(ActionResponse, { description: 'All actions, in the order of the manifest.' }) }),
);
export const ActionCall = namedSchema(
  'PluginActionCall',
  Closed({
    target: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 80,
        description: 'Id of the target issue (or its identifier, such as `ENG-1`) or project.',
      }),
    ),
    input: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: 100,
        description: 'Input of the action, valid under its schema.',
      }),
    ),
  }),
);
