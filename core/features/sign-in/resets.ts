// Links that reset a forgotten password, mailed to the address of the account or created by the operator.
// Workspace admins cannot create them, because an account can be a member of several workspaces.
import {
  type LinkDeps,
  setPasswordOps,
  type Account,
  type AccountAddress,
  accountById,
  accountsByEmail,
  emailKeyOf,
  workspaceNamesOf,
} from '../people/index.ts';
import { mintLinkToken, tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { systemOp, type Op, type Store } from '../../platform/store/store.ts';
import { endOtherWaysInOps, firstProofOps, type AccountGrants } from './proof.ts';
import { endSessionsOp } from './sessions.ts';
import { readForm, html } from '../../kernel/html.ts';
import type { RawRequest, RawAnswer, Route } from '../../kernel/http/route.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import type { Mail } from '../../platform/lib/mail.ts';
import { passwordProblem } from './passwords.ts';
import { noticeOf } from './account/page.ts';
import { card, leadTo, pageRoute, problem, newPasswordField } from './page-parts.ts';
import { rememberDevice } from './limits.ts';
import { passwordOf } from './page.ts';
import type { SignInParts } from './runtime.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import type { passwordResetTable } from './tables.ts';

const resetMinutes = 30;

const ofInstallation = 'an account belongs to the installation, not to a workspace';
const putReset = systemStatement(
  'password_resets.put',
  ofInstallation,
  `INSERT INTO password_resets (account_id, token_hash, by_mail, created_at, expires_at)
   SELECT :account, :hash, :mail, :now, :expires
   WHERE EXISTS (SELECT 1 FROM accounts WHERE id = :account AND email_key = :key)
   ON CONFLICT (account_id) DO UPDATE SET token_hash = excluded.token_hash, by_mail = excluded.by_mail,
     created_at = excluded.created_at, expires_at = excluded.expires_at`,
);
const findReset = systemStatement<Pick<RowOf<typeof passwordResetTable>, 'account_id' | 'by_mail'>>(
  'password_resets.by_token',
  ofInstallation,
  'SELECT account_id, by_mail FROM password_resets WHERE token_hash = :hash AND expires_at > :now',
);
const useReset = systemStatement(
  'password_resets.use',
  ofInstallation,
  'DELETE FROM password_resets WHERE account_id = :account AND token_hash = :hash AND expires_at > :now',
);

/**
 * Creates a link, and the operation that stores it and replaces an earlier one.
 * @param isMailed true if only the address of the account receives the link
 */
export function newReset(
  { baseUrl, nowMs }: LinkDeps,
  { id, emailKey }: AccountAddress,
  isMailed: boolean,
): { url: string; expiresAt: number; op: Op } {
  const { token, hash } = mintLinkToken();
  const now = nowMs();
  const expires = now + resetMinutes * 60_000;
  return {
    url: `${baseUrl}/reset/${token}`,
    expiresAt: expires,
    op: systemOp(
      putReset,
      { account: id, key: emailKey, hash, mail: Number(isMailed), now, expires },
      { expectRows: 1 },
    ),
  };
}

interface Reset {
  readonly accountId: string;
  readonly isMailed: boolean;
}

/**
 * @returns null if the link is unknown, used, replaced or expired, or the password or address has changed
 * since
 */
async function findResetBy(store: Store, token: string, now: number): Promise<Reset | null> {
  const [row] = await store.readSystem(findReset, { hash: tokenHash(token), now });
  return row ? { accountId: row.account_id, isMailed: row.by_mail === 1 } : null;
}

/**
 * Sets a new password with a link, and ends all sessions and grants of the account. A mailed link verifies
 * the address. Another link does not: for an account with an unverified address it removes passkeys and
 * linked accounts, which another person may have added.
 * @returns false if the link was used already
 */
async function resetPassword(
  grants: AccountGrants,
  account: Account,
  { token, isMailed, passwordHash }: { token: string; isMailed: boolean; passwordHash: string },
  now: number,
): Promise<boolean> {
  const firstOps = isMailed ? firstProofOps(account, now) : endOtherWaysInOps(account.id);
  const outcome = await grants.endWith(account.id, [
    systemOp(useReset, { account: account.id, hash: tokenHash(token), now }, { expectRows: 1 }),
    ...setPasswordOps(account.id, passwordHash, now),
    endSessionsOp(account.id),
    ...(account.isProven ? [] : firstOps),
  ]);
  return outcome.ok;
}

export function resetRoutes(parts: SignInParts): Route[] {
  const { services } = parts;
  const { store, baseUrl, nowMs } = services;
  return [
    pageRoute(
      {
        method: 'GET',
        path: '/reset',
        name: 'reset.ask',
        summary: 'Show the form that requests a reset link',
      },
      async () => (services.mail ? askPage() : noMailPage()),
    ),
    pageRoute(
      {
        method: 'POST',
        path: '/reset',
        name: 'reset.send',
        summary: 'Send a link that resets the password',
      },
      async (request) => {
        const form = await readForm(request, baseUrl);
        const { mail } = services;
        if (!mail) return noMailPage();
        // Runs in the background, so that the duration of the response does not disclose if the account
        // exists.
        void send(parts, mail, form.get('email') ?? '', request.peer);
        return card(
          'Check your e-mail',
          html`<p>
              If an account with this address exists, we sent it a link to reset the password. The link works
              once within ${resetMinutes} minutes.
            </p>
            <p><a href="/sign-in">Back to sign-in</a></p>`,
        );
      },
    ),
    pageRoute(
      {
        method: 'GET',
        path: '/reset/{token}',
        name: 'reset.page',
        summary: 'Show the form that sets a new password',
      },
      async (_, token) => ((await findResetBy(store, token, nowMs())) ? choosePage() : noReset()),
    ),
    pageRoute(
      { method: 'POST', path: '/reset/{token}', name: 'reset.set', summary: 'Set a new password' },
      (request, token) => choose(parts, request, token),
    ),
  ];
}

async function choose(
  { services, passwords, grants }: SignInParts,
  request: RawRequest,
  token: string,
): Promise<RawAnswer> {
  const { store, sealing, baseUrl, nowMs } = services;
  const form = await readForm(request, baseUrl);
  const reset = await findResetBy(store, token, nowMs());
  const account = reset && (await accountById(store, reset.accountId));
  if (!account) return noReset();
  const password = passwordOf(form);
  const wrong = passwordProblem(password, [account.name, account.email]);
  if (wrong !== null) return choosePage(wrong);
  const passwordHash = await passwords.hash(request.peer, password);
  const { isMailed } = reset;
  if (!(await resetPassword(grants, account, { token, isMailed, passwordHash }, nowMs()))) return noReset();
  const removed = isMailed ? 'passkeys, one-time codes and linked accounts' : 'passkeys and linked accounts';
  const also = account.isProven
    ? ''
    : ` All existing ${removed} were removed, because the address was not confirmed.`;
  noticeOf(services, account.email, `The password was reset with a link.${also}`);
  // Marks the browser as a known device, so that failed guesses of other people do not block a sign-in with
  // it.
  const device = rememberDevice(sealing, request.headers, account.id);
  return leadTo(baseUrl, '/sign-in?reset', [device]);
}

async function send(
  { services, resetLimits }: SignInParts,
  mail: Mail,
  email: string,
  peer: string,
): Promise<void> {
  const { store, log } = services;
  try {
    const all = await accountsByEmail(store, email);
    const [first] = all;
    if (!first || !resetLimits.take(emailKeyOf(email), peer)) return;
    // If several accounts have the unverified address, the mail has a link for each account.
    const resets = (first.isProven ? [first] : all).map((account) => ({
      account,
      ...newReset(services, account, true),
    }));
    await store.commit(resets.map(({ op }) => op));
    mail.post({
      to: first.email,
      subject: 'Reset your password',
      text: [
        `Somebody, probably you, asked to reset the password of your account on ${services.baseUrl}.`,
        `To set a new password, open this link within ${resetMinutes} minutes:`,
        ...(resets.length === 1
          ? [resets[0]!.url]
          : await Promise.all(resets.map((one) => linkOf(store, one)))),
        'If it was not you, ignore this message. Your password stays the same.',
      ].join('\n\n'),
    });
  } catch (error) {
    log('warn', 'could not send a link to reset a password', { error: errorForLog(error) });
  }
}

async function linkOf(store: Store, { account, url }: { account: Account; url: string }): Promise<string> {
  const workspaceNames = await workspaceNamesOf(store, account.id);
  return `${workspaceNames.length === 0 ? 'For the account without a workspace' : `For the account in ${workspaceNames.join(', ')}`}:\n${url}`;
}

function askPage(): RawAnswer {
  return card(
    'Forgot your password?',
    html`<form method="post">
      <label
        >E-mail<small>We send a link to reset the password to this address.</small
        ><input type="email" name="email" autocomplete="username" maxlength="254" required
      /></label>
      <button>Send link</button>
    </form>`,
  );
}

function noMailPage(): RawAnswer {
  return card(
    'Forgot your password?',
    html`<p>
      This server sends no mail. Ask your administrator for a link, which <code>tatami members reset</code>
      creates.
    </p>`,
  );
}

function choosePage(wrong?: string): RawAnswer {
  return card(
    'Choose a new password',
    html`${wrong === undefined ? null : problem(wrong)}
      <form method="post">
        ${newPasswordField('New password')}
        <button>Set password</button>
      </form>
      <p>
        This ends all sessions of the account and revokes the access of all apps. If your address was not
        confirmed before, it also removes existing passkeys, one-time codes and linked accounts.
      </p>`,
    wrong === undefined ? {} : { status: 422 },
  );
}

function noReset(): RawAnswer {
  return card(
    'This link does not work',
    html`<p>
      This link was already used, replaced by a newer one, or is older than ${resetMinutes} minutes.
      <a href="/reset">Request a new link</a>.
    </p>`,
    { status: 404 },
  );
}
