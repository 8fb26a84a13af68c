// A deleted label leaves the issues that carry it: each gets a version and tells what it had. The first go in the batch of the deletion,
// the others follow in steps, by the same actor and for the same cause. Nothing of it is planned anywhere: what is left to do is what
// still carries a deleted label, so that a start after a crash goes on. Deleted issues are left alone.
import type { Change, Entity } from '../../changes/change.ts';
import type { Committer } from '../../changes/commit.ts';
import { notDeleted, pageOfKind } from '../../changes/list.ts';
import type { Directory, Services } from '../../context.ts';
import { findEventOf } from '../../events/log.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import { systemStatement } from '../../store/statement.ts';
import { backgroundCommitDelayMs, scopeOf, type Scope } from '../../store/store.ts';
import { issueKind } from '../issues/kind.ts';
import { label as contract } from './contract.ts';

/** Issues that are changed in one batch, so that nobody's commit waits for long; fewer where they are long. */
const atOnce = 100;
/** After a failure. */
const againMs = 1_000;
const againMsMax = 300_000;

/** What its issues showed of it. */
export interface LeavingLabel {
  readonly id: string;
  readonly teamId: string | null;
  readonly name: string;
}

/** One that is deleted already. */
type DeletedLabel = LeavingLabel & { readonly deletedAt: number };

interface LeftOver {
  readonly workspace_id: string;
  readonly id: string;
  readonly team_id: string | null;
  readonly name: string;
  readonly deleted_at: number;
}
const leftOver = systemStatement<LeftOver>(
  'labels.left_over',
  'at start, issues of all workspaces may carry labels that were deleted just before the last process ended',
  `SELECT workspace_id, id, team_id, name, deleted_at FROM labels AS l WHERE deleted_at IS NOT NULL AND EXISTS
     (SELECT 1 FROM issue_labels AS il JOIN issues AS i ON i.workspace_id = il.workspace_id AND i.id = il.issue_id
      WHERE il.workspace_id = l.workspace_id AND il.label_id = l.id AND i.deleted_at IS NULL)`,
);

const carries = `EXISTS (SELECT 1 FROM issue_labels AS l
  WHERE l.workspace_id = :ws AND l.issue_id = issues.id AND l.label_id = :labelId)`;
const carriers = `SELECT issue_id AS listed_id, created_at AS listed_at FROM issue_labels
  WHERE workspace_id = :ws AND label_id = :labelId`;

/** The changes of some issues that carry a label, without it; none where no issue does. */
export async function changesWithout(
  on: Pick<Services, 'store' | 'sealing' | 'nowMs'> & { readonly scope: Scope },
  label: LeavingLabel,
): Promise<Change[]> {
  const params = { labelId: label.id };
  const { data } = await pageOfKind(
    on,
    issueKind,
    { limit: atOnce },
    {
      where: [notDeleted, { sql: carries, params, listed: { sql: carriers, params } }],
    },
  );
  return data.flatMap((issue) => {
    const labelIds = issue.labelIds.filter((id) => id !== label.id);
    const change = issueKind.update(issue, { labelIds }, on.nowMs());
    return change
      ? [
          {
            ...change,
            events: (view) => change.events({ ...view, directory: knowing(view.directory, label) }),
          },
        ]
      : [];
  });
}

/** What the issue had is told with the name of the label, which the directory has forgotten. */
function knowing(directory: Directory, label: LeavingLabel): Directory {
  return { ...directory, labels: new Map(directory.labels).set(label.id, label) };
}

export interface Leaving {
  /** Goes on with what an earlier process left. */
  start(): Promise<void>;
  /** Resolves once nothing goes on in the background. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createLeaving(options: {
  readonly services: Services;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}): Leaving {
  const { services, committer, clock, directoryOf } = options;
  const { store, log } = services;
  const goingOn = new Set<Promise<void>>();
  let isStopped = false;

  /** In steps, each of which reads anew what is left: one that lost a race is simply made again. */
  const finish = async (scope: Scope, label: DeletedLabel): Promise<void> => {
    const next = (): Promise<Change[]> => changesWithout({ ...services, scope }, label);
    let changes = await next();
    if (changes.length === 0) return;
    const { id: entityId, deletedAt: sinceMs } = label;
    const deletion = await findEventOf(store, scope, { type: 'label.deleted', entityId, sinceMs });
    if (!deletion) throw new Error(`The log does not tell that ${label.id} was deleted.`);
    const { actor, cause, requestId, traceparent } = deletion;
    for (; changes.length > 0 && !isStopped; changes = await next()) {
      const author = { scope, actor, cause, requestId, traceparent, directory: await directoryOf(scope) };
      await committer.commit(author, changes, [], [], { commitDelayMs: backgroundCommitDelayMs });
    }
  };

  const inBackground = (scope: Scope, label: DeletedLabel, waitMs = againMs): void => {
    const work = finish(scope, label)
      .catch((error: unknown) => {
        if (isStopped) return;
        log('warn', 'issues still carry a deleted label', { labelId: label.id, error: errorForLog(error) });
        clock.after(waitMs, () => isStopped || inBackground(scope, label, Math.min(2 * waitMs, againMsMax)));
      })
      .finally(() => goingOn.delete(work));
    goingOn.add(work);
  };

  committer.onCommit((workspaceId, changes) => {
    for (const { kind, before, after } of changes)
      if (kind === contract.name && before !== null && 'deletedAt' in after && after.deletedAt !== null)
        inBackground(scopeOf(workspaceId), after as Entity & DeletedLabel);
  });

  return {
    async start() {
      for (const row of await store.readSystem(leftOver))
        inBackground(scopeOf(row.workspace_id), {
          ...{ id: row.id, teamId: row.team_id, name: row.name, deletedAt: row.deleted_at },
        });
    },
    async settled() {
      while (goingOn.size > 0) await Promise.all(goingOn);
    },
    async stop() {
      isStopped = true;
      await Promise.all(goingOn);
    },
  };
}
