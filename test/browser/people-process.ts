// Joins by the set-up link, signs out and in, and ends a session; then the same by an invitation without
// scripts. Prints browser errors and axe violations by page. Arguments: set-up link, invitation link, server
// address.
import { openBrowser } from './browser.ts';
import { visitAs, type Visit } from './people.ts';

const [setUp = '', invitation = '', url = ''] = process.argv.slice(2);
const password = 'seven geese over the pond';
const browser = await openBrowser();
const violations: string[] = [];
const seen: string[] = [];

async function look(visit: Visit): Promise<void> {
  await visit.settle();
  const name = await visit.page.title();
  seen.push(name);
  violations.push(...(await visit.violations()).map((violation) => `${name}: ${violation}`));
}

async function join(visit: Visit, link: string, name: string, email: string): Promise<void> {
  const { page } = visit;
  await page.goto(link);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await visit.press('Create account');
  await page.waitForURL(`${url}/welcome`);
  await page.goto(`${url}/account`);
}

async function signIn(visit: Visit, email: string, word = password): Promise<void> {
  const { page } = visit;
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(word);
  await visit.press('Sign in');
}

const ana = await visitAs(browser);
await ana.page.goto(setUp);
await look(ana);
await join(ana, setUp, 'Ana', 'ana@acme.example');
await look(ana);
await ana.press('Sign out');
await look(ana);
await signIn(ana, 'ana@acme.example');

const elsewhere = await visitAs(browser);
await signIn(elsewhere, 'ana@acme.example');
await ana.page.goto(`${url}/account`);
await ana.press(/^End the session/);
await look(ana);
await elsewhere.page.goto(`${url}/account`);
const ended = await elsewhere.page.title();
for (const path of ['/', '/issues/ENG-1', '/sign-in/again', '/join/gone', '/reset', '/reset/gone']) {
  await ana.page.goto(url + path);
  await look(ana);
}
await ana.page.goto(invitation);
await look(ana);
const complaints = [...ana.complaints, ...elsewhere.complaints];
await ana.close();

await signIn(elsewhere, 'ana@acme.example', 'wrong');
await look(elsewhere);
await elsewhere.page.emulateMedia({ colorScheme: 'dark' });
await look(elsewhere);
await elsewhere.close();

const ben = await visitAs(browser, { isScripted: false });
await join(ben, invitation, 'Ben', 'ben@acme.example');
await ben.press('Sign out');
await signIn(ben, 'ben@acme.example');
await ben.page.goto(`${url}/account`);
const unscripted = await ben.page.title();
complaints.push(...ben.complaints);
await ben.close();
await browser.close();

console.log(JSON.stringify({ seen, violations, ended, unscripted, complaints }));
