// The pages for who forgot a password: asking for a link, and choosing another password by it.
import { readForm } from '../../html/form.ts';
import { html } from '../../html/html.ts';
import type { Arrival, RawAnswer, Route } from '../../http/route.ts';
import type { Services } from '../../context.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Mail } from '../../lib/mail.ts';
import { accountByEmail, accountById } from '../accounts/accounts.ts';
import { newPasswordField } from '../accounts/password-field.ts';
import { passwordProblem } from '../accounts/password-rules.ts';
import { noticeOf } from '../account/notices.ts';
import type { Passwords } from '../accounts/passwords.ts';
import { card, leadTo, pageRoute, problem } from '../pages.ts';
import { rememberDevice } from '../sign-in/devices.ts';
import { passwordOf } from '../sign-in/page.ts';
import { accountOfReset, newReset, resetMinutes, resetPassword } from './resets.ts';
import type { ResetLimits } from './limits.ts';

interface ResetPages {
  readonly services: Pick<Services, 'store' | 'sealing' | 'log' | 'mail' | 'baseUrl' | 'nowMs'>;
  readonly passwords: Passwords;
  readonly limits: ResetLimits;
}

export function resetRoutes(options: ResetPages): Route[] {
  const { services } = options;
  const { store, baseUrl, nowMs } = services;
  return [
    pageRoute(
      { method: 'GET', path: '/reset', name: 'reset.ask', summary: 'Forgot the password' },
      async () => (services.mail ? askPage() : noMailPage()),
    ),
    pageRoute(
      {
        method: 'POST',
        path: '/reset',
        name: 'reset.send',
        summary: 'Send a link to choose another password',
      },
      async (arrival) => {
        const form = await readForm(arrival, baseUrl);
        const { mail } = services;
        if (!mail) return noMailPage();
        // Nobody waits for it: whether there is such an account shows neither in the words nor in the time of the answer.
        void send(options, mail, form.get('email') ?? '', arrival.peer);
        return card(
          'Check your mail',
          html`<p>
              If there is an account with this address, a link is on its way to it. It works once, for
              ${resetMinutes} minutes.
            </p>
            <p><a href="/sign-in">Back to signing in</a></p>`,
        );
      },
    ),
    pageRoute(
      { method: 'GET', path: '/reset/{token}', name: 'reset.page', summary: 'Choose another password' },
      async (_, token) => ((await accountOfReset(store, token, nowMs())) ? choosePage() : noReset()),
    ),
    pageRoute(
      { method: 'POST', path: '/reset/{token}', name: 'reset.set', summary: 'Set another password' },
      (arrival, token) => choose(options, arrival, token),
    ),
  ];
}

async function choose(
  { services, passwords }: ResetPages,
  arrival: Arrival,
  token: string,
): Promise<RawAnswer> {
  const { store, sealing, baseUrl, nowMs } = services;
  const form = await readForm(arrival, baseUrl);
  const accountId = await accountOfReset(store, token, nowMs());
  const account = accountId === null ? null : await accountById(store, accountId);
  if (!account) return noReset();
  const password = passwordOf(form);
  const wrong = passwordProblem(password, [account.name, account.email]);
  if (wrong !== null) return choosePage(wrong);
  const passwordHash = await passwords.hash(password);
  if (!(await resetPassword(store, { token, accountId: account.id, passwordHash }, nowMs())))
    return noReset();
  noticeOf(services, account.email, 'The password was changed by a link.');
  // Whoever guesses at the account meanwhile does not keep its owner from signing in here.
  const device = rememberDevice(sealing, arrival.headers, account.id);
  return leadTo(baseUrl, '/sign-in?reset', [device]);
}

async function send(
  { services, limits }: ResetPages,
  mail: Mail,
  email: string,
  peer: string,
): Promise<void> {
  const { store, log } = services;
  try {
    const account = await accountByEmail(store, email);
    if (!account || !limits.take(account.id, peer)) return;
    const { url, op } = newReset(services, account.id);
    await store.commit([op]);
    mail.post({
      to: account.email,
      subject: 'Choose another password',
      text: [
        `Somebody, probably you, asked for another password for your account on ${services.baseUrl}.`,
        `Choose it here within ${resetMinutes} minutes:`,
        url,
        'If it was not you, leave this link alone: nothing is changed.',
      ].join('\n\n'),
    });
  } catch (error) {
    log('warn', 'a link to reset a password could not be made', { error: errorForLog(error) });
  }
}

function askPage(): RawAnswer {
  return card(
    'Forgot your password?',
    html`<form method="post">
      <label
        >E-mail<small>A link to choose another password is sent to it.</small
        ><input type="email" name="email" autocomplete="username" maxlength="254" required
      /></label>
      <button>Send the link</button>
    </form>`,
  );
}

function noMailPage(): RawAnswer {
  return card(
    'Forgot your password?',
    html`<p>
      This server sends no mail. Ask who runs it for a link: <code>tatami members reset</code> makes one.
    </p>`,
  );
}

function choosePage(wrong?: string): RawAnswer {
  return card(
    'Choose another password',
    html`${wrong === undefined ? null : problem(wrong)}
      <form method="post">
        ${newPasswordField('New password')}
        <button>Set the password</button>
      </form>
      <p>All sessions of the account end with it.</p>`,
    wrong === undefined ? {} : { status: 422 },
  );
}

function noReset(): RawAnswer {
  return card(
    'This link does not work',
    html`<p>
      It was used already, was replaced by a newer one, or is older than ${resetMinutes} minutes.
      <a href="/reset">Ask for another one</a>.
    </p>`,
    { status: 404 },
  );
}
