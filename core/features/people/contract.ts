import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, json, text, time } from '../../kernel/contract/field.ts';
import { guardedClasses } from '../../platform/lib/guarded-classes.ts';
import { teamKeyPattern } from '../../platform/lib/ids.ts';
import { Closed, enumeration } from '../../platform/lib/schema.ts';
import { teamInput } from '../teams/contract.ts';

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

const publicTriage = Closed({
  teams: Type.Array(Type.String({ pattern: teamKeyPattern }), {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    description: 'Keys of the teams whose issues may be shown.',
  }),
});

export const guardedClass = enumeration(
  'GuardedClass',
  guardedClasses,
  'Class of actions that need approval. `delete`: deletions; `bulk`: changes of more than one issue at once; `finish`: issues that become completed, canceled or duplicates; `others`: changes of issues that the agent did not create.',
);

export const workspace = defineContract({
  name: 'workspace',
  path: 'workspace',
  title: 'Workspace',
  id: null,
  doc: 'Tenant that contains all other objects. A key has access to exactly one workspace.',
  fields: {
    name: text({ max: 80, default: '', doc: 'Name of the workspace.' }),
    publicTriage: json(publicTriage, {
      nullable: true,
      doc: 'Teams whose issues `POST /triage` shows as duplicates, with identifier and title, to anybody who sends the id of the workspace; null for none.',
    }),
    guarded: json(Type.Array(guardedClass, { maxItems: guardedClasses.length, uniqueItems: true }), {
      default: guardedClasses,
      doc: 'Action classes that need the approval of a person when an agent requests them over MCP, in addition to those of its grant.',
    }),
  },
  undo: 'operations',
  operations: {},
  events: { created: 'workspace.created', updated: 'workspace.updated' },
  examples: { update: { name: 'Acme' } },
});
