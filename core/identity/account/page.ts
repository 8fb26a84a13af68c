// The account page: who a person is here, and where they are signed in. Further parts of it are sections that others bring.
import { html, type Html } from '../../html/html.ts';
import { page } from '../../html/page.ts';
import type { RawAnswer, Route } from '../../http/route.ts';
import type { Services } from '../../context.ts';
import { done, hidden, leadToSignIn, pageRoute, problem } from '../pages.ts';
import type { Sessions, SignedIn } from '../sessions/sessions.ts';

/** A part of the account page. Its forms lead to routes of its own, which come back with `/account?done=…` or `?wrong=…`. */
export interface AccountSection {
  html(who: SignedIn): Promise<Html>;
  /** What is said at the top, by what routes of the section come back with. */
  readonly says?: Readonly<Record<string, string>>;
}

interface AccountPages {
  readonly services: Pick<Services, 'baseUrl'>;
  readonly sessions: Sessions;
  /** In the order of the page. */
  readonly sections: readonly AccountSection[];
}

export function accountRoutes(options: AccountPages): Route[] {
  const { services, sessions, sections } = options;
  const says = new Map(sections.flatMap((section) => Object.entries(section.says ?? {})));
  return [
    pageRoute(
      { method: 'GET', path: '/account', name: 'account.page', summary: 'The account of who is signed in' },
      async ({ headers, query }) => {
        const who = await sessions.find(headers);
        if (!who) return leadToSignIn(services.baseUrl, '/account');
        if (who.seats.length === 0) return noSeat(who);
        const word = (name: string) => says.get(query.get(name) ?? '');
        const [good, bad] = [word('done'), word('wrong')];
        const parts = await Promise.all(sections.map((section) => section.html(who)));
        return page(
          'Your account',
          html`<h1>Your account</h1>
            ${good && done(good)} ${bad && problem(bad)} ${parts}`,
          { nav: navOf(who) },
        );
      },
    ),
  ];
}

function navOf(who: SignedIn): Html {
  return html`<nav class="top" aria-label="Account">
    <a href="/">Tatami</a>
    ${signOut(who)}
  </nav>`;
}

const signOut = ({ formToken }: SignedIn): Html =>
  html`<form method="post" action="/sign-out">
    ${hidden('form_token', formToken)}<button class="plain">Sign out</button>
  </form>`;

/** Who was removed everywhere: nothing of the server is theirs to see. */
function noSeat(who: SignedIn): RawAnswer {
  return page(
    'No workspace',
    html`<div class="card">
      <h1>No workspace</h1>
      <p>
        You are signed in as ${who.name} (${who.email}), and are a member of no workspace of this server: you
        were removed, or have not joined one yet.
      </p>
      <p>Ask an admin of the workspace for an invitation, and open its link here.</p>
      ${signOut(who)}
    </div>`,
    { status: 403 },
  );
}
