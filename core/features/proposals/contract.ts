// Proposals: requested writes that wait for approval. docs/decisions/0059.
import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, choice, json, number, string, time, pageUrl } from '../../kernel/contract/field.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { Closed, enumeration, idOf, nullable } from '../../platform/lib/schema.ts';
import { installId } from '../plugins/installs/contract.ts';

const statuses = ['open', 'approved', 'partly_approved', 'rejected', 'expired'] as const;

/** Classes for which the settings of a plugin have a mode. */
const effectClasses = ['create', 'update', 'comment', 'delete'] as const;
export type EffectClass = (typeof effectClasses)[number];

const field = Closed({
  name: Type.String({ description: 'Name of the field, as in the API.' }),
  before: Type.Optional(Type.Unknown({ description: 'Current value, in full; null if there is none.' })),
  after: Type.Optional(Type.Unknown({ description: 'Value that an approval writes, in full.' })),
});
const effect = Closed({
  id: Type.String({ description: 'Id of the effect, for partial approval.' }),
  operation: Type.String({ description: 'Requested operation, such as `issues.update`.' }),
  kind: Type.String({ description: 'Type of the changed object, such as `issue`.' }),
  entityId: Type.String({ description: 'Id of the changed object; for a creation, the id it will have.' }),
  name: nullable(
    Type.String({
      description:
        'Display name of the object, such as `ENG-18`, `ENG-18 blocks ENG-19` or the name of a member; null if it has none.',
    }),
  ),
  issue: nullable(
    Type.String({
      description: 'Identifier of the issue that the effect belongs to, such as `ENG-18`; null if none.',
    }),
  ),
  class: enumeration('EffectClass', effectClasses, 'Class of the change.'),
  fields: Type.Array(field, {
    description:
      'Changed fields. Lists and events contain only their names; a single proposal also contains their values.',
  }),
  baseVersion: nullable(
    Type.Integer({ description: 'Version of the object when the effect was planned; null for a creation.' }),
  ),
  decision: nullable(
    enumeration(
      'EffectDecision',
      ['approved', 'rejected'] as const,
      'Decision on the effect; null until decided.',
    ),
  ),
});
const through = Closed({
  kind: enumeration('ProposedThrough', ['app', 'api_key'] as const, 'Type of the credential.'),
  name: Type.String({ description: 'Name of the app or API key.' }),
});
const events = Type.Array(
  Closed({ id: idOf(idPrefixes.event), type: Type.String({ description: 'Type of the event.' }) }),
);
const never = { write: 'never' } as const;

export const proposal = defineContract({
  name: 'proposal',
  path: 'proposals',
  title: 'Proposal',
  id: 'prp',
  doc: 'Changes requested by a plugin or an API caller that wait for approval.',
  fields: {
    status: choice(statuses, { ...never, filter: true, doc: 'Status of the proposal.' }),
    source: choice(['plugin_run', 'request'], {
      ...never,
      doc: 'Source of the proposal: a plugin run or an API request.',
    }),
    title: string(Type.String(), { ...never, doc: 'One-line summary of the changes.' }),
    author: actor({ doc: 'Actor that made the proposal.' }),
    through: json(through, {
      ...never,
      computed: true,
      nullable: true,
      doc: 'App or API key that proposed on behalf of the author; null if none did.',
    }),
    installId: string(installId('Id of an install or automation.'), {
      ...never,
      nullable: true,
      doc: 'Id of the proposing plugin install; null for a request.',
    }),
    runId: string(idOf(idPrefixes.run), {
      ...never,
      nullable: true,
      doc: 'Id of the proposing plugin run; null for a request.',
    }),
    effects: json(Type.Array(effect), { ...never, computed: true, doc: 'Proposed changes.' }),
    revision: number(
      { integer: true, minimum: 1 },
      { ...never, doc: 'Revision number, from 1; grows each time the changes are recalculated.' },
    ),
    expiresAt: time({ ...never, doc: 'Time after which the proposal can no longer be approved.' }),
    decidedBy: actor({
      nullable: true,
      doc: 'Actor that decided; null if there was no decision.',
    }),
    decidedAt: time({
      ...never,
      nullable: true,
      doc: 'Time at which the proposal was decided or ended; null while open.',
    }),
    reason: string(Type.String(), {
      ...never,
      nullable: true,
      doc: 'Reason for the rejection or end; null if none.',
    }),
    events: json(events, { ...never, doc: 'Events written by the approval.' }),
    undoneBy: string(idOf(idPrefixes.undo), {
      ...never,
      computed: true,
      nullable: true,
      doc: 'Id of the undo that reverted the approved changes; null if none.',
    }),
    url: pageUrl('proposal'),
  },
  undo: {
    never: 'A decision on a proposal is final. Undo the approved changes with `POST /proposals/{id}/undo`.',
  },
  operations: {
    list: 'List proposals, newest first',
    get: 'Get a proposal with its proposed values',
  },
  events: { announced: ['automation.proposed', 'automation.approved', 'automation.rejected'] },
  order: 'newest',
});
