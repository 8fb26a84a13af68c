// Signs in with a passkey, a one-time code and a linked outside account; then the pages without scripts, and
// rejected passkeys: in a tab of an earlier session, with a decreased counter, and from before the address
// was proven. Prints axe violations, browser errors, notices and redirects. Arguments: set-up link, server
// address, its time in milliseconds since the epoch.
import { Secret, TOTP } from 'otpauth';
import { openBrowser } from './browser.ts';
import { visitAs, type Visit } from './people.ts';

const [setUp = '', url = '', startMs = ''] = process.argv.slice(2);
const email = 'ana@acme.example';
const password = 'seven geese over the pond';
const browser = await openBrowser();
const violations: string[] = [];
const seen: string[] = [];
const ledTo: string[] = [];

async function look({ page, ...visit }: Visit): Promise<void> {
  await visit.settle();
  const name = await page.title();
  seen.push(name);
  violations.push(...(await visit.violations()).map((violation) => `${name}: ${violation}`));
}

const ana = await visitAs(browser);
const { page } = ana;
const arrive = async (path: string): Promise<void> => {
  // The app leads on from its start page to the first screen.
  const places = path === '/' ? ['/', '/my-issues'] : [path];
  await page.waitForURL(({ href }) => places.includes(href.slice(url.length)));
  ledTo.push(path);
};
const givePassword = async (visit: Visit): Promise<void> => {
  await visit.page.getByLabel('E-mail').fill(email);
  await visit.page.getByLabel('Password').fill(password);
  await visit.press('Sign in');
};

/** Adds a virtual authenticator to the page. */
async function addAuthenticator() {
  const inspector = await ana.context.newCDPSession(page);
  await inspector.send('WebAuthn.enable');
  const { authenticatorId } = await inspector.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return { inspector, authenticatorId };
}
/** Returns the error text that the page shows for a rejected passkey. */
async function refusalOf(button: string, tab = page): Promise<string> {
  await tab.getByRole('button', { name: button }).click();
  await tab.getByRole('alert').filter({ hasText: '.' }).waitFor();
  return tab.getByRole('alert').innerText();
}
await addAuthenticator();

await page.goto(setUp);
await page.getByLabel('Name').fill('Ana');
await page.getByLabel('E-mail').fill(email);
await page.getByLabel('Password').fill(password);
await ana.press('Create account');
await page.waitForURL(`${url}/welcome`);

await page.goto(`${url}/account`);
await page.getByLabel('Name of the passkey').fill('Laptop');
await page.getByRole('button', { name: 'Add a passkey' }).click();
await arrive('/account?done=passkey-added');
await ana.press('Sign out');
await page.getByRole('button', { name: 'Use a passkey' }).click();
await arrive('/');
await page.goto(`${url}/account`);
await look(ana);

await ana.press('Turn on one-time codes');
await look(ana);
const secret = (await page.locator('code').innerText()).replaceAll(' ', '');
const codeOf = (steps: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Number(startMs) + steps * 30_000 });
await page.getByLabel('Code').fill('000000');
await ana.press('Turn on one-time codes');
await look(ana);
await page.getByLabel('Code').fill(codeOf(0));
await ana.press('Turn on one-time codes');
await look(ana);
const [recovery = ''] = await page.locator('code').allInnerTexts();
await page.goto(`${url}/account`);
await look(ana);
await ana.press('Link an account at North');
await arrive('/account?done=linked');
await look(ana);

await ana.press('Sign out');
await look(ana);
await givePassword(ana);
await look(ana);
await page.getByLabel('Code').fill('123456');
await ana.press('Sign in');
await look(ana);
await page.getByLabel('Code').fill(codeOf(1));
await ana.press('Sign in');
await arrive('/');
await page.goto(`${url}/sign-in/again?to=/account`);
await look(ana);
// The authenticator was removed.
const refused = await refusalOf('Use a passkey');
await page.goto(`${url}/account`);

await ana.press('Sign out');
await ana.page.getByRole('button', { name: 'Continue with North' }).click();
await arrive('/sign-in/code');
await page.getByLabel('Code').fill(recovery);
await ana.press('Sign in');
await arrive('/');
await page.goto(`${url}/account`);

const plain = await visitAs(browser, { isScripted: false });
await plain.page.goto(`${url}/sign-in`);
const offered = await plain.page.getByRole('button', { name: 'Use a passkey' }).isVisible();
await plain.page.getByRole('button', { name: 'Continue with North' }).click();
await plain.page.waitForURL(`${url}/sign-in/code`);
const unscripted = await plain.page.title();

const { inspector, authenticatorId } = await addAuthenticator();
await page.getByLabel('Name of the passkey').fill('Phone');
await page.getByRole('button', { name: 'Add a passkey' }).click();
await arrive('/account?done=passkey-added');
const earlier = await ana.context.newPage();
await earlier.goto(`${url}/account`);
const usePasskey = async (): Promise<void> => {
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await arrive('/');
  await page.goto(`${url}/account`);
};
await ana.press('Sign out');
await usePasskey();
await earlier.getByLabel('Name of the passkey').fill('Of the earlier session');
const inEarlierTab = await refusalOf('Add a passkey', earlier);
await earlier.close();

const { credentials } = await inspector.send('WebAuthn.getCredentials', { authenticatorId });
const countTo = async (signCount: number): Promise<void> => {
  const [credential] = credentials;
  await inspector.send('WebAuthn.clearCredentials', { authenticatorId });
  await inspector.send('WebAuthn.addCredential', {
    authenticatorId,
    credential: { ...credential!, signCount },
  });
};
await countTo(0);
await ana.press('Sign out');
const copied = await refusalOf('Use a passkey');
await countTo(1000);
await page.goto(`${url}/sign-in`);
await usePasskey();
await ana.press('Link an account at South');
await arrive('/account?done=linked');
await ana.press('Sign out');
const unproven = await refusalOf('Use a passkey');
const { complaints } = ana;
await ana.close();
complaints.push(...plain.complaints);
await browser.close();

console.log(
  JSON.stringify({
    seen,
    violations,
    ledTo,
    offered,
    refused,
    inEarlierTab,
    copied,
    unproven,
    unscripted,
    complaints,
  }),
);
