// Reads the API reference as a newcomer does: opens it, gives a key, sends the first request. Prints what the browser saw as JSON.
// Arguments: address, key, file of the screenshot.
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
await page.getByPlaceholder('Token').first().fill(key);
await page.screenshot({ path: screenshot });
await page.getByText('Issues', { exact: true }).first().click();
await page
  .getByRole('link', { name: /^List issues/ })
  .first()
  .click();
await page
  .getByRole('button', { name: /^Test Request/ })
  .first()
  .click();
const client = page.getByRole('dialog');
await client.getByRole('button', { name: /^Send get request/ }).click();
await client.getByText('200 OK').waitFor();
const answer = await client.locator('.cm-content').last().innerText();
await browser.close();

console.log(JSON.stringify({ complaints, requests, answer }));
