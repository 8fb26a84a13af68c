// Look-up and revocation of grants for the authorization server, in all workspaces.
import type { Committer } from '../../kernel/changes/commit.ts';
import { systemAuthor } from '../../kernel/changes/commit.ts';
import type { Directory } from '../../kernel/context.ts';
import type { IdentityDeps } from '../people/index.ts';
import { grantModel, clientIsThere } from './grants.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, type Scope } from '../../platform/store/store.ts';
import type { ProtectedResource } from './metadata.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import { grantTable } from './tables.ts';

export interface GrantRef {
  readonly workspaceId: string;
  readonly id: string;
}

/** Returns the grant id for the protocol library, which stores one string. */
export const wordOf = ({ workspaceId, id }: GrantRef): string => `${workspaceId}.${id}`;

export function refOf(word: string): GrantRef {
  const at = word.indexOf('.');
  return { workspaceId: word.slice(0, at), id: word.slice(at + 1) };
}

/**
 * Maximum lifetime of a grant, even with refreshed tokens (OWASP ASVS 5.0 §10.4.8). The app must request a
 * new consent afterwards.
 */
const longestMs = 365 * dayMs;

interface LiveGrant {
  readonly memberId: string;
  readonly clientId: string;
  readonly resource: ProtectedResource;
  readonly scopes: readonly string[];
}

const findLive = systemStatement<
  Pick<RowOf<typeof grantTable>, 'member_id' | 'client_id' | 'resource' | 'scopes_json'>
>(
  'oauth.live_grant',
  'the client of a grant can belong to the installation',
  `SELECT g.member_id, g.client_id, g.resource, g.scopes_json FROM grants AS g
   JOIN members AS m ON m.workspace_id = g.workspace_id AND m.id = g.member_id
   WHERE g.workspace_id = :workspace AND g.id = :id AND g.created_at > :since
     AND g.revoked_at IS NULL AND m.deleted_at IS NULL AND ${clientIsThere('g')}`,
);
const findRow = grantTable.selectAll('row', ['id']);

export interface Grants {
  /** @returns null if the grant has ended or is too old, or its member was removed */
  find(ref: GrantRef): Promise<LiveGrant | null>;
  /** Revokes a grant, which ends its tokens. Does nothing if the grant has ended. */
  revoke(ref: GrantRef): Promise<void>;
}

export function createGrants(options: {
  services: IdentityDeps;
  committer: Committer;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}): Grants {
  const { services, committer, directoryOf } = options;
  const { store, nowMs } = services;
  return {
    async find({ workspaceId, id }) {
      const [row] = await store.readSystem(findLive, {
        workspace: workspaceId,
        id,
        since: nowMs() - longestMs,
      });
      if (!row) return null;
      return {
        memberId: row.member_id,
        clientId: row.client_id,
        resource: row.resource,
        scopes: JSON.parse(row.scopes_json) as string[],
      };
    },
    async revoke({ workspaceId, id }) {
      const scope = scopeOf(workspaceId);
      // A concurrent change makes the version check fail, so the revocation is retried until the grant has
      // ended.
      for (;;) {
        const row = await findRow.one(store, scope, { id });
        const grant = row && grantModel.fromRow(row);
        if (!grant || grant.revokedAt !== null) return;
        const change = grantModel.update(grant, { revokedAt: nowMs() }, nowMs());
        const author = systemAuthor(scope, 'oauth', await directoryOf(scope));
        if (!change || (await committer.commit(author, [change])).ok) return;
      }
    },
  };
}
