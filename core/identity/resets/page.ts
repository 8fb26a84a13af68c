// The pages for who forgot a password: asking for a link, and choosing another password by it.
import { readForm } from '../../html/form.ts';
import { html } from '../../html/html.ts';
import type { Arrival, RawAnswer, Route } from '../../http/route.ts';
import type { Services } from '../../context.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Mail } from '../../lib/mail.ts';
import { accountById, accountsByEmail, emailKeyOf, placesOf, type Account } from '../accounts/accounts.ts';
import { newPasswordField } from '../accounts/password-field.ts';
import { passwordProblem } from '../accounts/password-rules.ts';
import { noticeOf } from '../account/notices.ts';
import type { AccountGrants } from '../grants/ending.ts';
import type { Passwords } from '../accounts/passwords.ts';
import { card, leadTo, pageRoute, problem } from '../pages.ts';
import { rememberDevice } from '../sign-in/devices.ts';
import { passwordOf } from '../sign-in/page.ts';
import { findResetBy, newReset, resetMinutes, resetPassword } from './resets.ts';
import type { ResetLimits } from './limits.ts';

interface ResetPages {
  readonly services: Pick<Services, 'store' | 'sealing' | 'log' | 'mail' | 'baseUrl' | 'nowMs'>;
  readonly passwords: Passwords;
  readonly grants: AccountGrants;
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
      async (_, token) => ((await findResetBy(store, token, nowMs())) ? choosePage() : noReset()),
    ),
    pageRoute(
      { method: 'POST', path: '/reset/{token}', name: 'reset.set', summary: 'Set another password' },
      (arrival, token) => choose(options, arrival, token),
    ),
  ];
}

async function choose(
  { services, passwords, grants }: ResetPages,
  arrival: Arrival,
  token: string,
): Promise<RawAnswer> {
  const { store, sealing, baseUrl, nowMs } = services;
  const form = await readForm(arrival, baseUrl);
  const reset = await findResetBy(store, token, nowMs());
  const account = reset && (await accountById(store, reset.accountId));
  if (!account) return noReset();
  const password = passwordOf(form);
  const wrong = passwordProblem(password, [account.name, account.email]);
  if (wrong !== null) return choosePage(wrong);
  const passwordHash = await passwords.hash(arrival.peer, password);
  const { isMailed } = reset;
  if (!(await resetPassword(grants, account, { token, isMailed, passwordHash }, nowMs()))) return noReset();
  const removed = isMailed ? 'passkeys, one-time codes and linked accounts' : 'passkeys and linked accounts';
  const also = account.isProven
    ? ''
    : ` All ${removed} from before were removed, as the address was unconfirmed.`;
  noticeOf(services, account.email, `The password was changed by a link.${also}`);
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
    const all = await accountsByEmail(store, email);
    const [first] = all;
    if (!first || !limits.take(emailKeyOf(email), peer)) return;
    // Of those who only claim the address, the holder of the mailbox says which one is theirs.
    const made = (first.isProven ? [first] : all).map((account) => ({
      account,
      ...newReset(services, account, true),
    }));
    await store.commit(made.map(({ op }) => op));
    mail.post({
      to: first.email,
      subject: 'Choose another password',
      text: [
        `Somebody, probably you, asked for another password for your account on ${services.baseUrl}.`,
        `Choose it here within ${resetMinutes} minutes:`,
        ...(made.length === 1 ? [made[0]!.url] : await Promise.all(made.map((one) => linkOf(store, one)))),
        'If it was not you, leave this link alone: nothing is changed.',
      ].join('\n\n'),
    });
  } catch (error) {
    log('warn', 'a link to reset a password could not be made', { error: errorForLog(error) });
  }
}

async function linkOf(
  store: Services['store'],
  { account, url }: { account: Account; url: string },
): Promise<string> {
  const places = await placesOf(store, account.id);
  return `${places.length === 0 ? 'For the account without a workspace' : `For the account in ${places.join(', ')}`}:\n${url}`;
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
      <p>
        This ends all sessions of the account and revokes the access of all apps. If this is the first time
        that the address is confirmed, it also removes passkeys, one-time codes and linked accounts that were
        set up before.
      </p>`,
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
