// What a tool answers that may be held back: what it did, or the proposal that it became.
import { Type } from 'typebox';
import { schemasOf } from '../../contract/schemas.ts';
import { memberOf } from '../../http/principal.ts';
import { enumeration } from '../../lib/schema.ts';
import { proposal } from '../../proposals/contract.ts';
import { Refused, type Agent, type Answered, type Json } from '../agent.ts';
import type { Decided } from '../decisions.ts';
import { one, type Asked } from './tool.ts';

const waitSecondsMax = 60;

const shown = schemasOf(proposal).shown;
const outcomes = ['done', 'proposed', 'approved', 'partly_approved', 'rejected', 'expired'] as const;

/** What is shown of a proposal in place of what was asked for. */
export const proposedOutput = {
  status: enumeration(
    'ToolOutcome',
    outcomes,
    '`done`: it is so now. `proposed`: nothing has changed, a person decides first; show them `url`, and do not ask for it again. The others: what was decided while the call waited.',
  ),
  proposalId: Type.Optional(Type.String({ description: 'For `proposals_get`.' })),
  url: Type.Optional(Type.String({ description: 'Where a person looks at it and decides.' })),
  diff: Type.Optional(one(shown, 'effects')),
  expiresAt: Type.Optional(one(shown, 'expiresAt')),
  reason: Type.Optional(Type.String({ description: 'Why it was rejected, as the person says.' })),
};

export const waitInput = {
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: waitSecondsMax,
      description: `Where it becomes a proposal: wait so many seconds for the decision, ${waitSecondsMax} at most; 0 by default. Or ask later with \`proposals_get\`.`,
    }),
  ),
};

/** A write that may become a proposal. @param shown what is answered where it was done */
export async function guardedWrite(
  { agent, args, decisions }: Asked,
  baseUrl: string,
  write: () => Promise<Answered>,
  shown: (answer: Json) => Json,
): Promise<Json> {
  const since = decisions.since(agent.principal.scope.workspaceId);
  const { status, json } = await write();
  if (status !== 202) return { status: 'done', ...shown(json) };
  const proposalId = String(json.id);
  const proposed = {
    status: 'proposed',
    proposalId,
    url: urlOfProposal(baseUrl, proposalId),
    diff: json.effects,
    expiresAt: json.expiresAt,
  };
  const ms = secondsOf(args) * 1000;
  // A call that is asked again, because its answer was lost, comes after the decision.
  const earlier = ms > 0 ? await decisionOn(agent, proposalId) : null;
  const decided = earlier ?? (await decisionWithin({ agent, decisions }, proposalId, since, ms));
  if (!decided) return proposed;
  return {
    ...proposed,
    status: decided.status,
    ...(decided.reason === null ? {} : { reason: decided.reason }),
  };
}

/**
 * The decision on a proposal after an event; null where nobody decides within the time.
 * @throws ApiError unauthorized where the token ends meanwhile
 */
export async function decisionWithin(
  { agent, decisions }: Pick<Asked, 'agent' | 'decisions'>,
  proposalId: string,
  since: number,
  ms: number,
): Promise<Decided | null> {
  const { principal } = agent;
  const { tokenId, scope } = principal;
  const caller = { workspaceId: scope.workspaceId, tokenId, memberId: memberOf(principal) };
  const decided = await decisions.until({ ...caller, proposalId }, since, ms);
  if (ms > 0) await agent.refresh();
  return decided;
}

/** As it stands; null while nobody has decided, and for who may not look. */
export async function decisionOn(agent: Agent, id: string): Promise<Decided | null> {
  try {
    const { status, reason } = (await agent.ask('proposals.get', { params: { id } })).json;
    return status === 'open' ? null : { status: String(status), reason: reason as string | null };
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

export function secondsOf({ wait }: Json): number {
  return typeof wait === 'number' ? wait : 0;
}

export const urlOfProposal = (baseUrl: string, id: string): string => `${baseUrl}/proposals/${id}`;
