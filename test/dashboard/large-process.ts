// Opens a list of many issues, scrolls it to its end, filters and groups it. Prints what it shows. Its second argument is
// the number of issues.
import { isSettled } from '../browser/people.ts';
import { openDriver, say } from './browser.ts';

const count = Number(process.argv[3]);
const driver = await openDriver();
const tab = await driver.open('/issues');
const { page } = tab;
page.setDefaultTimeout(120_000);
const grid = page.getByRole('grid');
const headingOf = async (): Promise<string> =>
  (await page.getByRole('heading', { level: 1 }).innerText()).trim();
await grid.getByRole('row').first().waitFor();
await isSettled(page);
const heading = await headingOf();

/** Scrolls as far as the loaded rows reach, until the last one is the oldest issue. */
const last = page.locator(`[data-index="${count - 1}"]`);
while ((await last.count()) === 0)
  await grid.evaluate(async (element) => {
    const scroller = (element as unknown as { parentElement: { scrollTop: number; scrollHeight: number } })
      .parentElement;
    scroller.scrollTop = scroller.scrollHeight;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  });
const oldest = await last.getAttribute('aria-label');
const rows = await grid.getAttribute('aria-rowcount');

await page.getByRole('button', { name: '+ Filter' }).click();
await page.getByRole('menuitem', { name: 'Title' }).click();
const dialog = page.getByRole('dialog', { name: 'Title' });
await dialog.getByLabel('Value').fill('Many 77');
await dialog.getByRole('button', { name: 'Apply' }).click();
await page.waitForURL(/filter=/);
await grid
  .getByRole('row', { name: /Many 77/ })
  .first()
  .waitFor();
await isSettled(page);
const filtered = await headingOf();

await page.getByRole('button', { name: 'Clear filters' }).click();
await page.getByRole('button', { name: 'Group by' }).click();
await page.getByRole('menuitem', { name: 'Priority' }).click();
await page.getByRole('button', { name: 'Collapse Urgent' }).waitFor();
await isSettled(page);
const grouped = await grid.getByRole('row').first().innerText();
await driver.browser.close();
say({ heading, rows, oldest, filtered, grouped, complaints: tab.complaints });
