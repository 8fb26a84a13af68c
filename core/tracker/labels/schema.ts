// Labels: words on issues, of the whole workspace or of one team.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { teamKey } from '../../identity/teams/schema.ts';
import { Closed, id, named, nullable, text, time, version } from '../../lib/schema.ts';

const color = Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'A colour as #rrggbb in lower case.' });

export const LabelShown = named(
  'Label',
  Closed({
    id: id('label'),
    name: Type.String(),
    color,
    team: nullable(Type.String({ description: 'The team key.' })),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);
export const LabelCreate = Closed({
  name: text(80),
  color: Type.Optional(color),
  team: Type.Optional(teamKey),
});
export const LabelUpdate = Closed({ name: Type.Optional(text(80)), color: Type.Optional(color) });

export interface Label extends Entity {
  readonly teamId: string | null;
  readonly name: string;
  readonly color: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
}

export const labelKind = defineKind<Label, Static<typeof LabelShown>>({
  name: 'label',
  table: 'labels',
  fields: {
    teamId: 'team_id',
    name: 'name',
    color: 'color',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    deletedAt: 'deleted_at',
  },
  wire: (label, { directory }) => ({
    id: label.id,
    name: label.name,
    color: label.color,
    team: label.teamId === null ? null : (directory.teams.get(label.teamId)?.key ?? null),
    version: label.version,
    createdAt: isoTime(label.createdAt),
    updatedAt: isoTime(label.updatedAt),
  }),
  events: (before, after) =>
    !before ? ['label.created'] : after.deletedAt !== null ? ['label.deleted'] : ['label.updated'],
});

/** What a new workspace has, and what triage sets. */
export const kindLabels = [
  { name: 'bug', color: '#d73a4a' },
  { name: 'feature', color: '#a2eeef' },
  { name: 'question', color: '#d876e3' },
] as const;
