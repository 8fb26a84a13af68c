// Model of proposals: storage, API representation and expiry timer.
import { json, plain, type Column } from '../../kernel/changes/operations.ts';
import type { FieldChanges } from '../../kernel/changes/change.ts';
import { scopeOfContract, type EntityResponse } from '../../kernel/contract/contract.ts';
import type { Context } from '../../kernel/context.ts';
import { contracts } from '../contracts.ts';
import type { Actor, Cause } from '../../kernel/events/event.ts';
import { timerOp } from '../../kernel/event-reactions/due-timers.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { proposal, type EffectClass } from './contract.ts';

export const expiryTimerName = 'proposal';

/** Effect of a write, as stored. Effects of the same write can only be decided together. */
export interface StoredEffect {
  readonly id: string;
  readonly write: number;
  readonly operation: string;
  readonly kind: string;
  readonly entityId: string;
  /** Name of the object; absent in proposals from versions that did not store names. */
  readonly name?: string | null;
  readonly issue: string | null;
  readonly issueId: string | null;
  readonly class: EffectClass;
  /** Changed values by field; empty objects after a purge. */
  readonly values: Readonly<Record<string, Partial<FieldChanges[string]>>>;
  /** Digest of the values, without the times at which they are applied. */
  readonly digest: string;
  readonly baseVersion: number | null;
  readonly decision: 'approved' | 'rejected' | null;
}

const storedFields = {
  actor: json<Actor>('actor_json'),
  /** Grant of the proposing app; null for other proposers. */
  grantId: plain<string | null>('grant_id'),
  cause: json<Cause | null>('cause_json'),
  diff: json<readonly StoredEffect[]>('diff_json'),
  issueIds: json<readonly string[]>('issue_ids_json'),
  /** Recorded writes, sealed by `make.ts`. */
  writesSealed: json<string>('writes_sealed_json'),
  undoneBy: {
    select: `(SELECT k.undone_by FROM stored_changes AS k WHERE k.workspace_id = proposals.workspace_id AND k.id = proposals.id)`,
  } as Column<string | null>,
};
export type Proposal = EntityOf<typeof proposal, typeof storedFields>;
type ProposalResponse = EntityResponse<typeof proposal>;

export const proposalModel = modelOf(proposal, {
  stored: storedFields,
  shows: {
    effects: ({ diff }) => diff.map((effect) => toEffectResponse(effect, false)),
    undoneBy: ({ undoneBy }) => undoneBy,
    through: ({ actor: { kind, name } }) => (kind === 'app' || kind === 'api_key' ? { kind, name } : null),
  },
  events(before, { status }) {
    if (!before || status === 'open') return ['automation.proposed'];
    return [
      status === 'approved' || status === 'partly_approved' ? 'automation.approved' : 'automation.rejected',
    ];
  },
  withoutPrevious: true,
  related: (scope, before, { id, status, expiresAt }) => ({
    last:
      before?.status === status
        ? []
        : [timerOp(scope, expiryTimerName, id, status === 'open' ? expiresAt : null)],
  }),
});

/**
 * Returns the proposal with the values of its effects, which lists and events omit. For objects that the
 * caller may not read, only the field names are returned.
 */
export function showWhole(current: Proposal, ctx: Context): ProposalResponse {
  return {
    ...proposalModel.toResponse(current, ctx),
    effects: current.diff.map((effect) => toEffectResponse(effect, mayRead(ctx, effect))),
  };
}

function mayRead({ scopes }: Context, { kind }: StoredEffect): boolean {
  const contract = contracts.find(({ name }) => name === kind);
  return (
    contract !== undefined && scopes.has(contract.subscriptionScope ?? scopeOfContract(contract, 'read'))
  );
}

function toEffectResponse(
  {
    id,
    operation,
    kind,
    entityId,
    name = null,
    issue,
    class: does,
    values,
    baseVersion,
    decision,
  }: StoredEffect,
  whole: boolean,
): ProposalResponse['effects'][number] {
  const fields = Object.entries(values).map(([name, value]) => (whole ? { name, ...value } : { name }));
  return { id, operation, kind, entityId, name, issue, class: does, fields, baseVersion, decision };
}
