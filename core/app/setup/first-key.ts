// The first start shows an API key and the set-up link of the owner once, when it has finished. Until then the installation marks the key
// as unseen. If the start is killed before that, the next start replaces key and link, so that the workspace is never inaccessible.
import {
  type LinkDeps,
  invitationDays,
  newInvitation,
  type InvitedMember,
  memberModel,
} from '../../features/people/index.ts';
import { systemAuthor, type Committer } from '../../kernel/changes/commit.ts';
import type { Services } from '../../kernel/context.ts';
import { apiKeyModel, newKey } from '../../features/api-keys/index.ts';
import { emptyDirectory } from '../../kernel/resource/directory.ts';
import { allScopes } from '../../kernel/rights/table.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, systemOp, type Op, type Scope, type Store } from '../../platform/store/store.ts';
import type { FirstWorkspace } from './first-workspace.ts';
import { tableOf } from '../../features/tables.ts';
import { readKey } from './find.ts';

const setUnseen = systemStatement(
  'installation.set_first_key',
  'the first key belongs to the installation until it is shown',
  'UPDATE installation SET first_key = :key WHERE first_key IS NULL',
);
const setSeen = systemStatement(
  'installation.clear_first_key',
  'the first key belongs to the installation until it is shown',
  'UPDATE installation SET first_key = NULL WHERE first_key = :key',
);
const findUnseen = systemStatement<{ first_key: string }>(
  'installation.first_key',
  'the first key belongs to the installation until it is shown',
  'SELECT first_key FROM installation WHERE first_key IS NOT NULL',
);
const firstTeam = tableOf.teams.select('first', ['id', 'key'], [], 'ORDER BY created_at LIMIT 1');
const readMember = tableOf.members.selectAll('of_setup', ['id']);
const anyPlugin = tableOf.plugins.select('any_of_workspace', ['id'], [], 'LIMIT 1');

export function firstKeyOf(memberId: string) {
  return { name: 'First key', scopes: allScopes, memberId, expiresAt: null };
}

/** Validity of the set-up link, in days. */
export const setUpDays = invitationDays;

/** Creates the link with which the owner of a workspace creates an account. */
export function setUpLink(services: LinkDeps, scope: Scope, member: InvitedMember): { url: string; op: Op } {
  return newInvitation(services, scope, { member, by: 'The server administrator' });
}

/** Marks a key as unseen, in the commit that creates it. Only one key is marked, the earliest. */
export function unseenOp(workspaceId: string, id: string): Op {
  return systemOp(setUnseen, { key: `${workspaceId}/${id}` });
}

/** Marks the first key of a workspace as shown, so that the next start does not replace it. */
export async function markFirstKeySeen(store: Store, workspaceId: string): Promise<void> {
  const [unseen] = await store.readSystem(findUnseen);
  if (unseen?.first_key.startsWith(`${workspaceId}/`))
    await store.commit([systemOp(setSeen, { key: unseen.first_key })]);
}

/**
 * Replaces key and link of a first start that ended before it showed them; null if there is none.
 * @returns the workspace, and true in `hasPlugin` if any plugin was installed
 */
export async function finishFirstStart(
  services: Services,
  committer: Committer,
): Promise<{ workspace: FirstWorkspace; hasPlugin: boolean } | null> {
  const { store, nowMs } = services;
  const [unseen] = await store.readSystem(findUnseen);
  if (!unseen) return null;
  const [workspaceId = '', id = ''] = unseen.first_key.split('/');
  const scope = scopeOf(workspaceId);
  const row = await readKey.one(store, scope, { id });
  const team = await firstTeam.one(store, scope, {});
  if (!row || !team) return null;
  const old = apiKeyModel.fromRow(row);
  const { change, text } = newKey(services, firstKeyOf(old.memberId));
  const owner = await readMember.one(store, scope, { id: old.memberId });
  if (!owner) return null;
  const setUp = setUpLink(services, scope, memberModel.fromRow(owner));
  const revoked = old.revokedAt === null ? apiKeyModel.update(old, { revokedAt: nowMs() }, nowMs()) : null;
  const committed = await committer.commit(
    systemAuthor(scope, 'setup', emptyDirectory),
    [...(revoked ? [revoked] : []), change],
    [],
    [setUp.op, systemOp(setSeen, { key: unseen.first_key }), unseenOp(workspaceId, change.id)],
  );
  if (!committed.ok)
    throw new Error(`Could not finish the first start: ${committed.message}. Start the server again.`);
  const workspace: FirstWorkspace = {
    workspaceId,
    teamId: team.id,
    teamKey: team.key,
    userId: old.memberId,
    apiKey: text,
    setUpUrl: setUp.url,
  };
  return { workspace, hasPlugin: (await anyPlugin.one(store, scope, {})) !== undefined };
}
