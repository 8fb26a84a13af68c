import { Type } from 'typebox';
import { defineContract } from '../../../kernel/contract/contract.ts';
import { choice, json, text, time } from '../../../kernel/contract/field.ts';
import { teamInput } from '../../teams/contract.ts';

/** In ascending order of rights. */
export const roles = ['guest', 'member', 'admin', 'owner'] as const;

const teamsMax = 100;

export const member = defineContract({
  name: 'member',
  path: 'members',
  title: 'Member',
  id: 'usr',
  alias: { pattern: '^me$', doc: '`me` for the caller.', isCaller: true },
  names: { by: ['email', 'name'] },
  doc: 'Person in the workspace. Removed members stay visible on the objects that refer to them.',
  fields: {
    name: text({ max: 80, required: true, isVerbatim: true, doc: 'Name of the member.' }),
    email: text({
      max: 254,
      pattern: '^[^\\s@]+@[^\\s@]+$',
      doc: 'The e-mail address of the member, such as ana@acme.example.',
      nullable: true,
    }),
    role: choice(roles, { default: 'member', doc: 'Role of the member.' }),
    joinedAt: time({
      nullable: true,
      write: 'never',
      // An imported workspace has none of the accounts of the server that it came from.
      unlogged: true,
      doc: 'Time at which the invitation was accepted; null until then.',
    }),
    teams: json(
      Type.Array(teamInput, { maxItems: teamsMax, uniqueItems: true }),
      {
        default: [],
        doc: `Teams that a guest can see, at most ${teamsMax}; without any, a guest sees no issues. Always empty for other roles, which see all teams.`,
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
  retainsDeleted: true,
  directory: { as: 'members', entryFields: ['name', 'role', 'email'], withDeleted: true },
  examples: {
    create: { name: 'Ana', email: 'ana@acme.example', role: 'member' },
    update: { role: 'admin' },
  },
});
