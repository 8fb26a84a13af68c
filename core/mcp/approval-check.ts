// Turns guarded writes of agents into proposals. The check runs on the changes before their commit.
import type { Change } from '../changes/change.ts';
import { actionOf } from '../changes/diff.ts';
import type { Directory } from '../context.ts';
import type { ApprovalCheck } from '../http/call.ts';
import type { Principal } from '../http/principal.ts';
import { guardedIn } from '../identity/workspace/guarded.ts';
import type { StateType } from '../tracker/workflows/contract.ts';
import { classesOf, type ToolEffect } from './guardrail.ts';
import { noteOwnOps, ownAmong } from './own-issues.ts';

/** Returns a check against the guarded classes of the workspace and of the grant. */
export function createApprovalCheck({ actor, grant }: Principal): ApprovalCheck {
  return async (now, { changes }) => {
    const emitted = changes.filter(({ isSilent }) => !isSilent);
    const before = emitted.filter((change) => isIssue(change) && change.before !== null).map(({ id }) => id);
    const own = await ownAmong(now.store, now.scope, actor, before);
    const classes = classesOf(emitted.map((change) => effectOf(change, now.directory, own)));
    if (
      classes.size > 0 &&
      [...(await guardedIn(now.store, now.scope)), ...(grant?.guarded ?? [])].some((one) => classes.has(one))
    )
      return { waits: true };
    const createdIds = emitted
      .filter((change) => isIssue(change) && change.before === null)
      .map(({ id }) => id);
    return { waits: false, ops: noteOwnOps(now.scope, actor, createdIds) };
  };
}

const isIssue = ({ kind }: Change): boolean => kind === 'issue';

function effectOf(change: Change, { states }: Directory, own: ReadonlySet<string>): ToolEffect {
  const typeOf = (entity: object | null): StateType | undefined => {
    const { stateId } = (entity ?? {}) as { stateId?: string };
    return stateId === undefined ? undefined : states.get(stateId)?.type;
  };
  return {
    does: actionOf(change),
    stateBefore: typeOf(change.before),
    stateAfter: typeOf(change.after),
    isOwn: own.has(change.id),
  };
}
