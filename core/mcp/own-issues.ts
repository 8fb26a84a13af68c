// Records the issues that a client has created for a member.
import type { Actor } from '../events/origin.ts';
import { tenantStatement } from '../store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../store/store.ts';

const insert = tenantStatement(
  'agent_issues.add',
  'INSERT INTO agent_issues (workspace_id, issue_id, client_id, member_id) VALUES (:ws, :issue, :client, :member)',
);
const findOwn = tenantStatement<{ issue_id: string }>(
  'agent_issues.own',
  `SELECT issue_id FROM agent_issues WHERE workspace_id = :ws AND issue_id IN (SELECT value FROM json_each(:issues))
   AND client_id = :client AND member_id = :member`,
);

const whoseOf = ({ id, memberId }: Actor) => ({ client: id, member: memberId ?? '' });

export function noteOwnOps(scope: Scope, actor: Actor, issueIds: readonly string[]): Op[] {
  return issueIds.map((issue) => tenantOp(scope, insert, { issue, ...whoseOf(actor) }));
}

/** Returns those of the given issues that the actor has created. */
export async function ownAmong(
  store: Pick<Store, 'read'>,
  scope: Scope,
  actor: Actor,
  issueIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (issueIds.length === 0) return new Set();
  const rows = await store.read(scope, findOwn, { issues: JSON.stringify(issueIds), ...whoseOf(actor) });
  return new Set(rows.map((row) => row.issue_id));
}
