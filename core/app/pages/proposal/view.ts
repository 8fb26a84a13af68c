import { html, type Html, page } from '../../../kernel/html.ts';
import type { RawAnswer } from '../../../kernel/http/route.ts';
import { done, hidden, problem } from '../../../features/sign-in/index.ts';
import { visible } from '../../../platform/lib/text/printable.ts';
import type { ProposalResponse } from '../../../features/proposals/index.ts';

type Effect = ProposalResponse['effects'][number];

export interface Viewed {
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

export function proposalPage(viewed: Viewed): RawAnswer {
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
  return page(title, content, { status });
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
