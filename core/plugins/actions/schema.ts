// The public shapes of actions: what a plugin offers, and how it is called.
import { Type } from 'typebox';
import { Closed, enumeration, named, nullable } from '../../lib/schema.ts';

export const handlerName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9-]{0,39}$',
  description: 'Its name in the manifest.',
});

const ActionShown = named(
  'PluginAction',
  Closed({
    name: handlerName,
    target: enumeration('ActionTarget', ['issue', 'project', 'none'], 'What it is done on.'),
    title: Type.String({ description: 'What it is called.' }),
    description: Type.String({ description: 'What it does, as its author says.' }),
    input: nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'A JSON schema of what it takes; null where it takes nothing.',
      }),
    ),
  }),
);
export const ActionList = named(
  'PluginActionList',
  Closed({ data: Type.Array(ActionShown, { description: 'All of them, in the order of the manifest.' }) }),
);
export const ActionCall = named(
  'PluginActionCall',
  Closed({
    target: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 80,
        description: 'The id of the issue (or its identifier, `ENG-1`) or of the project.',
      }),
    ),
    input: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: 100,
        description: 'What the action takes, by its schema.',
      }),
    ),
  }),
);
