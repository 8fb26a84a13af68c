// Members: the people of a workspace.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, id, named, nullable, text, time, version } from '../../lib/schema.ts';

const roles = ['owner', 'admin', 'member', 'guest'] as const;
const email = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@]+@[^\\s@]+$',
  description: 'An e-mail address.',
});

export const MemberShown = named(
  'Member',
  Closed({
    id: id('member'),
    name: Type.String(),
    email: nullable(Type.String()),
    role: Type.Enum([...roles]),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);
export const MemberCreate = Closed({
  name: text(80),
  email: Type.Optional(nullable(email)),
  role: Type.Optional(Type.Enum([...roles])),
});
export const MemberUpdate = Closed({
  name: Type.Optional(text(80)),
  email: Type.Optional(nullable(email)),
  role: Type.Optional(Type.Enum([...roles])),
});

export interface Member extends Entity {
  readonly name: string;
  readonly email: string | null;
  readonly role: (typeof roles)[number];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
}

export const memberKind = defineKind<Member, Static<typeof MemberShown>>({
  name: 'member',
  table: 'members',
  fields: {
    name: 'name',
    email: 'email',
    role: 'role',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    deletedAt: 'deleted_at',
  },
  wire: (member) => ({
    id: member.id,
    name: member.name,
    email: member.email,
    role: member.role,
    version: member.version,
    createdAt: isoTime(member.createdAt),
    updatedAt: isoTime(member.updatedAt),
  }),
  events: (before, after) =>
    !before ? ['member.added'] : after.deletedAt !== null ? ['member.removed'] : ['member.updated'],
});
