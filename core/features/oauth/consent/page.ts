// Consent page, on which a person allows or denies an app. The page works without scripts.
import type { Principal } from '../../../kernel/http/principal.ts';
import { guardedClasses, type GuardedClass } from '../../../platform/lib/guarded-classes.ts';
import { type AccountMembership, type SignedIn, card, hidden, problem } from '../../sign-in/index.ts';
import { consentSentenceOf } from '../../../kernel/rights/table.ts';
import { isVerifiedIn, type OAuthClient } from '../clients/client.ts';
import type { Asking } from '../engine/engine.ts';
import { html, type Html, type HtmlContent } from '../../../kernel/html.ts';
import type { RawAnswer } from '../../../kernel/http/route.ts';

interface RequestedScope {
  readonly scope: string;
  readonly sentence: string;
  /** True if the member has the scope and can grant it. */
  readonly isGrantable: boolean;
}

interface GuardedChoice {
  readonly word: GuardedClass;
  readonly sentence: string;
  /** True if the workspace requires approval for the class, so that the member cannot deselect it. */
  readonly isFixed: boolean;
}

export interface ConsentView {
  readonly client: OAuthClient;
  readonly isVerified: boolean;
  /** Host name or private-use scheme of the redirect URI; null for the device flow. */
  readonly leadsTo: string | null;
  readonly who: SignedIn;
  readonly membership: AccountMembership;
  readonly asking: Asking;
  readonly scopes: readonly RequestedScope[];
  /** Empty for the REST API, which has no guarded actions. */
  readonly guarded: readonly GuardedChoice[];
}

const guardSentences: Readonly<Record<GuardedClass, string>> = {
  delete: 'deletes anything',
  bulk: 'changes several issues at once',
  finish: 'completes or cancels an issue',
  others: 'changes an issue that it did not create',
};

export function consentView(options: {
  asking: Asking;
  client: OAuthClient;
  who: SignedIn;
  membership: AccountMembership;
  principal: Principal;
  demanded: readonly GuardedClass[];
}): ConsentView {
  const { asking, client, who, membership, principal, demanded } = options;
  return {
    asking,
    client,
    who,
    membership,
    isVerified: isVerifiedIn(client, membership.workspaceId),
    leadsTo: asking.redirectUri === null ? null : displayHost(asking.redirectUri),
    scopes: asking.scopes.map((scope) => ({
      scope,
      sentence: consentSentenceOf(scope),
      isGrantable: principal.scopes.has(scope) || (principal.narrowed?.has(scope) ?? false),
    })),
    guarded:
      asking.resource === 'api'
        ? []
        : guardedClasses.map((word) => ({
            word,
            sentence: guardSentences[word],
            isFixed: demanded.includes(word),
          })),
  };
}

/**
 * Returns the part of a redirect URI that people recognize: `app.example.com`, `127.0.0.1`,
 * `com.example.app`.
 */
function displayHost(redirectUri: string): string {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? hostname : protocol.slice(0, -1);
}

/**
 * Returns the CSP source for the redirect of the form (CSP Level 3 §6.4.1): the origin, or the scheme for
 * IPv6 hosts, which CSP cannot express.
 */
function policySourceOf(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && !hostname.startsWith('[') ? origin : protocol;
}

interface ConsentPageOptions {
  /** Path that the forms post to. */
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
  /** Error message for the last input; null for none. */
  readonly wrong: string | null;
}

export function consentPage(view: ConsentView, options: ConsentPageOptions): RawAnswer {
  const { client, membership, who, asking } = view;
  const { wrong } = options;
  return card(
    `Authorize ${client.name}?`,
    html`${wrong === null ? null : problem(wrong)}
      <p>
        ${introduction(view)} The app will act as you, ${who.name}, in the workspace
        <strong>${membership.workspaceName}</strong>, with at most your own permissions.
      </p>
      ${trust(view)} ${workspaceForm(view, options)}
      <form method="post" action="${options.action}">
        ${hiddenFields({ ...options.hidden, workspace: membership.workspaceId })} ${scopeChoices(view)}
        ${guardChoices(view)}
        <p class="soft">${whereNext(view)} You can revoke the access at any time on your account page.</p>
        <div class="actions">
          <button name="decision" value="allow">Allow</button>
          <button class="plain" name="decision" value="deny">Deny</button>
        </div>
      </form>`,
    {
      status: wrong === null ? 200 : 422,
      ...(asking.redirectUri === null ? {} : { formsLeadTo: [policySourceOf(asking.redirectUri)] }),
    },
  );
}

const hiddenFields = (fields: Readonly<Record<string, string>>): Html =>
  html`${Object.entries(fields).map(([name, value]) => hidden(name, value))}`;

function introduction({ client, asking }: ConsentView): Html {
  const by = asking.resource === 'api' ? 'the API' : 'the agent tools (MCP)';
  return html`<strong>${client.name}</strong> wants to access Tatami through ${by}.`;
}

function trust({ client, isVerified, leadsTo }: ConsentView): Html {
  if (isVerified && client.registeredIn === null)
    return html`<p class="notice">This app is part of Tatami.</p>`;
  if (isVerified) return html`<p class="notice done">An admin of this workspace registered this app.</p>`;
  const destination = leadsTo === null ? 'your own device' : html`<strong>${leadsTo}</strong>`;
  return html`<p class="notice warning">
    <strong>This app is not verified.</strong> It chose the name “${client.name}” itself. Allow access only if
    you started this request yourself and trust ${destination}.
  </p>`;
}

function whereNext({ leadsTo }: ConsentView): Html {
  if (leadsTo === null)
    return html`Allow access only if your own device shows the code and you started this request there.`;
  return html`You then return to <strong>${leadsTo}</strong>.`;
}

/** Returns null for members of only one workspace. */
function workspaceForm(
  { who, membership }: ConsentView,
  { action, hidden }: ConsentPageOptions,
): HtmlContent {
  if (who.memberships.length < 2) return null;
  return html`<form method="post" action="${action}">
    ${hiddenFields(hidden)}
    <label
      >Workspace
      <select name="workspace">
        ${who.memberships.map(
          ({ workspaceId, workspaceName }) =>
            html`<option
              value="${workspaceId}"
              ${workspaceId === membership.workspaceId ? html`selected` : null}
            >
              ${workspaceName}
            </option>`,
        )}
      </select></label
    >
    <div class="actions"><button class="plain">Change workspace</button></div>
  </form>`;
}

function scopeChoices({ scopes }: ConsentView): Html {
  return html`<fieldset>
    <legend>The app may</legend>
    ${scopes.map(({ scope, sentence, isGrantable }) =>
      isGrantable
        ? html`<label class="choice"
            ><input type="checkbox" name="scope" value="${scope}" checked /> <span>${sentence}</span></label
          >`
        : html`<label class="choice soft"
            ><input type="checkbox" disabled />
            <span>${sentence} Not available: your role does not have this permission.</span></label
          >`,
    )}
  </fieldset>`;
}

function guardChoices({ guarded }: ConsentView): HtmlContent {
  if (guarded.length === 0) return null;
  return html`<fieldset>
    <legend>Ask for approval each time the app</legend>
    ${guarded.map(({ word, sentence, isFixed }) =>
      isFixed
        ? html`<label class="choice"
            ><input type="checkbox" checked disabled />
            <span>${sentence} (required by the workspace)</span></label
          >`
        : html`<label class="choice"
            ><input type="checkbox" name="guarded" value="${word}" checked /> <span>${sentence}</span></label
          >`,
    )}
  </fieldset>`;
}
