// Calls API operations in process for an agent, with the rights and rate limits of its token. Guarded writes
// become proposals.
import { type Change, actionOf } from '../../kernel/changes/change.ts';
import type { Directory } from '../../kernel/context.ts';
import type { ApprovalCheck } from '../../kernel/http/call.ts';
import type { Principal } from '../../kernel/http/principal.ts';
import { guardedIn } from '../people/index.ts';
import type { StateType } from '../workflows/contract.ts';
import type { GuardedClass } from '../../platform/lib/guarded-classes.ts';
import { isFinishedState } from '../workflows/index.ts';
import type { Actor } from '../../kernel/events/event.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { Op, Scope, Store } from '../../platform/store/store.ts';
import type { App } from '../../kernel/http/app.ts';
import type { RawRequest } from '../../kernel/http/route.ts';
import type { Outcome, Take, ValueCall } from '../../kernel/http/values.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { agentIssueTable } from './tables.ts';

export type CallInput = Partial<
  Pick<ValueCall, 'params' | 'query' | 'body' | 'ifMatch' | 'idempotencyKey' | 'traceparent'>
>;

/** Response of a call; `json` is an empty object if there is no body. */
export interface Answered {
  readonly status: number;
  readonly json: Json;
}
export type Json = Readonly<Record<string, unknown>>;

export interface Agent {
  readonly principal: Principal;
  /**
   * Looks up the current rights of the token. Must be called after every wait.
   * @throws ApiError unauthorized if the token has ended
   */
  refresh(): Promise<void>;
  /** Returns true if the agent has the scope of an operation, in full or narrowed. */
  may(operation: string): boolean;
  /**
   * Calls an operation. The response of a guarded write has status 202 and the proposal.
   * @throws Refused
   */
  ask(operation: string, input?: CallInput): Promise<Answered>;
}

/** API error of a call. `requestId` identifies the call in the log. */
export class Refused extends Error {
  readonly error: ApiError;
  readonly requestId: string;

  constructor(error: ApiError, requestId: string) {
    super(error.message, { cause: error });
    this.error = error;
    this.requestId = requestId;
  }
}

const asText: Take<string | null> = (body) => {
  const text = body === undefined ? null : JSON.stringify(body);
  return { taken: text, bytes: text?.length ?? 0 };
};

export function createAgents(app: App): (principal: Principal, identify: RawRequest['identify']) => Agent {
  const call = app.caller(asText);
  return (first, identify) => {
    let principal = first;
    let hold = createApprovalCheck(principal);
    return {
      get principal() {
        return principal;
      },
      async refresh() {
        const now = await identify();
        if (!now)
          throw new ApiError(
            'unauthorized',
            'The access token has expired or was revoked. Request a new one.',
          );
        principal = now;
        hold = createApprovalCheck(principal);
      },
      may(operation) {
        const { scope } = app.route(operation);
        return scope === null || principal.scopes.has(scope) || (principal.narrowed?.has(scope) ?? false);
      },
      async ask(operation, input = {}) {
        const outcome: Outcome<string | null> = await call(app.route(operation), {
          params: {},
          ...input,
          principal,
          isCounted: true,
          hold,
        });
        if (outcome.error) throw new Refused(outcome.error, outcome.requestId);
        const { status, body } = outcome;
        return { status, json: body === null ? {} : (JSON.parse(body) as Json) };
      },
    };
  };
}

/** Effect of a write on one object. */
export interface ToolEffect {
  readonly does: 'create' | 'update' | 'delete';
  /** Type of the state of an issue before the write; undefined for other objects, and for a creation. */
  readonly stateBefore: StateType | undefined;
  readonly stateAfter: StateType | undefined;
  /** True for an issue that the same client created for the same member. */
  readonly isOwn: boolean;
}

/**
 * Assigns writes to guarded action classes by their effects instead of their parameters, so that the result
 * does not depend on how a request selects a state: by name, by type, or as the default of another team.
 * Creations are in no class, because the created object is the agent's own. docs/decisions/0071.
 */
export function classesOf(effects: readonly ToolEffect[]): ReadonlySet<GuardedClass> {
  const moved = effects.filter(({ does }) => does !== 'create');
  const classes = new Set<GuardedClass>();
  if (moved.some(({ does }) => does === 'delete')) classes.add('delete');
  if (moved.length > 1) classes.add('bulk');
  if (moved.some(finishes)) classes.add('finish');
  if (moved.some(({ isOwn }) => !isOwn)) classes.add('others');
  return classes;
}

/** A change between two finished states, such as from canceled to completed, counts as finishing. */
function finishes({ does, stateBefore, stateAfter }: ToolEffect): boolean {
  return does === 'update' && stateAfter !== stateBefore && isFinishedState(stateAfter);
}

const insert = agentIssueTable.insert('add');
const findOwn = tenantStatement<{ issue_id: string }>(
  'agent_issues.own',
  `SELECT issue_id FROM agent_issues WHERE workspace_id = :ws AND issue_id IN (SELECT value FROM json_each(:issues))
   AND client_id = :client_id AND member_id = :member_id`,
);

const whoseOf = ({ id, memberId }: Actor) => ({ client_id: id, member_id: memberId ?? '' });

/** Records the issues that a client has created for a member. */
function noteOwnOps(scope: Scope, actor: Actor, issueIds: readonly string[]): Op[] {
  return issueIds.map((issue_id) => insert(scope, { issue_id, ...whoseOf(actor) }));
}

/** Returns those of the given issues that the actor has created. */
async function ownAmong(
  store: Store,
  scope: Scope,
  actor: Actor,
  issueIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (issueIds.length === 0) return new Set();
  const rows = await store.read(scope, findOwn, { issues: JSON.stringify(issueIds), ...whoseOf(actor) });
  return new Set(rows.map((row) => row.issue_id));
}

/**
 * Returns a check of the changes before their commit, against the guarded classes of the workspace and of the
 * grant.
 */
function createApprovalCheck({ actor, grant }: Principal): ApprovalCheck {
  return async (now, { changes }) => {
    const emitted = changes.filter(({ isSilent }) => !isSilent);
    // An automation outlives the grant of the agent, so a person approves each change of one.
    if (emitted.some(({ kind }) => kind === 'automation')) return { waits: true };
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
