// The page on which a person lets an app act for them, or does not. It works without scripts.
import { html, type Html, type Part } from '../../html/html.ts';
import type { RawAnswer } from '../../http/route.ts';
import { card, hidden, problem } from '../../identity/pages.ts';
import { policySourceOf, type ConsentView } from './view.ts';

export interface ConsentPageOptions {
  /** Where its forms are sent. */
  readonly action: string;
  /** Sent along with them. */
  readonly hidden: Readonly<Record<string, string>>;
  /** What was wrong with what was sent; null at first. */
  readonly wrong: string | null;
}

export function consentPage(view: ConsentView, options: ConsentPageOptions): RawAnswer {
  const { client, seat, who, asking } = view;
  const { wrong } = options;
  return card(
    `Let ${client.name} act for you?`,
    html`${wrong === null ? null : problem(wrong)}
      <p>
        ${introduction(view)} It acts as you, ${who.name}, in the workspace
        <strong>${seat.workspaceName}</strong>, and never does more than you may.
      </p>
      ${trust(view)} ${workspaceForm(view, options)}
      <form method="post" action="${options.action}">
        ${hiddenFields({ ...options.hidden, workspace: seat.workspaceId })} ${scopeChoices(view)}
        ${guardChoices(view)}
        <p class="soft">${whereNext(view)} You can take this back at any time.</p>
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
  const by = asking.resource === 'api' ? 'the API' : 'the tools for agents (MCP)';
  return html`<strong>${client.name}</strong> wants to use Tatami by ${by}.`;
}

function trust({ client, isVerified, leadsTo }: ConsentView): Html {
  if (isVerified && client.registeredIn === null) return html`<p class="notice">It is part of Tatami.</p>`;
  if (isVerified) return html`<p class="notice done">An admin of this workspace registered this app.</p>`;
  const place = leadsTo === null ? 'your own device' : html`<strong>${leadsTo}</strong>`;
  return html`<p class="notice warning">
    <strong>Nobody here has checked this app.</strong> “${client.name}” is only what it calls itself. Allow it
    only if you began this yourself and trust ${place}.
  </p>`;
}

function whereNext({ leadsTo }: ConsentView): Html {
  if (leadsTo === null)
    return html`Allow this only if the code is shown on a device of yours, and you began this there.`;
  return html`Afterwards you go back to <strong>${leadsTo}</strong>.`;
}

/** For whoever has a seat in several. */
function workspaceForm({ who, seat }: ConsentView, { action, hidden }: ConsentPageOptions): Part {
  if (who.seats.length < 2) return null;
  return html`<form method="post" action="${action}">
    ${hiddenFields(hidden)}
    <label
      >Workspace
      <select name="workspace">
        ${who.seats.map(
          ({ workspaceId, workspaceName }) =>
            html`<option value="${workspaceId}" ${workspaceId === seat.workspaceId ? html`selected` : null}>
              ${workspaceName}
            </option>`,
        )}
      </select></label
    >
    <div class="actions"><button class="plain">Choose this workspace</button></div>
  </form>`;
}

function scopeChoices({ scopes }: ConsentView): Html {
  return html`<fieldset>
    <legend>What it may do</legend>
    ${scopes.map(({ scope, sentence, isHeld }) =>
      isHeld
        ? html`<label class="choice"
            ><input type="checkbox" name="scope" value="${scope}" checked /> <span>${sentence}</span></label
          >`
        : html`<label class="choice soft"
            ><input type="checkbox" disabled />
            <span>${sentence} Not given: your role does not have it.</span></label
          >`,
    )}
  </fieldset>`;
}

function guardChoices({ guarded }: ConsentView): Part {
  if (guarded.length === 0) return null;
  return html`<fieldset>
    <legend>A person has to approve each time it</legend>
    ${guarded.map(({ word, sentence, isFixed }) =>
      isFixed
        ? html`<label class="choice"
            ><input type="checkbox" checked disabled />
            <span>${sentence} (the workspace says so)</span></label
          >`
        : html`<label class="choice"
            ><input type="checkbox" name="guarded" value="${word}" checked /> <span>${sentence}</span></label
          >`,
    )}
  </fieldset>`;
}
