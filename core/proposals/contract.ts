// A proposal: writes that were asked for and wait until somebody who may approves them. docs/decisions/0059.
import { Type } from 'typebox';
import { defineContract } from '../contract/contract.ts';
import { actor, choice, json, number, string, time } from '../contract/field.ts';
import { idPrefixes } from '../lib/ids.ts';
import { Closed, enumeration, idOf, nullable } from '../lib/schema.ts';
import { plugin } from '../plugins/installs/contract.ts';

const statuses = ['open', 'approved', 'partly_approved', 'rejected', 'expired'] as const;

/** What a change does; plugins have a mode for each. */
const effectClasses = ['create', 'update', 'comment', 'delete'] as const;
export type EffectClass = (typeof effectClasses)[number];

const field = Closed({
  name: Type.String({ description: 'Of the object, as the API shows it.' }),
  before: Type.Optional(Type.Unknown({ description: 'Present value, in full; null where there is none.' })),
  after: Type.Optional(Type.Unknown({ description: 'Value that an approval writes, in full.' })),
});
const effect = Closed({
  id: Type.String({ description: 'Names it where a part is approved.' }),
  operation: Type.String({ description: 'What was asked for, such as `issues.update`.' }),
  kind: Type.String({ description: 'What it changes, such as `issue`.' }),
  entityId: Type.String({ description: 'Its id; of what it makes, the id that it will have.' }),
  name: nullable(
    Type.String({
      description:
        'What people call it: `ENG-18`, `ENG-18 blocks ENG-19`, the name of a member; null of what has no name.',
    }),
  ),
  issue: nullable(Type.String({ description: 'How people name the issue that it is about.' })),
  class: enumeration('EffectClass', effectClasses, 'What it does.'),
  fields: Type.Array(field, {
    description:
      'What changes. Lists and events name the fields; one that is read by itself has their values.',
  }),
  baseVersion: nullable(Type.Integer({ description: 'The version of the object that it was planned on.' })),
  decision: nullable(enumeration('EffectDecision', ['approved', 'rejected'] as const, 'What became of it.')),
});
const through = Closed({
  kind: enumeration('ProposedThrough', ['app', 'api_key'] as const, 'What it is.'),
  name: Type.String({ description: 'What it is called.' }),
});
const events = Type.Array(
  Closed({ id: idOf(idPrefixes.event), type: Type.String({ description: 'Its type.' }) }),
);
const never = { write: 'never' } as const;

export const proposal = defineContract({
  name: 'proposal',
  path: 'proposals',
  title: 'Proposal',
  id: 'prp',
  doc: 'Changes that a plugin or a caller asked for, which wait for approval.',
  fields: {
    status: choice(statuses, { ...never, filter: true, doc: 'Whether it waits, and what became of it.' }),
    source: choice(['plugin_run', 'request'], { ...never, doc: 'What asked for it.' }),
    title: string(Type.String(), { ...never, doc: 'What it would do, in one line.' }),
    author: actor({ doc: 'Who proposed it.' }),
    through: json(through, {
      ...{ ...never, computed: true, nullable: true },
      doc: 'The app or the key that asked for it on behalf of its author; null where none did.',
    }),
    installId: string(idOf(plugin.id), { ...never, nullable: true, doc: 'The plugin that proposed it.' }),
    runId: string(idOf(idPrefixes.run), { ...never, nullable: true, doc: 'The run that proposed it.' }),
    effects: json(Type.Array(effect), { ...never, computed: true, doc: 'What it would change.' }),
    revision: number(
      { integer: true, minimum: 1 },
      { ...never, doc: 'Grows when what it would change was worked out anew.' },
    ),
    expiresAt: time({ ...never, doc: 'When it can no longer be approved.' }),
    decidedBy: actor({
      nullable: true,
      doc: 'Who decided; null while nobody has, and where it ended by itself.',
    }),
    decidedAt: time({ ...never, nullable: true, doc: 'When it was decided.' }),
    reason: string(Type.String(), { ...never, nullable: true, doc: 'Why it was rejected.' }),
    events: json(events, { ...never, doc: 'The events that its approval made.' }),
    undoneBy: string(idOf(idPrefixes.undo), {
      ...{ ...never, computed: true, nullable: true },
      doc: 'The undo that took back what was approved.',
    }),
  },
  undo: {
    never: 'A decision on a proposal is final. Undo what was approved with `POST /proposals/{id}/undo`.',
  },
  operations: {
    list: 'List proposals, newest first',
    get: 'Get a proposal with the values that it would change',
  },
  events: { told: ['automation.proposed', 'automation.approved', 'automation.rejected'] },
  order: 'newest',
});
