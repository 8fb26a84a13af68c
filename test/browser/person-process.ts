// Controls a real browser: reads lists of actions as lines of JSON, and prints a page snapshot as a line of
// JSON after each list. Runs under Node.
import { createInterface } from 'node:readline';
import { openBrowser } from './browser.ts';
import { visitAs } from './people.ts';
import type { Deed, PageSnapshot } from './person.ts';

const browser = await openBrowser();
const { page, complaints, press, settle, violations } = await visitAs(browser);

/**
 * A page that waits for the first build of the app loads itself again, and the first page of a new workspace goes to `/welcome`. Both
 * end a navigation that has begun.
 */
const isInterrupted = /ERR_ABORTED|interrupted by another navigation/;

async function go(url: string): Promise<void> {
  try {
    await page.goto(url);
  } catch (error) {
    if (!isInterrupted.test(String(error))) throw error;
    await page.goto(url);
  }
}

async function act(deed: Deed): Promise<void> {
  switch (deed.do) {
    case 'go':
      return go(deed.url);
    case 'fill':
      return page.getByLabel(deed.label).first().fill(deed.text);
    case 'uncheck':
      return page.getByLabel(deed.label).first().uncheck();
    case 'press':
      return press(deed.name);
    case 'click':
      await page.getByRole('button', { name: deed.name }).first().click();
      return page.getByText(deed.shows).first().waitFor();
    case 'follow': {
      const next = page.waitForEvent('load');
      await page.getByRole('link', { name: deed.name }).first().click();
      await next;
      return;
    }
  }
}

async function see(): Promise<PageSnapshot> {
  await settle();
  return { text: await page.locator('body').innerText(), violations: await violations(), complaints };
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    for (const deed of JSON.parse(line) as Deed[]) await act(deed);
    console.log(JSON.stringify(await see()));
  } catch (error) {
    console.log(JSON.stringify({ failed: `${String(error)}\n${await page.locator('body').innerText()}` }));
  }
}
await browser.close();
