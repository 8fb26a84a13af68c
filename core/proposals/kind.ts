// How proposals are stored and shown. An open one has an alarm that ends it.
import { json, plain, type Column } from '../changes/columns.ts';
import type { Values } from '../changes/diff.ts';
import { scopeOfContract, type Shown } from '../contract/contract.ts';
import type { Context } from '../context.ts';
import { contracts } from '../contracts.ts';
import type { Actor, Cause } from '../events/origin.ts';
import { alarmOp } from '../reactions/alarm.ts';
import { kindOf, type EntityOf } from '../resource/kind.ts';
import { proposal, type EffectClass } from './contract.ts';

export const expiryAlarmName = 'proposal';

/** One effect as it is kept. Those of one write are decided together. */
export interface KeptEffect {
  readonly id: string;
  /** Which of the writes it comes of. */
  readonly write: number;
  readonly operation: string;
  readonly kind: string;
  readonly entityId: string;
  /** Absent of proposals from before names were kept. */
  readonly name?: string | null;
  readonly issue: string | null;
  readonly issueId: string | null;
  readonly class: EffectClass;
  /** Of what was purged, the names alone. */
  readonly values: Readonly<Record<string, Partial<Values[string]>>>;
  /** Of the values, but for the times at which they are applied. */
  readonly digest: string;
  readonly baseVersion: number | null;
  readonly decision: 'approved' | 'rejected' | null;
}

const kept = {
  actor: json<Actor>('actor_json'),
  /** By which an app proposed; null of others. */
  grantId: plain<string | null>('grant_id'),
  cause: json<Cause | null>('cause_json'),
  diff: json<readonly KeptEffect[]>('diff_json'),
  issueIds: json<readonly string[]>('issue_ids_json'),
  /** See `writes.ts`. */
  writesSealed: json<string>('writes_sealed_json'),
  undoneBy: {
    select: `(SELECT k.undone_by FROM kept_changes AS k WHERE k.workspace_id = proposals.workspace_id AND k.id = proposals.id)`,
  } as Column<string | null>,
};
export type Proposal = EntityOf<typeof proposal, typeof kept>;
export type ShownProposal = Shown<typeof proposal>;

export const proposalKind = kindOf(proposal, {
  kept,
  shows: {
    effects: ({ diff }) => diff.map((effect) => shownEffect(effect, false)),
    undoneBy: ({ undoneBy }) => undoneBy,
    through: ({ actor: { kind, name } }) => (kind === 'app' || kind === 'api_key' ? { kind, name } : null),
  },
  events(before, { status }) {
    if (!before || status === 'open') return ['automation.proposed'];
    return [
      status === 'approved' || status === 'partly_approved' ? 'automation.approved' : 'automation.rejected',
    ];
  },
  special: {
    isTold: true,
    related: (scope, before, { id, status, expiresAt }) => ({
      last:
        before?.status === status
          ? []
          : [alarmOp(scope, expiryAlarmName, id, status === 'open' ? expiresAt : null)],
    }),
  },
});

/**
 * With the values, which lists and events leave out. Of objects that the caller may not read, which a write can change along with those
 * that it is about, only the names of the fields are shown.
 */
export function showWhole(found: Proposal, ctx: Context): ShownProposal {
  return {
    ...proposalKind.wire(found, ctx),
    effects: found.diff.map((effect) => shownEffect(effect, mayRead(ctx, effect))),
  };
}

function mayRead({ scopes }: Context, { kind }: KeptEffect): boolean {
  const contract = contracts.find(({ name }) => name === kind);
  return contract !== undefined && scopes.has(contract.heardBy ?? scopeOfContract(contract, 'read'));
}

function shownEffect(
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
  }: KeptEffect,
  whole: boolean,
): ShownProposal['effects'][number] {
  const fields = Object.entries(values).map(([name, value]) => (whole ? { name, ...value } : { name }));
  return { id, operation, kind, entityId, name, issue, class: does, fields, baseVersion, decision };
}
