// Revokes grants of removed members, grants of deleted clients in all workspaces, and grants whose last token
// has expired. Tokens are rejected from the commit that removed the client or member; this module records the
// end of each grant, and continues after a crash.
import { systemAuthor, type Committer } from '../../kernel/changes/commit.ts';
import type { Directory } from '../../kernel/context.ts';
import type { IdentityDeps } from '../people/index.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { dayMs, hourMs } from '../../platform/lib/time/time.ts';
import { systemStatement, type SqlRow } from '../../platform/store/statement.ts';
import { scopeOf, type Scope } from '../../platform/store/store.ts';
import type { AccountGrants } from '../sign-in/index.ts';
import { grantModel, clientIsThere } from './grants.ts';

/** Refresh tokens expire sooner, so a grant that was unused for this time has no valid token. */
const unusedForMs = 90 * dayMs;
const lookEveryMs = hourMs;
const atOnce = 100;

const columns = grantModel.select
  .split(', ')
  .map((column) => `g.${column}`)
  .join(', ');

const findUseless = systemStatement<SqlRow>(
  'grants.useless',
  'a deleted client ends its grants in all workspaces',
  `SELECT g.workspace_id AS of_workspace, ${columns}
   FROM grants AS g WHERE g.revoked_at IS NULL AND (
     max(g.updated_at, coalesce(g.last_used_at, 0)) <= :unusedSince
     OR NOT (${clientIsThere('g')})
     OR EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = g.workspace_id AND m.id = g.member_id AND m.deleted_at IS NOT NULL))
   ORDER BY g.workspace_id LIMIT :limit`,
);

const findOfAccount = systemStatement<SqlRow>(
  'grants.of_account',
  'an account can be a member of several workspaces',
  `SELECT g.workspace_id AS of_workspace, ${columns} FROM memberships AS s
   JOIN grants AS g ON g.workspace_id = s.workspace_id AND g.member_id = s.member_id
   WHERE s.account_id = :account AND g.revoked_at IS NULL LIMIT :limit`,
);

/** @param options.ended called after sessions may have ended */
export function createAccountGrants(
  options: GrantEndingOptions & { readonly ended: () => void },
): AccountGrants {
  const { store } = options.services;
  const endAll = async (account: string): Promise<void> => {
    for (;;) {
      const rows = await store.readSystem(findOfAccount, { account, limit: atOnce });
      if (rows.length === 0) return;
      await revokeRows(options, rows);
    }
  };
  return {
    async endWith(accountId, ops) {
      // Revokes the grants first, so that no grant outlives the sessions after a crash between the commits.
      await endAll(accountId);
      const outcome = await store.commit(ops);
      options.ended();
      if (outcome.ok) await endAll(accountId);
      return outcome;
    },
  };
}

/** Revokes the grants with one commit per workspace. A grant that was changed meanwhile stays unchanged. */
async function revokeRows(
  { services: { nowMs }, committer, directoryOf }: GrantEndingOptions,
  rows: readonly SqlRow[],
): Promise<void> {
  const now = nowMs();
  for (const [workspaceId, own] of Map.groupBy(rows, (row) => String(row.of_workspace))) {
    const scope = scopeOf(workspaceId);
    const changes = own.flatMap(
      (row) => grantModel.update(grantModel.fromRow(row), { revokedAt: now }, now) ?? [],
    );
    await committer.commit(systemAuthor(scope, 'grants', await directoryOf(scope)), changes);
  }
}

interface GrantEndingOptions {
  readonly services: IdentityDeps;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

interface GrantEnding {
  start(): void;
  /** Starts a run immediately. Must be called after the deletion of a client. */
  wake(): void;
  /** Resolves when the current run has finished. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createGrantEnding(options: GrantEndingOptions & { readonly clock: Clock }): GrantEnding {
  const { services, committer, clock } = options;
  const { store, nowMs, log } = services;
  let isOn = false;
  let cancel: (() => void) | null = null;
  let working: Promise<void> = Promise.resolve();

  /** @returns true if there may be more grants to revoke */
  const endSome = async (): Promise<boolean> => {
    const unusedSince = nowMs() - unusedForMs;
    const rows = await store.readSystem(findUseless, { unusedSince, limit: atOnce });
    await revokeRows(options, rows);
    return rows.length === atOnce;
  };
  const work = async (): Promise<void> => {
    try {
      while (isOn && store.status().writable && (await endSome()));
    } catch (error) {
      log('warn', 'could not revoke unusable grants', { error: errorForLog(error) });
    }
  };
  const look = (): void => {
    cancel?.();
    if (!isOn) return;
    working = working.then(work);
    cancel = clock.after(lookEveryMs, look);
  };

  committer.onCommit((_, changes) => {
    const isGone = changes.some(
      ({ kind, after }) =>
        (kind === 'oauth_app' || kind === 'member') && 'deletedAt' in after && after.deletedAt !== null,
    );
    if (isGone) look();
  });

  return {
    start() {
      isOn = true;
      look();
    },
    wake: look,
    settled: () => working,
    async stop() {
      isOn = false;
      cancel?.();
      await working;
    },
  };
}
