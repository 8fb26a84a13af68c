// How a proposal looks to a person who may decide on it.
import { html, type Html } from '../../html/html.ts';
import { page } from '../../html/page.ts';
import type { RawAnswer } from '../../http/route.ts';
import { done, hidden, problem } from '../../identity/pages.ts';
import { visible } from '../../lib/printable.ts';
import type { ShownProposal } from '../../proposals/kind.ts';

type Effect = ShownProposal['effects'][number];

export interface Viewed {
  readonly proposal: ShownProposal;
  readonly workspaceName: string;
  readonly workspaceId: string;
  readonly formToken: string;
  /** Why the person cannot decide; null where they can. */
  readonly barredBy: string | null;
  /** What came of what they sent; null where they sent nothing. */
  readonly refusal: string | null;
  readonly status?: number;
}

const states: Readonly<Record<ShownProposal['status'], string>> = {
  open: 'It waits for a decision.',
  approved: 'It was approved, and is done.',
  partly_approved: 'A part of it was approved, and is done.',
  rejected: 'It was rejected. Nothing has changed.',
  expired: 'Nobody decided in time. Nothing has changed.',
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
      ${isOpen ? html`Nothing has changed yet. It ends by itself on ${dayOf(expiresAt)}.` : null}
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
  // What one request asks for is decided as a whole.
  const many = proposal.effects.length > 1 && proposal.source === 'plugin_run';
  return html`<form method="post" action="/proposals/${proposal.id}">
      ${hiddenOf(viewed)} ${effectsOf(proposal.effects, many)}
      <div class="actions">
        <button name="decision" value="approve">Approve ${many ? 'all' : ''}</button>
        ${many ? html`<button name="decision" value="approve_selected" class="plain">Approve the chosen ones</button>` : null}
      </div>
      ${many ? html`<p class="soft">Those that you do not choose are rejected with it.</p>` : null}
    </form>
    <form method="post" action="/proposals/${proposal.id}">
      ${hiddenOf(viewed)}
      <label
        >Reason
        <small>Whoever asked for it reads why.</small>
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
                ><input type="checkbox" name="effects" value="${effect.id}" /> Choose this change</label
              >`
            : null
        }
        ${effect.decision === null ? null : html`<p>${effect.decision === 'approved' ? 'Approved.' : 'Rejected.'}</p>`}
        <table>
          <caption class="soft">
            What changes
          </caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Now</th>
              <th scope="col">Then</th>
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

/** As people read it: the name of what is referred to, a list of names, else its JSON, so that nothing is left out. */
function textOf(value: unknown): string {
  if (value === undefined) return 'not shown';
  if (value === null || value === '') return '—';
  if (Array.isArray(value)) return value.map(textOf).join(', ') || '—';
  if (typeof value !== 'object') return String(value);
  const { name, identifier } = value as { name?: unknown; identifier?: unknown };
  const isReference = Object.keys(value).every((key) => ofReference.has(key));
  const shown = isReference ? (name ?? identifier) : undefined;
  return typeof shown === 'string' ? shown : JSON.stringify(value);
}

const count = (of: number, what: string): string => `${of} ${what}${of === 1 ? '' : 's'}`;
const dayOf = (time: string): string => time.slice(0, 10);
