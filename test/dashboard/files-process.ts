// Shows attached images in the texts of an issue, and downloads files. Prints what the page requested and showed.
import { readFile } from 'node:fs/promises';
import { isSettled } from '../browser/people.ts';
import { api, openDriver, say, target } from './browser.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>globalThis.attacked = 1</script></svg>';

async function upload(issue: string, name: string, contentType: string, body: Buffer): Promise<string> {
  const path = `/api/v1/issues/${issue}/attachments/upload?name=${name}`;
  const response = await fetch(target.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.key}`, 'content-type': contentType },
    body: new Uint8Array(body),
  });
  return ((await response.json()) as { id: string }).id;
}

const contentOf = (id: string): string => `/api/v1/attachments/${id}/content`;
const { identifier } = await api('POST', '/issues', { team: 'ENG', title: 'With files' });
const image = await upload(identifier, 'shown.png', 'image/png', Buffer.from(png, 'base64'));
const disguised = await upload(identifier, 'disguised.png', 'image/png', Buffer.from(svg));
await upload(identifier, 'notes.txt', 'text/plain', Buffer.from('Three notes'));
const elsewhere = await upload('ENG-1', 'elsewhere.png', 'image/png', Buffer.from(png, 'base64'));
const description = [
  `![by path](${contentOf(image)})`,
  `![by URL](${target.url}${contentOf(image)})`,
  `![disguised](${contentOf(disguised)})`,
  `![of another issue](${contentOf(elsewhere)})`,
  '![of another server](https://images.example/a.png)',
  `![of another host](https://images.example${contentOf(image)})`,
].join('\n\n');
await api('PATCH', `/issues/${identifier}`, { description });
await api('POST', `/issues/${identifier}/comments`, { body: `![in a comment](${contentOf(image)})` });

const driver = await openDriver();
const { page, complaints, violations } = await driver.open('/welcome');
const requests: string[] = [];
page.on('request', (request) => {
  const { pathname, host } = new URL(request.url());
  const isFile =
    pathname.startsWith('/files/') || pathname.endsWith('/content') || host.startsWith('images.');
  if (isFile)
    requests.push(`${request.headers().authorization === undefined ? '' : 'with bearer '}${pathname}`);
});
await page.goto(`${target.url}/issues/${identifier}`);
await isSettled(page);
const shown = page.locator('img');
await page.getByRole('img', { name: 'in a comment' }).scrollIntoViewIfNeeded();
await page.getByRole('img', { name: 'disguised' }).first().waitFor({ state: 'detached' });
await page.waitForFunction(() =>
  [...document.querySelectorAll('img')].every(({ complete, naturalWidth }) => complete && naturalWidth > 0),
);
const results = {
  shown: (await shown.evaluateAll((all) => all.map((one) => (one as HTMLImageElement).alt))).toSorted(),
  remote: await page.getByRole('button', { name: /Load image from/ }).allTextContents(),
  requested: [...new Set(requests.map((path) => path.replace(/att_.*/, 'att_…')))],
  violations: await violations(),
};

await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
await page.getByRole('button', { name: 'Copy Markdown of shown.png' }).click();
const copied = await page.evaluate(() => navigator.clipboard.readText());

async function downloadOf(name: string): Promise<string> {
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: `Download ${name}` }).click();
  const download = await coming;
  return `${download.suggestedFilename()}: ${(await readFile(await download.path())).toString('latin1').slice(0, 11)}`;
}
const downloads = [
  await downloadOf('notes.txt'),
  await downloadOf('disguised.png'),
  await downloadOf('shown.png'),
];

// A person opens the URLs themselves: the image is displayed, the disguised file is saved. The policy forbids the style of the
// browser's own page around an image, which the browser reports.
const complaintsOfApp = [...complaints];
const urlOf = async (id: string): Promise<string> => {
  const { url } = await api<{ url: string }>('GET', `/attachments/${id}/url`);
  return target.url + new URL(url).pathname;
};
await page.goto(await urlOf(image));
const displayed = await page.evaluate(() => document.contentType);
const saving = page.waitForEvent('download');
await page.goto(await urlOf(disguised)).catch(() => null);
const saved = (await saving).suggestedFilename();
await driver.browser.close();
say({ ...results, copied, image, downloads, displayed, saved, complaints: complaintsOfApp });
