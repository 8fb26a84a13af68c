// The page of a proposal. Members of its workspace can read it, and members with the right to approve can decide on it. Both call the API
// on behalf of the person.
import type { App, Caller } from '../../../kernel/http/app.ts';
import type { Principal } from '../../../kernel/http/principal.ts';
import { defineRoute, type RawRequest, type RawAnswer, type Route } from '../../../kernel/http/route.ts';
import type { Outcome } from '../../../kernel/http/values.ts';
import {
  answerPage,
  leadTo,
  leadToSignIn,
  readSignedForm,
  type Seat,
  type Sessions,
  type SignedIn,
} from '../../../features/sign-in/index.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { Closed, idOf } from '../../../platform/lib/schema.ts';
import { proposal } from '../../../features/proposals/contract.ts';
import type { ProposalResponse } from '../../../features/proposals/index.ts';
import { Type } from 'typebox';
import { proposalPage } from './view.ts';

interface ProposalPageOptions {
  readonly app: () => App;
  readonly sessions: Sessions;
  readonly baseUrl: string;
}

interface VisibleProposal {
  readonly seat: Seat;
  readonly principal: Principal;
  readonly proposal: ProposalResponse;
}

export function proposalPageRoutes(options: ProposalPageOptions): Route[] {
  const facts = {
    path: '/proposals/{id}',
    scope: null,
    params: Closed({ id: idOf(proposal.id) }),
    responses: { 200: Type.String() },
    contentType: 'text/html',
  } as const;
  const inbound =
    (answer: typeof decide) =>
    ({ params: { id } }: { params: { id: string } }, request: RawRequest): Promise<RawAnswer> =>
      answerPage(request, async () => {
        const who = await options.sessions.find(request.headers);
        return who ? answer(options, who, id, request) : leadToSignIn(options.baseUrl, request.path);
      });
  return [
    defineRoute({
      ...facts,
      method: 'GET',
      name: 'proposal-page.get',
      summary: 'Show a proposal',
      limit: 'read',
      inbound: inbound(show),
    }),
    defineRoute({
      ...facts,
      method: 'POST',
      name: 'proposal-page.decide',
      summary: 'Decide on a proposal',
      limit: 'write',
      inbound: inbound(decide),
    }),
  ];
}

async function show(options: ProposalPageOptions, who: SignedIn, id: string): Promise<RawAnswer> {
  return viewOf(who, await find(options, who, who.seats, id), null);
}

async function decide(
  options: ProposalPageOptions,
  who: SignedIn,
  id: string,
  request: RawRequest,
): Promise<RawAnswer> {
  const form = await readSignedForm(request, options.baseUrl, who);
  const seats = who.seats.filter(({ workspaceId }) => workspaceId === form.get('workspace'));
  const seen = await find(options, who, seats, id);
  const { operation, body } = decisionIn(form);
  const { error } = await callerOf(options)(options.app().route(operation), {
    principal: seen.principal,
    isCounted: true,
    params: { id },
    body,
  });
  if (!error) return leadTo(options.baseUrl, `/proposals/${id}`);
  // The proposal may be outdated, so the page shows its current effects.
  return viewOf(who, await find(options, who, seats, id), error);
}

function decisionIn(form: URLSearchParams): { operation: string; body: object } {
  const revision = Number(form.get('revision'));
  const effects = form.getAll('effects');
  switch (form.get('decision')) {
    case 'approve':
      return { operation: 'proposals.approve', body: { revision } };
    case 'approve_selected':
      if (effects.length === 0) throw new ApiError('validation_failed', 'Choose at least one change.');
      return { operation: 'proposals.approve', body: { revision, effects } };
    case 'reject':
      return { operation: 'proposals.reject', body: { reason: form.get('reason') ?? '' } };
    default:
      throw new ApiError('validation_failed', 'Choose whether to approve or to reject the proposal.');
  }
}

function callerOf({ app }: ProposalPageOptions): Caller<unknown> {
  return app().caller((body) => ({ taken: structuredClone(body), bytes: 0 }));
}

/** Searches the workspaces of the person. @throws ApiError not_found, or the error that denies access */
async function find(
  options: ProposalPageOptions,
  who: SignedIn,
  seats: readonly Seat[],
  id: string,
): Promise<VisibleProposal> {
  const call = callerOf(options);
  const route = options.app().route('proposals.get');
  let refusal = new ApiError(
    'not_found',
    'There is no proposal with this id in your workspaces. Check the link, or sign in with another account.',
  );
  for (const seat of seats) {
    const principal = await options.sessions.principal(who, seat.workspaceId);
    if (!principal) continue;
    const outcome: Outcome<unknown> = await call(route, { principal, isCounted: true, params: { id } });
    if (!outcome.error) return { seat, principal, proposal: outcome.body as ProposalResponse };
    if (outcome.error.code !== 'not_found') refusal = outcome.error;
  }
  throw refusal;
}

function viewOf(
  { formToken }: SignedIn,
  { seat, principal, proposal }: VisibleProposal,
  error: ApiError | null,
): RawAnswer {
  const barredBy = principal.scopes.has('approvals:write')
    ? null
    : 'Your role does not allow you to decide on proposals. Ask an owner or an admin.';
  return proposalPage({
    proposal,
    formToken,
    barredBy,
    workspaceName: seat.workspaceName,
    workspaceId: seat.workspaceId,
    refusal: error?.message ?? null,
    status: error?.status ?? 200,
  });
}
