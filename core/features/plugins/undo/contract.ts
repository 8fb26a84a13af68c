// Schemas of an undo's response and event.
import { Type } from 'typebox';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { plugin } from '../installs/contract.ts';
import {
  Closed,
  described,
  enumeration,
  requestTime,
  idOf,
  namedSchema,
  nullable,
} from '../../../platform/lib/schema.ts';

const text = (description: string) => Type.String({ description });
const value = (description: string) => Type.Unknown({ description });

export const skipReasons = ['changed', 'bound', 'deleted', 'gone', 'worked_on', 'irreversible'] as const;

const issue = nullable(
  Closed({
    id: text('Id of the issue.'),
    identifier: nullable(text('Identifier of the issue, such as `ENG-12`.')),
  }),
);

const UndoneObject = namedSchema(
  'UndoneObject',
  Closed({
    kind: text('Type of the object, such as `issue`.'),
    id: text('Id of the object.'),
    issue: described(issue, 'Issue itself, or issue of the object; null if there is none.'),
    action: enumeration(
      'UndoAction',
      ['update', 'remove', 'restore'],
      'Action of the undo: `update` reverts fields, `remove` deletes a created object, `restore` restores a deleted one.',
    ),
    fields: Type.Array(
      Closed({
        field: text('Name of the field in the API.'),
        from: value('Value before the undo; text longer than 1,000 characters is cut.'),
        to: value('Value after the undo.'),
      }),
      { description: 'Reverted fields.' },
    ),
  }),
);

const SkippedUndo = namedSchema(
  'SkippedUndo',
  Closed({
    kind: text('Type of the object, such as `issue`.'),
    id: text('Id of the object.'),
    issue: described(issue, 'Issue itself, or issue of the object; null if there is none.'),
    field: nullable(text('Skipped field; null if the whole object is skipped.')),
    reason: enumeration(
      'UndoSkipReason',
      skipReasons,
      'Reason for the skip. `changed`: the value has changed since. `bound`: a dependent value has changed since. `deleted`: the object or its issue was deleted. `gone`: the object, or the one that the field refers to, no longer exists. `worked_on`: others changed the object or added to it. `irreversible`: the change cannot be undone.',
    ),
    ranSet: value('Value that was written.'),
    now: value('Present value.'),
    changedBy: nullable(
      Closed(
        { kind: text('Type of the actor.'), id: text('Id of the actor.'), name: text('Name of the actor.') },
        { description: 'Actor of the later change; null if unknown.' },
      ),
    ),
    eventId: nullable(idOf(idPrefixes.event, 'Id of the event of the later change; null if unknown.')),
  }),
);

export const UndoResponse = namedSchema(
  'Undo',
  Closed({
    id: nullable(
      idOf(
        idPrefixes.undo,
        'Id of the undo, which can itself be undone; null if nothing was changed, as in a simulation.',
      ),
    ),
    undid: Type.Array(Type.String(), {
      description: 'Ids of the undone runs, proposals or undos, newest first.',
    }),
    changes: Type.Array(UndoneObject, {
      description: 'Reverted objects; in a simulation, the objects that would be reverted.',
    }),
    skipped: Type.Array(SkippedUndo, { description: 'Skipped fields and objects, with the reasons.' }),
    message: text('Summary in a sentence.'),
  }),
);

/** Data of `automation.undone`. */
export const AutomationUndone = namedSchema(
  'AutomationUndone',
  Closed({
    undo: Closed(
      { id: idOf(idPrefixes.undo, 'Id of the undo.') },
      { description: 'Undo that the request created.' },
    ),
    undid: Type.Array(Type.String(), { description: 'Ids of the undone runs, proposals or undos.' }),
    plugin: nullable(
      Closed(
        { id: idOf(plugin.id, 'Id of the install.') },
        { description: 'Plugin whose writes were undone; null if there is none.' },
      ),
    ),
    changed: Type.Integer({ description: 'Number of reverted objects.' }),
    skipped: Type.Integer({ description: 'Number of skipped fields and objects.' }),
  }),
);

export const UndoRange = Closed({
  since: described(requestTime, 'Start of the range, inclusive.'),
  until: Type.Optional(described(requestTime, 'End of the range, exclusive; default now.')),
});
