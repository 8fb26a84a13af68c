// Members: the people of a workspace.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, text, time } from '../../contract/field.ts';
import { teamGiven } from '../../tracker/teams/contract.ts';

/** From the lowest to the highest. */
export const roles = ['guest', 'member', 'admin', 'owner'] as const;

const teamsMax = 100;

export const member = defineContract({
  name: 'member',
  path: 'members',
  title: 'Member',
  id: 'usr',
  alias: { pattern: '^me$', doc: '`me` for the one who asks.', isCaller: true },
  names: { by: ['email', 'name'] },
  doc: 'A person of the workspace. Who is removed is still shown on what was theirs.',
  fields: {
    name: text({ max: 80, required: true, asGiven: true, doc: 'What the person is called.' }),
    email: text({ max: 254, pattern: '^[^\\s@]+@[^\\s@]+$', doc: 'An e-mail address.', nullable: true }),
    role: choice(roles, { default: 'member', doc: 'What the person is in the workspace.' }),
    joinedAt: time({
      nullable: true,
      write: 'never',
      // A workspace that moved to another server arrives without the accounts of the old one.
      unlogged: true,
      doc: 'When the person took the seat with an account, by which they sign in; null while nobody has.',
    }),
    teams: json(
      Type.Array(teamGiven, { maxItems: teamsMax, uniqueItems: true }),
      {
        default: [],
        doc: `The teams that a guest sees, up to ${teamsMax}; without any a guest sees no issue. Other roles see all teams, and have none here.`,
      },
      Type.Array(Type.String()),
    ),
  },
  undo: 'operations',
  operations: {
    list: 'List members',
    create: { summary: 'Add a member', errors: ['forbidden'] },
    get: 'Get a member',
    update: { summary: 'Change a member', errors: ['forbidden', 'conflict'] },
    delete: { summary: 'Remove a member', errors: ['forbidden', 'conflict'] },
  },
  events: { created: 'member.added', updated: 'member.updated', deleted: 'member.removed' },
  keepsDeleted: true,
  directory: { as: 'members', keeps: ['name', 'role', 'email'], withDeleted: true },
  examples: {
    create: { name: 'Ana', email: 'ana@acme.example', role: 'member' },
    update: { role: 'admin' },
  },
});
