import { html } from '../../../kernel/html.ts';
import type { Route } from '../../../kernel/http/route.ts';
import { hidden, leadOut } from '../page-parts.ts';
import { endSessionsOp, type ListedSession } from '../sessions.ts';
import { changeRoute, type AccountSection } from './page.ts';
import type { SignInParts } from '../runtime.ts';

const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const among = (agent: string, known: readonly (readonly [RegExp, string])[]): string | undefined =>
  known.find(([pattern]) => pattern.test(agent))?.[1];

/** Shows a `User-Agent` header as browser and system, for display only: clients can send any value. */
function agentWords(agent: string): string {
  const words = [among(agent, browsers), among(agent, systems)].filter((word) => word !== undefined);
  return words.join(' on ') || agent.slice(0, 40) || 'Unknown';
}

export function sessionsSection({ sessions }: SignInParts): AccountSection {
  return {
    says: { session: 'The session was ended.' },
    async html(who) {
      const all = await sessions.list(who.accountId);
      const token = hidden('form_token', who.formToken);
      const ending = (session: ListedSession) =>
        session.id === who.sessionId
          ? 'This session'
          : html`<form method="post" action="/account/end-session" class="inline">
              ${token}${hidden('id', session.id)}
              <button
                class="danger"
                aria-label="End the session of ${agentWords(session.agent)} at ${session.address}"
              >
                End
              </button>
            </form>`;
      return html`<section aria-labelledby="sessions">
        <h2 id="sessions">Sessions</h2>
        <table>
          <thead>
            <tr>
              <th scope="col">Device</th>
              <th scope="col">Address</th>
              <th scope="col">Since</th>
              <th scope="col">Last seen</th>
              <th scope="col">End</th>
            </tr>
          </thead>
          <tbody>
            ${all.map(
              (one) =>
                html`<tr>
                  <td>${agentWords(one.agent)}</td>
                  <td>${one.address}</td>
                  <td>${moment(one.createdAt)}</td>
                  <td>${moment(one.lastSeenAt)}</td>
                  <td>${ending(one)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
        <form method="post" action="/account/end-sessions">
          ${token}
          <p>
            Ends all sessions, including this one, and revokes the access of all apps and of
            <code>tatami login</code>. API keys keep working.
          </p>
          <div><button class="danger">Sign out everywhere</button></div>
        </form>
      </section>`;
    },
  };
}

function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function sessionsRoutes(parts: SignInParts): Route[] {
  const { services, sessions, grants } = parts;
  const { baseUrl } = services;
  return [
    changeRoute(
      parts,
      { path: 'end-session', name: 'account.end-session', summary: 'End one of the sessions of an account' },
      async (who, form) => {
        await sessions.end(who.accountId, form.get('id') ?? '');
        return { done: 'session' };
      },
    ),
    changeRoute(
      parts,
      { path: 'end-sessions', name: 'account.end-sessions', summary: 'End all sessions of an account' },
      async (who) => {
        await grants.endWith(who.accountId, [endSessionsOp(who.accountId)]);
        return leadOut(baseUrl, '/sign-in', [sessions.forgetCookie]);
      },
    ),
  ];
}
