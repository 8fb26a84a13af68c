// Guarded tools, whose output is either the result or the proposal that the write became.
import { Type } from 'typebox';
import { schemasOf } from '../../../kernel/contract/schemas.ts';
import { memberOf } from '../../../kernel/http/principal.ts';
import { enumeration } from '../../../platform/lib/schema.ts';
import { proposal } from '../../proposals/contract.ts';
import { Refused, type Agent, type Answered, type Json } from '../agent.ts';
import type { Decided } from '../decisions.ts';
import { one, type ToolRequest, type Waiter } from './tool.ts';

const waitSecondsMax = 60;

const response = schemasOf(proposal).response;
const outcomes = ['done', 'proposed', 'approved', 'partly_approved', 'rejected', 'expired'] as const;

export const proposedOutput = {
  status: enumeration(
    'ToolOutcome',
    outcomes,
    '`done`: the change was made. `proposed`: nothing has changed until a person approves it; show them `url` and do not repeat the call. Other values: the decision that was made while the call waited.',
  ),
  proposalId: Type.Optional(Type.String({ description: 'Id of the proposal, for `proposals_get`.' })),
  url: Type.Optional(
    Type.String({ description: 'Page on which a person reviews the proposal and decides.' }),
  ),
  diff: Type.Optional(one(response, 'effects')),
  expiresAt: Type.Optional(one(response, 'expiresAt')),
  reason: Type.Optional(Type.String({ description: 'Reason for the rejection.' })),
};

export const waitInput = {
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: waitSecondsMax,
      description: `Seconds to wait for the decision if the change becomes a proposal, at most ${waitSecondsMax}, default 0. Use \`proposals_get\` to check later.`,
    }),
  ),
};

/**
 * Performs a write that may become a proposal.
 * @param response returns the output of a completed write
 */
export async function guardedWrite(
  { agent, args, decisions }: ToolRequest,
  baseUrl: string,
  write: () => Promise<Answered>,
  response: (answer: Json) => Json,
): Promise<Json> {
  const since = decisions.since(agent.principal.scope.workspaceId);
  const { status, json } = await write();
  if (status !== 202) return { status: 'done', ...response(json) };
  const proposalId = String(json.id);
  const proposed = {
    status: 'proposed',
    proposalId,
    url: urlOfProposal(baseUrl, proposalId),
    diff: json.effects,
    expiresAt: json.expiresAt,
  };
  const ms = secondsOf(args) * 1000;
  // The proposal of a retried call may be decided already.
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
 * Waits for the decision on a proposal after an event sequence.
 * @returns null if there is no decision in time
 * @throws ApiError unauthorized if the token ends meanwhile
 */
export async function decisionWithin(
  { agent, decisions }: Waiter,
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

/** @returns null if there is no decision, or if the agent may not read the proposal */
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
