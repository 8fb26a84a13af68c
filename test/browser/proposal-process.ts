// Decides on proposals in a real browser, with and without scripts. Prints axe violations, browser errors and
// page titles. Arguments: server address, session cookie, ids of two proposals.
import { openBrowser } from './browser.ts';
import { visitAs, type Visit } from './people.ts';

const [url = '', cookie = '', first = '', second = ''] = process.argv.slice(2);
const [name = '', value = ''] = cookie.split('=');
const browser = await openBrowser();
const violations: string[] = [];
const complaints: string[] = [];

async function visit(isScripted: boolean): Promise<Visit> {
  const opened = await visitAs(browser, { isScripted });
  await opened.context.addCookies([
    { name, value, url: url.replace('http:', 'https:'), secure: true, httpOnly: true },
  ]);
  return opened;
}

const scripted = await visit(true);
const look = async (): Promise<void> => void violations.push(...(await scripted.violations()));
await scripted.page.goto(`${url}/proposals/${first}`);
const title = await scripted.page.title();
await look();
await scripted.page.emulateMedia({ colorScheme: 'dark' });
await look();
await scripted.press('Approve');
const approved = await scripted.page.getByRole('status').innerText();
await look();
await scripted.page.goto(`${url}/proposals/prp_00000000000000000000000000`);
await look();
complaints.push(...scripted.complaints.filter((one) => !one.includes('404')));
await scripted.close();

const plain = await visit(false);
await plain.page.goto(`${url}/proposals/${second}`);
await plain.page.getByLabel(/^Reason/).fill('Not this week');
await plain.press('Reject');
const rejected = await plain.page.getByRole('status').innerText();
complaints.push(...plain.complaints);
await browser.close();

console.log(JSON.stringify({ title, approved, rejected, violations, complaints }));
