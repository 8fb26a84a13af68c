// Holds back what an agent may not do by itself. It is asked at the door with the very changes that would be committed.
import type { Change } from '../changes/change.ts';
import { actionOf } from '../changes/diff.ts';
import type { Context, Directory } from '../context.ts';
import type { Hold } from '../http/call.ts';
import type { Principal } from '../http/principal.ts';
import type { GuardedClass } from '../lib/guarded.ts';
import { tenantStatement } from '../store/statement.ts';
import type { StateType } from '../tracker/workflows/contract.ts';
import { classesOf, type Effect } from './guardrail.ts';
import { noteOwnOps, ownAmong } from './own-issues.ts';

const guardedOf = tenantStatement<{ guarded_json: string }>(
  'workspaces.guarded',
  'SELECT guarded_json FROM workspaces WHERE workspace_id = :ws',
);

/** What the workspace guards, and the member who consented to the agent. */
export function createHold({ actor, grant }: Principal): Hold {
  return async (now, { changes }) => {
    const told = changes.filter(({ isSilent }) => !isSilent);
    const before = told.filter((change) => isIssue(change) && change.before !== null).map(({ id }) => id);
    const own = await ownAmong(now.store, now.scope, actor, before);
    const classes = classesOf(told.map((change) => effectOf(change, now.directory, own)));
    if (
      classes.size > 0 &&
      [...(await guarded(now)), ...(grant?.guarded ?? [])].some((one) => classes.has(one))
    )
      return { waits: true };
    const made = told.filter((change) => isIssue(change) && change.before === null).map(({ id }) => id);
    return { waits: false, ops: noteOwnOps(now.scope, actor, made) };
  };
}

async function guarded({ store, scope }: Context): Promise<readonly GuardedClass[]> {
  const row = await store.readOne(scope, guardedOf, {});
  return row ? (JSON.parse(row.guarded_json) as GuardedClass[]) : [];
}

const isIssue = ({ kind }: Change): boolean => kind === 'issue';

function effectOf(change: Change, { states }: Directory, own: ReadonlySet<string>): Effect {
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
