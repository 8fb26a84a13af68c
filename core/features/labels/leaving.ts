// Removes a deleted label from its issues, with a new version and an event for each. The first issues change
// in the batch of the deletion; the others follow in steps, with the same actor and cause. No plan is stored:
// each step reads which issues still have a deleted label, so a restart after a crash continues. Deleted
// issues are left unchanged.
import type { Sealing } from '../../platform/lib/secrets/sealing.ts';
import type { Change, Entity } from '../../kernel/changes/change.ts';
import { notDeleted, pageOfModel } from '../../kernel/changes/list.ts';
import type { Directory } from '../../kernel/context.ts';
import { findEventOf } from '../../kernel/events/log/log.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { backgroundCommitDelayMs, scopeOf, type Scope, type Store } from '../../platform/store/store.ts';
import { issueModel } from '../issues/index.ts';
import { label as contract } from './contract.ts';
import type { WorkerDeps, BackgroundWorker } from '../../kernel/feature.ts';

/**
 * Maximum number of issues changed in one batch, so that other commits do not wait long; fewer if they are
 * long.
 */
const atOnce = 100;
/** First delay of a retry after a failure (milliseconds), doubled up to `againMsMax`. */
const againMs = 1_000;
const againMsMax = 300_000;

/** Deleted label, as its issues showed it. */
export interface LeavingLabel {
  readonly id: string;
  readonly teamId: string | null;
  readonly name: string;
}

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

interface LabelRemovalDeps {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly scope: Scope;
  nowMs(): number;
}

/** Returns changes that remove the label from some of its issues; empty if none is left. */
export async function changesWithout(on: LabelRemovalDeps, label: LeavingLabel): Promise<Change[]> {
  const params = { labelId: label.id };
  const { data } = await pageOfModel(
    on,
    issueModel,
    { limit: atOnce },
    {
      where: [notDeleted, { sql: carries, params, listed: { sql: carriers, params } }],
    },
  );
  return data.flatMap((issue) => {
    const labelIds = issue.labelIds.filter((id) => id !== label.id);
    const change = issueModel.update(issue, { labelIds }, on.nowMs());
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

/** Adds the deleted label to the directory, so that events can show its name. */
function knowing(directory: Directory, label: LeavingLabel): Directory {
  return { ...directory, labels: new Map(directory.labels).set(label.id, label) };
}

export function createLeaving({ services, committer, clock, directoryOf }: WorkerDeps): BackgroundWorker {
  const { store, log } = services;
  const goingOn = new Set<Promise<void>>();
  let isStopped = false;

  /** Each step reads which issues are left, so a step that lost a race is simply repeated. */
  const finish = async (scope: Scope, label: DeletedLabel): Promise<void> => {
    const next = (): Promise<Change[]> => changesWithout({ ...services, scope }, label);
    let changes = await next();
    if (changes.length === 0) return;
    const { id: entityId, deletedAt: sinceMs } = label;
    const deletion = await findEventOf(store, scope, { type: 'label.deleted', entityId, sinceMs });
    if (!deletion) throw new Error(`The log has no event for the deletion of ${label.id}.`);
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
          id: row.id,
          teamId: row.team_id,
          name: row.name,
          deletedAt: row.deleted_at,
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
