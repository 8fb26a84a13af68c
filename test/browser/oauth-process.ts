// Authorizes apps in a browser: signs in, consents, denies one, and connects a device; then the same without
// scripts. Prints the redirects, browser errors and axe violations. Arguments: set-up link; authorization
// URLs of a registered app, an unverified app and the MCP endpoint; codes of two devices; server address.
import { openBrowser } from './browser.ts';
import { visitAs, type Visit } from './people.ts';

const [setUp = '', known = '', stranger = '', agent = '', code = '', another = '', url = ''] =
  process.argv.slice(2);
const password = 'seven geese over the pond';
const browser = await openBrowser();
const violations: string[] = [];
const seen: string[] = [];

async function look(visit: Visit): Promise<void> {
  const name = await visit.page.title();
  seen.push(name);
  violations.push(...(await visit.violations()).map((violation) => `${name}: ${violation}`));
}

async function signIn({ page, press }: Visit): Promise<void> {
  await page.getByLabel('E-mail').fill('ana@acme.example');
  await page.getByLabel('Password').fill(password);
  await press('Sign in');
}

/** Returns the parameters of the redirect to the app. */
const cameBackWith = ({ page }: Visit): string =>
  [...new URL(page.url()).searchParams.keys()].sort().join(' ');

async function connect(visit: Visit, typed: string): Promise<string> {
  await visit.page.goto(`${url}/device`);
  await visit.page.getByLabel('Code').fill(typed.toLowerCase());
  await visit.press('Continue');
  await visit.press('Allow');
  return visit.page.title();
}

const ana = await visitAs(browser);
await ana.page.goto(setUp);
await ana.page.getByLabel('Name').fill('Ana');
await ana.page.getByLabel('E-mail').fill('ana@acme.example');
await ana.page.getByLabel('Password').fill(password);
await ana.press('Create account');
await ana.page.goto(`${url}/account`);
await ana.press('Sign out');

const went: Record<string, string> = {};
await ana.page.goto(known);
await signIn(ana);
await look(ana);
await ana.page.getByLabel(/Read comments/).uncheck();
await ana.press('Allow');
went.known = cameBackWith(ana);
await ana.page.goto(stranger);
await look(ana);
await ana.press('Deny');
went.stranger = cameBackWith(ana);
await ana.page.goto(agent);
await look(ana);
await ana.press('Allow');
went.agent = cameBackWith(ana);
await ana.page.goto(`${url}/oauth/consent/gone`);
await look(ana);
await ana.page.goto(`${url}/device?user_code=WRON-GCDE`);
await look(ana);
await ana.press('Continue');
await look(ana);
went.device = await connect(ana, code);
await look(ana);
const complaints = [...ana.complaints];
await ana.close();

const plain = await visitAs(browser, { isScripted: false });
await plain.page.goto(known);
await signIn(plain);
await plain.press('Allow');
went.plain = cameBackWith(plain);
went.plainDevice = await connect(plain, another);
complaints.push(...plain.complaints);
await plain.close();

await browser.close();
console.log(JSON.stringify({ went, seen, complaints, violations }));
