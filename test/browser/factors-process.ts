// A person adds a passkey and signs in with it, turns on one-time codes and signs in with one, and links an account at an outside provider
// and signs in by that. Then the pages once more in a browser that runs no script. Prints what axe found, what the browser complained of,
// and where each way in led. Arguments: set-up link, address of the server, its time in milliseconds since the epoch.
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
  const name = await page.title();
  seen.push(name);
  violations.push(...(await visit.violations()).map((found) => `${name}: ${found}`));
}

const ana = await visitAs(browser);
const { page } = ana;
const arrive = async (path: string): Promise<void> => {
  await page.waitForURL(`${url}${path}`);
  ledTo.push(page.url().slice(url.length));
};
const givePassword = async (visit: Visit): Promise<void> => {
  await visit.page.getByLabel('E-mail').fill(email);
  await visit.page.getByLabel('Password').fill(password);
  await visit.press('Sign in');
};

const inspector = await ana.context.newCDPSession(page);
await inspector.send('WebAuthn.enable');
await inspector.send('WebAuthn.addVirtualAuthenticator', {
  options: {
    ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
    ...{ isUserVerified: true, automaticPresenceSimulation: true },
  },
});

await page.goto(setUp);
await page.getByLabel('Name').fill('Ana');
await page.getByLabel('E-mail').fill(email);
await page.getByLabel('Password').fill(password);
await ana.press('Make the account');

await page.getByLabel('Name of the passkey').fill('Laptop');
await page.getByRole('button', { name: 'Add a passkey' }).click();
await arrive('/account?done=passkey-added');
await ana.press('Sign out');
await page.getByRole('button', { name: 'Use a passkey' }).click();
await arrive('/account');
// The inspector takes the authenticator away once axe has looked.
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
await arrive('/account');
await page.goto(`${url}/sign-in/again?to=/account`);
await look(ana);
// There is no authenticator any more.
await page.getByRole('button', { name: 'Use a passkey' }).click();
await page.getByRole('alert').filter({ hasText: '.' }).waitFor();
const refused = await page.getByRole('alert').innerText();
await page.goto(`${url}/account`);

await ana.press('Sign out');
await ana.page.getByRole('button', { name: 'Continue with North' }).click();
await arrive('/sign-in/code');
await page.getByLabel('Code').fill(recovery);
await ana.press('Sign in');
await arrive('/account');
const { complaints } = ana;
await ana.close();

const plain = await visitAs(browser, { isScripted: false });
await plain.page.goto(`${url}/sign-in`);
const offered = await plain.page.getByRole('button', { name: 'Use a passkey' }).isVisible();
await plain.page.getByRole('button', { name: 'Continue with North' }).click();
await plain.page.waitForURL(`${url}/sign-in/code`);
const unscripted = await plain.page.title();
complaints.push(...plain.complaints);
await browser.close();

console.log(JSON.stringify({ seen, violations, ledTo, offered, refused, unscripted, complaints }));
