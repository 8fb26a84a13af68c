// Opens every screen in both themes and on a phone. Prints violations of axe, browser errors, titles, and screens that
// are wider than the phone.
import { isSettled } from '../browser/people.ts';
import { openDriver, phone, say, screens, target } from './browser.ts';

const driver = await openDriver();
const violations: string[] = [];
const titles: Record<string, string> = {};
const tab = await driver.open('/welcome');
const { page } = tab;
for (const path of screens) {
  await page.goto(target.url + path);
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await isSettled(page);
  titles[path] = await page.title();
  const note = (theme: string, found: readonly string[]): void =>
    void violations.push(...found.map((violation) => `${path} ${theme}: ${violation}`));
  await page.emulateMedia({ colorScheme: 'light' });
  note('light', await tab.violations());
  // The themes differ in colors alone.
  await page.emulateMedia({ colorScheme: 'dark' });
  note('dark', await tab.violations('color-contrast'));
}

const small = await driver.open('/welcome', phone);
const wide: string[] = [];
for (const path of screens) {
  await small.page.goto(target.url + path);
  await small.page.locator('main h1').first().waitFor({ state: 'attached' });
  const width = await small.page.evaluate(() => document.documentElement.scrollWidth);
  if (width > 360) wide.push(`${path}: ${width}`);
}

// Unknown and foreign objects look the same.
const missing: string[] = [];
for (const path of ['/issues/ENG-999999', '/boards/brd_00000000000000000000000001', '/nothing/here']) {
  const response = await page.goto(target.url + path);
  const heading = page.getByRole('heading', { name: 'Page not found' });
  await heading.waitFor();
  missing.push(`${response?.status()} ${await heading.innerText()}`);
}
const complaints = [...tab.complaints, ...small.complaints].filter((one) => !one.includes('404'));
await driver.browser.close();
say({ violations, titles, wide, missing, complaints });
