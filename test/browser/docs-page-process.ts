// Opens the API reference, enters a key and sends a request. Prints the state of the page as JSON. Arguments:
// address, key, screenshot file.
import { openBrowser } from './browser.ts';

const [url = '', key = '', screenshot = ''] = process.argv.slice(2);
const complaints: string[] = [];
const requests: { url: string; status: number }[] = [];

const browser = await openBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.on('console', (said) => {
  if (said.type() === 'error' || said.type() === 'warning') complaints.push(said.text());
});
page.on('pageerror', (error) => complaints.push(String(error)));
page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
page.on('response', (response) => requests.push({ url: response.url(), status: response.status() }));

await page.goto(`${url}/docs`);
await page.getByRole('button', { name: 'Authorize' }).first().click();
const dialog = page.locator('.dialog-ux');
await dialog.locator('input[type=text]').first().fill(key);
await dialog
  .getByRole('button', { name: /^Apply/ })
  .first()
  .click();
await dialog.getByRole('button', { name: 'Close', exact: true }).first().click();
await page.screenshot({ path: screenshot });
await page.locator('#operations-tag-issues').click();
const operation = page.locator('.opblock-get').filter({ has: page.locator('[data-path="/api/v1/issues"]') });
await operation.locator('.opblock-summary-control').click();
await operation.getByRole('button', { name: 'Try it out' }).click();
await operation.getByRole('button', { name: 'Execute' }).click();
const live = operation.locator('.live-responses-table');
await live.getByText('200', { exact: true }).first().waitFor();
const answer = await live.locator('.response-col_description pre').first().innerText();
await browser.close();

console.log(JSON.stringify({ complaints, requests, answer }));
