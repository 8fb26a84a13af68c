// The page of a proposal. Members of its workspace can read it, and members with the right to approve can
// decide on it. Both call the API on behalf of the person.
import { html, type Html, page } from '../../kernel/html.ts';
import { type RawAnswer, defineRoute, type RawRequest, type Route } from '../../kernel/http/route.ts';
import {
  done,
  hidden,
  problem,
  answerPage,
  leadTo,
  leadToSignIn,
  readSignedForm,
  type AccountMembership,
  type Sessions,
  type SignedIn,
} from '../../features/sign-in/index.ts';
import { visible } from '../../platform/lib/text/printable.ts';
import type { ProposalResponse } from '../../features/proposals/index.ts';
import type { App, Caller } from '../../kernel/http/app.ts';
import type { Principal } from '../../kernel/http/principal.ts';
import type { Outcome } from '../../kernel/http/values.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed, idOf } from '../../platform/lib/schema.ts';
import { proposal } from '../../features/proposals/contract.ts';
import { Type } from 'typebox';

interface ProposalPageOptions {
  readonly app: () => App;
  readonly sessions: Sessions;
  readonly baseUrl: string;
}

interface VisibleProposal {
  readonly membership: AccountMembership;
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
  return viewOf(who, await find(options, who, who.memberships, id), null);
}

async function decide(
  options: ProposalPageOptions,
  who: SignedIn,
  id: string,
  request: RawRequest,
): Promise<RawAnswer> {
  const form = await readSignedForm(request, options.baseUrl, who);
  const memberships = who.memberships.filter(({ workspaceId }) => workspaceId === form.get('workspace'));
  const seen = await find(options, who, memberships, id);
  const { operation, body } = decisionIn(form);
  const { error } = await callerOf(options)(options.app().route(operation), {
    principal: seen.principal,
    isCounted: true,
    params: { id },
    body,
  });
  if (!error) return leadTo(options.baseUrl, `/proposals/${id}`);
  // The proposal may be outdated, so the page shows its current effects.
  return viewOf(who, await find(options, who, memberships, id), error);
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
  memberships: readonly AccountMembership[],
  id: string,
): Promise<VisibleProposal> {
  const call = callerOf(options);
  const route = options.app().route('proposals.get');
  let refusal = new ApiError(
    'not_found',
    'There is no proposal with this id in your workspaces. Check the link, or sign in with another account.',
  );
  for (const membership of memberships) {
    const principal = await options.sessions.principal(who, membership.workspaceId);
    if (!principal) continue;
    const outcome: Outcome<unknown> = await call(route, { principal, isCounted: true, params: { id } });
    if (!outcome.error) return { membership, principal, proposal: outcome.body as ProposalResponse };
    if (outcome.error.code !== 'not_found') refusal = outcome.error;
  }
  throw refusal;
}

function viewOf(
  { formToken }: SignedIn,
  { membership, principal, proposal }: VisibleProposal,
  error: ApiError | null,
): RawAnswer {
  const barredBy = principal.scopes.has('approvals:write')
    ? null
    : 'Your role does not allow you to decide on proposals. Ask an owner or an admin.';
  return proposalPage({
    proposal,
    formToken,
    barredBy,
    workspaceName: membership.workspaceName,
    workspaceId: membership.workspaceId,
    refusal: error?.message ?? null,
    status: error?.status ?? 200,
  });
}

type Effect = ProposalResponse['effects'][number];

interface Viewed {
  readonly proposal: ProposalResponse;
  readonly workspaceName: string;
  readonly workspaceId: string;
  readonly formToken: string;
  /** Reason why the person cannot decide; null if they can. */
  readonly barredBy: string | null;
  /** Error message about the submitted decision; null for none. */
  readonly refusal: string | null;
  readonly status?: number;
}

const states: Readonly<Record<ProposalResponse['status'], string>> = {
  open: 'This proposal is pending.',
  approved: 'This proposal was approved and applied.',
  partly_approved: 'A part of this proposal was approved and applied.',
  rejected: 'This proposal was rejected. Nothing was changed.',
  expired: 'This proposal expired without a decision. Nothing was changed.',
};

function proposalPage(viewed: Viewed): RawAnswer {
  const { proposal, workspaceName, refusal, status = 200 } = viewed;
  const { through, expiresAt, decidedBy, reason } = proposal;
  const title = visible(proposal.title);
  const author = visible(proposal.author.name);
  const isOpen = proposal.status === 'open';
  const by = through
    ? html`<strong>${visible(through.name)}</strong>, for ${author},`
    : html`<strong>${author}</strong>`;
  const content = html`<h1>${title}</h1>
    ${refusal === null ? null : problem(refusal)}
    <p>
      ${by} proposes ${count(proposal.effects.length, 'change')} in ${visible(workspaceName)}.
      ${isOpen ? html`Nothing has changed yet. The proposal expires on ${dayOf(expiresAt)}.` : null}
    </p>
    ${isOpen ? null : done(states[proposal.status])}
    ${decidedBy ? html`<p>Decided by ${visible(decidedBy.name)}.</p>` : null}
    ${reason ? html`<p>Reason: ${visible(reason)}</p>` : null}
    ${isOpen ? decision(viewed) : effectsOf(proposal.effects)}`;
  return page(title, content, { person: viewed, status });
}

function decision(viewed: Viewed): Html {
  const { proposal, barredBy } = viewed;
  if (barredBy !== null)
    return html`<p class="notice warning" role="status">${barredBy}</p>
      ${effectsOf(proposal.effects)}`;
  // The effects of a single request can only be decided together.
  const many = proposal.effects.length > 1 && proposal.source === 'plugin_run';
  return html`<form method="post" action="/proposals/${proposal.id}">
      ${hiddenOf(viewed)} ${effectsOf(proposal.effects, many)}
      <div class="actions">
        <button name="decision" value="approve">Approve ${many ? 'all' : ''}</button>
        ${many ? html`<button name="decision" value="approve_selected" class="plain">Approve selected</button>` : null}
      </div>
      ${many ? html`<p class="soft">Changes that you do not select are rejected.</p>` : null}
    </form>
    <form method="post" action="/proposals/${proposal.id}">
      ${hiddenOf(viewed)}
      <label
        >Reason
        <small>Shown to the author of the proposal.</small>
        <input name="reason" required maxlength="1000" />
      </label>
      <div class="actions"><button name="decision" value="reject" class="danger">Reject</button></div>
    </form>`;
}

function hiddenOf({ formToken, workspaceId, proposal: { revision } }: Viewed): Html {
  return html`${hidden('form_token', formToken)} ${hidden('workspace', workspaceId)}
  ${hidden('revision', String(revision))}`;
}

function effectsOf(effects: readonly Effect[], isChosen = false): readonly Html[] {
  return effects.map(
    (effect) =>
      html`<section aria-labelledby="effect-${effect.id}">
        <h2 id="effect-${effect.id}">${visible(titleOf(effect))}</h2>
        ${
          isChosen
            ? html`<label class="choice"
                ><input type="checkbox" name="effects" value="${effect.id}" /> Select this change</label
              >`
            : null
        }
        ${effect.decision === null ? null : html`<p>${effect.decision === 'approved' ? 'Approved.' : 'Rejected.'}</p>`}
        <table>
          <caption class="soft">
            Changes
          </caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            ${effect.fields.map(
              ({ name, before, after }) =>
                html`<tr>
                  <th scope="row">${visible(name)}</th>
                  <td class="text">${visible(textOf(before))}</td>
                  <td class="text">${visible(textOf(after))}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </section>`,
  );
}

const verbs = { create: 'Create', update: 'Change', comment: 'Comment on', delete: 'Delete' } as const;

function titleOf({ class: does, kind, name, issue }: Effect): string {
  const what = kind.replaceAll('_', ' ');
  if (does === 'comment') return `Comment on ${issue ?? 'an issue'}`;
  return `${verbs[does]} ${what}${name === null ? '' : ` ${name}`}`;
}

const ofReference = new Set(['id', 'key', 'name', 'identifier', 'type']);

/** Shows a reference by its name, a list by its items, and any other object as JSON, so that nothing is left out. */
function textOf(value: unknown): string {
  if (value === undefined) return 'not shown';
  if (value === null || value === '') return '—';
  if (Array.isArray(value)) return value.map(textOf).join(', ') || '—';
  if (typeof value !== 'object') return String(value);
  const { name, identifier } = value as { name?: unknown; identifier?: unknown };
  const isReference = Object.keys(value).every((key) => ofReference.has(key));
  const text = isReference ? (name ?? identifier) : undefined;
  return typeof text === 'string' ? text : JSON.stringify(value);
}

const count = (of: number, what: string): string => `${of} ${what}${of === 1 ? '' : 's'}`;
const dayOf = (time: string): string => time.slice(0, 10);
