// Signs a person in without the pages.
import { newAccount, addMembershipOp } from '../../../core/features/people/accounts.ts';
import { createSessions, type SignedIn } from '../../../core/features/sign-in/sessions.ts';
import type { FirstWorkspace } from '../../../core/app/setup/first-workspace.ts';
import type { TestApp } from '../../app.ts';

export interface Person {
  readonly accountId: string;
  readonly memberId: string;
  readonly who: SignedIn;
  /** The cookie header of the browser. */
  readonly cookie: string;
}

/**
 * @param memberId by default the owner of the workspace
 * @param passwordHash by default the person has no password
 */
export async function signIn(
  app: TestApp,
  { workspaceId, userId }: Pick<FirstWorkspace, 'workspaceId' | 'userId'> = app.workspace,
  memberId: string = userId,
  passwordHash: string | null = null,
): Promise<Person> {
  const { services } = app;
  const account = newAccount(services, {
    ...{ name: 'Ana', email: `${memberId}@acme.example` },
    passwordHash,
  });
  await services.store.commit([
    account.op,
    addMembershipOp(account.id, workspaceId, memberId, services.nowMs()),
  ]);
  const sessions = createSessions(services);
  const [cookie = ''] = (await sessions.begin(account.id, { address: '127.0.0.1', agent: 'test' })).split(
    ';',
  );
  const who = await sessions.find(new Headers({ cookie }));
  if (!who) throw new Error('Nobody is signed in.');
  return { accountId: account.id, memberId, who, cookie };
}

/** Makes the sign-in of a person recent, as `/sign-in/again` does. */
export function proveAgain({ services }: TestApp, { who }: Person): Promise<void> {
  return createSessions(services).prove(who.sessionId);
}

/** Exchanges the session of a person for a bearer, as the web app does. @param workspace by default the first one */
export async function bearerOf(
  app: TestApp,
  { who, cookie }: Person,
  workspace: string | null = null,
): Promise<string> {
  const { status, json } = await app.clientOf(null)(
    'POST',
    '/session/token',
    { formToken: who.formToken, workspace },
    { cookie, origin: app.url, 'sec-fetch-site': 'same-origin' },
  );
  if (status !== 200) throw new Error(`The exchange failed with status ${status}.`);
  return json.token as string;
}
