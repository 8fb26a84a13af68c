// What an undo answers, and what its event tells.
import { Type } from 'typebox';
import { idPrefixes } from '../../lib/ids.ts';
import { plugin } from '../installs/contract.ts';
import { Closed, described, enumeration, givenTime, idOf, named, nullable } from '../../lib/schema.ts';

const text = (description: string) => Type.String({ description });
const value = (description: string) => Type.Unknown({ description });

/** Why something was left as it is. */
export const skipReasons = ['changed', 'bound', 'deleted', 'gone', 'worked_on', 'irreversible'] as const;

const issue = nullable(
  Closed({
    id: text('Its id.'),
    identifier: nullable(text('What people call it: `ENG-12`.')),
  }),
);

const UndoneObject = named(
  'UndoneObject',
  Closed({
    kind: text('What it is, such as `issue`.'),
    id: text('Its id.'),
    issue: described(issue, 'The issue that it is or is on; null where it is on none.'),
    action: enumeration(
      'UndoAction',
      ['update', 'remove', 'restore'],
      '`remove` deletes what was made, `restore` brings back what was deleted.',
    ),
    fields: Type.Array(
      Closed({
        field: text('Its name, as answers show it.'),
        from: value('What it was until the undo; text of more than 1,000 characters is cut.'),
        to: value('What it is again.'),
      }),
      { description: 'What was put back.' },
    ),
  }),
);

const SkippedUndo = named(
  'SkippedUndo',
  Closed({
    kind: text('What it is, such as `issue`.'),
    id: text('Its id.'),
    issue: described(issue, 'The issue that it is or is on; null where it is on none.'),
    field: nullable(text('The field that stays as it is; null where it is the whole object.')),
    reason: enumeration(
      'UndoSkipReason',
      skipReasons,
      '`changed`: it has another value since. `bound`: something that belongs to it has. `deleted`: the object, or its issue, is. `gone`: the object, or what the field named, is. `worked_on`: others have changed it, or put something on it. `irreversible`: nothing takes such a change back.',
    ),
    ranSet: value('What was written.'),
    now: value('What it is now.'),
    changedBy: nullable(
      Closed(
        { kind: text('What kind of actor.'), id: text('Its id.'), name: text('Its name.') },
        { description: 'Who made that change, where it is known.' },
      ),
    ),
    eventId: nullable(idOf(idPrefixes.event, 'The event of that change, where one is known.')),
  }),
);

export const UndoShown = named(
  'Undo',
  Closed({
    id: nullable(
      idOf(
        idPrefixes.undo,
        'Of the undo, which can be undone; null where nothing was done, as in a simulation.',
      ),
    ),
    undid: Type.Array(Type.String(), {
      description: 'The ids of the runs, proposals or undos that were taken back, the newest first.',
    }),
    changes: Type.Array(UndoneObject, { description: 'What was put back, or would be.' }),
    skipped: Type.Array(SkippedUndo, { description: 'What was left as it is, and why.' }),
    message: text('What was done, or would be, in a sentence.'),
  }),
);

/** `automation.undone`. */
export const AutomationUndone = named(
  'AutomationUndone',
  Closed({
    undo: Closed({ id: idOf(idPrefixes.undo, 'Its id.') }, { description: 'The undo.' }),
    undid: Type.Array(Type.String(), { description: 'The runs, proposals or undos that were taken back.' }),
    plugin: nullable(
      Closed(
        { id: idOf(plugin.id, 'The install.') },
        { description: 'Whose writes were taken back; null where it is no plugin.' },
      ),
    ),
    changed: Type.Integer({ description: 'Objects that were put back.' }),
    skipped: Type.Integer({ description: 'Fields and objects that were left as they are.' }),
  }),
);

export const UndoRange = Closed({
  since: described(givenTime, 'What the plugin changed from then on.'),
  until: Type.Optional(described(givenTime, 'What it changed before then; absent: until now.')),
});
