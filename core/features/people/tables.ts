// Tables of workspaces, members and accounts.
import { Type } from 'typebox';
import { defineTable } from '../../kernel/table/define.ts';
import { json } from '../../kernel/table/formats.ts';
import { member, type roles, workspace } from './contract.ts';
import { uuid } from '../../platform/lib/schema.ts';

export const workspaceTable = defineTable('workspaces', {
  contract: workspace,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: { place: 'first' },
  log: 'own',
  quotes: { none: 'people write its texts' },
});

export const memberTable = defineTable('members', {
  contract: member,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: {
    columns: [
      'id',
      'name',
      'email',
      'role',
      'teams_json',
      'version',
      'created_at',
      'updated_at',
      'deleted_at',
    ],
    // Members have no account on the new server yet.
    arrives: { joined_at: 'NULL', email_key: "lower(trim(value->>'email'))" },
    formats: { teams_json: json(Type.Array(uuid)) },
  },
  log: 'own',
  quotes: { none: 'people write its texts' },
  unlogged: {
    joined_at: 'changes with the membership, without an event of its object',
    email_key: 'internal state, which no request shows',
  },
}).typed<{ role: (typeof roles)[number] }>();

export const accountTable = defineTable('accounts', {
  owner: 'server',
  retention: { forever: 'people create them one by one, and memberships refer to them' },
  exported: { not: 'accounts belong to a server; members are invited again on the new one' },
  log: { local: 'facts of a person, which no workspace sees' },
  quotes: { none: 'facts of a person' },
});

export const membershipTable = defineTable('memberships', {
  owner: { members: 'member_id', accounts: 'account_id' },
  retention: { bound: 'one for each member who has signed in' },
  exported: { not: 'accounts belong to a server; members are invited again on the new one' },
  log: { local: 'facts of a person, which no workspace sees' },
  quotes: { none: 'ids' },
});

export const invitationTable = defineTable('invitations', {
  owner: { members: 'member_id' },
  retention: { expires: 'expires_at' },
  exported: { not: 'a link opens the server that created it' },
  log: { local: 'secrets' },
  quotes: { none: 'facts of a person' },
});
