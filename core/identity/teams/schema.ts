// Teams: the owners of issues, numbers and workflow states. Ids are UUIDs (docs/spec/api.md › Ids).
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind, json } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, id, named, nullable, text, time, uuid, version } from '../../lib/schema.ts';

export const teamKey = Type.String({
  pattern: '^[A-Z][A-Z0-9]{0,9}$',
  description: 'A team key: up to 10 characters A–Z and 0–9, a letter first.',
});
const transitions = Type.Record(id('state'), Type.Array(id('state'), { maxItems: 50 }), {
  additionalProperties: false,
  description: 'Allowed moves: state id → state ids. Null allows any move.',
});

export const TeamShown = named(
  'Team',
  Closed({
    id: uuid,
    key: teamKey,
    name: Type.String(),
    transitions: nullable(transitions),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);
export const TeamCreate = Closed({ key: teamKey, name: Type.Optional(text(80)) });
export const TeamUpdate = Closed({
  name: Type.Optional(text(80)),
  transitions: Type.Optional(nullable(transitions)),
});

export interface Team extends Entity {
  readonly key: string;
  readonly name: string;
  readonly transitions: Readonly<Record<string, readonly string[]>> | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const teamKind = defineKind<Team, Static<typeof TeamShown>>({
  name: 'team',
  table: 'teams',
  fields: {
    key: 'key',
    name: 'name',
    transitions: json('transitions_json'),
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  wire: (team) => ({
    id: team.id,
    key: team.key,
    name: team.name,
    transitions: team.transitions as Static<typeof transitions> | null,
    version: team.version,
    createdAt: isoTime(team.createdAt),
    updatedAt: isoTime(team.updatedAt),
  }),
  events: (before) => (before ? ['team.updated'] : ['team.created']),
});
