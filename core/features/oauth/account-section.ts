// Section of the account page that lists the grants of a person and revokes them, through the API on behalf of the person.
import { html, type Html } from '../../kernel/html.ts';
import type { App } from '../../kernel/http/app.ts';
import type { Route } from '../../kernel/http/route.ts';
import {
  changeRoute,
  type ChangeOptions,
  type AccountSection,
  hidden,
  type AccountMembership,
  type SignedIn,
} from '../sign-in/index.ts';
import type { grant } from './contract.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { consentSentenceOf } from '../../kernel/rights/table.ts';

type GrantResponse = EntityResponse<typeof grant>;

interface GrantPages extends ChangeOptions {
  readonly app: () => App;
}

export function grantsOfAccount(options: GrantPages): {
  readonly section: AccountSection;
  readonly routes: readonly Route[];
} {
  return { section: grantsSection(options), routes: grantRoutes(options) };
}

function grantsSection(options: GrantPages): AccountSection {
  return {
    says: {
      grant: 'The access of the app was revoked.',
      'grant-gone': 'The access of the app had already ended.',
    },
    async html(who) {
      const sections = await Promise.all(
        who.memberships.map((membership) => sectionOf(options, who, membership)),
      );
      const isEmpty = sections.every((section) => section === null);
      return html`<section aria-labelledby="apps">
        <h2 id="apps">Apps with access</h2>
        ${isEmpty ? html`<p class="soft">No app has access to your account.</p>` : sections}
      </section>`;
    },
  };
}

/** Returns null if the person has no grants in the workspace. */
async function sectionOf(
  options: GrantPages,
  who: SignedIn,
  membership: AccountMembership,
): Promise<Html | null> {
  const grants = await grantsIn(options, who, membership);
  if (grants.length === 0) return null;
  const { workspaceId, workspaceName } = membership;
  return html`<h3>In ${workspaceName}</h3>
    <ul class="grants">
      ${grants.map((one) => itemOf(one, html`${hidden('form_token', who.formToken)}${hidden('workspace', workspaceId)}`))}
    </ul>`;
}

function itemOf(
  { id, client, redirectHost, resource, scopes, createdAt, lastUsedAt }: GrantResponse,
  form: Html,
): Html {
  const day = (time: string): string => time.slice(0, 10);
  return html`<li>
    <strong>${client.name}</strong>${client.verified ? null : ' (not verified)'},
    ${resource === 'mcp' ? 'as an agent' : 'over the API'}${redirectHost === null ? null : html`, at ${redirectHost}`}
    <div class="soft">
      Since ${day(createdAt)}, ${lastUsedAt === null ? 'not used yet' : `last used ${day(lastUsedAt)}`}
    </div>
    <details>
      <summary>Permissions</summary>
      <ul>
        ${scopes.map((scope) => html`<li>${consentSentenceOf(scope)}</li>`)}
      </ul>
    </details>
    <form method="post" action="/account/end-grant" class="inline">
      ${form}${hidden('id', id)}
      <button class="danger" aria-label="Revoke the access of ${client.name} since ${day(createdAt)}">
        Revoke
      </button>
    </form>
  </li>`;
}

interface Page {
  readonly data: readonly GrantResponse[];
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

/** Returns the valid grants, newest first. */
async function grantsIn(
  { app, sessions }: GrantPages,
  who: SignedIn,
  { workspaceId, memberId }: AccountMembership,
): Promise<GrantResponse[]> {
  const principal = await sessions.principal(who, workspaceId);
  if (!principal) return [];
  const ask = app().caller((body) => ({ taken: structuredClone(body) as Page, bytes: 0 }));
  const all: GrantResponse[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const query = { member: memberId, limit: 100, after };
    const answer = await ask(app().route('grants.list'), { principal, isCounted: true, params: {}, query });
    if (answer.error) throw answer.error;
    const { data, pageInfo } = answer.body;
    all.push(...data.filter(({ revokedAt }) => revokedAt === null));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  }
  return all;
}

function grantRoutes(options: GrantPages): Route[] {
  const { app, sessions } = options;
  return [
    changeRoute(
      options,
      { path: 'end-grant', name: 'account.end-grant', summary: 'Revoke a grant' },
      async (who, form) => {
        const principal = await sessions.principal(who, form.get('workspace') ?? '');
        if (!principal) return { wrong: 'grant-gone' };
        const { error } = await app().caller(() => ({ taken: null, bytes: 0 }))(
          app().route('grants.delete'),
          {
            principal,
            isCounted: true,
            params: { id: form.get('id') ?? '' },
          },
        );
        if (!error) return { done: 'grant' };
        if (error.code === 'not_found' || error.code === 'conflict') return { wrong: 'grant-gone' };
        throw error;
      },
    ),
  ];
}
