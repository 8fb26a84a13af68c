// Writes on the issue page and in the dialog for new issues while requests fail and other people write. Prints what
// was lost and what was written twice.
import type { Page, Route } from 'playwright-core';
import { isSettled } from '../browser/people.ts';
import { api, openDriver, phone, say, target, until } from './browser.ts';

const driver = await openDriver();
const results: Record<string, unknown> = {};
const { page } = await driver.open('/issues');
await isSettled(page);

const countOf = async (title: string): Promise<number> => {
  const filter = encodeURIComponent(JSON.stringify({ title: { eq: title } }));
  return (await api<{ data: unknown[] }>('GET', `/issues?filter=${filter}`)).data.length;
};

async function openDialog(title: string): Promise<void> {
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'New issue' }).getByRole('textbox', { name: 'Title' }).fill(title);
}

const closed = (of: Page): Promise<void> =>
  of.getByRole('dialog', { name: 'New issue' }).waitFor({ state: 'hidden' });

// Two key presses before the dialog renders again.
await openDialog('Pressed twice');
await page
  .getByRole('dialog', { name: 'New issue' })
  .getByRole('textbox', { name: 'Title' })
  .evaluate((field) => {
    const press = { key: 'Enter', ctrlKey: true, bubbles: true };
    field.dispatchEvent(new KeyboardEvent('keydown', press));
    field.dispatchEvent(new KeyboardEvent('keydown', press));
  });
await closed(page);
results.pressedTwice = await countOf('Pressed twice');
await page.keyboard.press('c');
results.afterCreate = await page.getByRole('textbox', { name: 'Title', exact: true }).inputValue();
await page.keyboard.press('Escape');
await closed(page);

// The server creates the issue, and its answer is lost.
const lose = async (route: Route): Promise<void> => {
  if (route.request().method() !== 'POST') return route.fallback();
  await route.fetch();
  await route.abort();
};
await openDialog('Lost answer');
await page.route('**/api/v1/issues', lose);
await page.getByRole('button', { name: 'Create issue' }).click();
results.lostMessage = await page.getByRole('alert').getByText('may have been created').innerText();
await page.unroute('**/api/v1/issues', lose);
await page.getByRole('button', { name: 'Create issue' }).click();
await closed(page);
results.lostAnswer = await countOf('Lost answer');

// A file that is attached while the issue is reported.
await openDialog('With a file');
const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('note') };
await page.getByRole('dialog', { name: 'New issue' }).locator('input[type=file]').setInputFiles(note);
await page.getByRole('button', { name: 'Create issue' }).click();
await closed(page);
const byTitle = encodeURIComponent(JSON.stringify({ title: { eq: 'With a file' } }));
const reported = await api<{ data: { id: string; identifier: string }[] }>(
  'GET',
  `/issues?filter=${byTitle}`,
);
const attached = await api<{ data: { title: string }[] }>(
  'GET',
  `/issues/${reported.data[0]!.id}/attachments`,
);
results.attached = attached.data.map((one) => one.title);

// Activity that names the file and the other issue.
await api('POST', `/issues/${reported.data[0]!.id}/relations`, { type: 'blocks', issueId: 'ENG-34' });
await page.goto(`${target.url}/issues/${reported.data[0]!.identifier}`);
const activity = page.getByRole('list', { name: 'Timeline' });
await activity.getByText('added an attachment: note.txt').waitFor();
await activity.getByText('added a relation: blocks ENG-34').waitFor();
results.named = true;

// A draft that began as a sub-issue and is continued elsewhere.
await page.goto(`${target.url}/issues/ENG-30`);
await isSettled(page);
await page.getByRole('button', { name: 'Add sub-issue' }).click();
await page.getByText('Sub-issue of ENG-30').waitFor();
await page.getByRole('textbox', { name: 'Title', exact: true }).fill('Draft of a sub-issue');
await page.keyboard.press('Escape');
await closed(page);
await page.goto(`${target.url}/issues`);
await isSettled(page);
await page.keyboard.press('c');
await page.getByRole('button', { name: 'Create issue' }).click();
await closed(page);
const filter = encodeURIComponent(JSON.stringify({ title: { eq: 'Draft of a sub-issue' } }));
const drafted = await api<{ data: { parent: unknown }[] }>('GET', `/issues?filter=${filter}`);
results.hiddenParent = drafted.data[0]!.parent;

// Somebody renames the issue while its title is typed.
await page.goto(`${target.url}/issues/ENG-31`);
await isSettled(page);
const title = page.getByRole('textbox', { name: 'Edit title' });
await title.fill('Typed title');
await api('PATCH', '/issues/ENG-31', { title: 'Renamed by somebody else' });
await page.getByRole('heading', { name: 'Renamed by somebody else' }).waitFor({ state: 'attached' });
results.typedTitle = await title.inputValue();
await title.press('Enter');
await page.getByRole('heading', { name: 'Typed title' }).waitFor({ state: 'attached' });

// An edit of the description survives a reload, and a change of another field is no conflict.
await page.getByRole('button', { name: 'Edit description' }).click();
await page.getByRole('textbox', { name: 'Description' }).fill('- [ ] first task\n- [ ] second task');
await page.reload();
await isSettled(page);
results.afterReload = await page.getByRole('textbox', { name: 'Description' }).inputValue();
await api('PATCH', '/issues/ENG-31', { priority: 'high' });
await page.getByRole('button', { name: 'Save', exact: true }).click();
await page.getByRole('checkbox').nth(1).click();
await page.waitForFunction(() => document.querySelectorAll('input[type=checkbox]:checked').length === 1);
results.task = (await api<{ description: string }>('GET', '/issues/ENG-31')).description;

// Activity beyond the first page of the timeline.
for (let at = 0; at < 55; at++) await api('PATCH', '/issues/ENG-32', { estimate: at + 1 });
await page.goto(`${target.url}/issues/ENG-32`);
await isSettled(page);
await page.getByRole('button', { name: 'Load earlier activity' }).click();
await page.getByText('created the issue').waitFor();
results.earlier = true;

// An upload that gets no answer.
await page.route('**/attachments/upload**', (route) => route.abort());
await page.locator('input[type=file]').setInputFiles({
  name: 'trace.txt',
  mimeType: 'text/plain',
  buffer: Buffer.from('trace'),
});
results.upload = await page.getByText('trace.txt was not uploaded').innerText();

// Fields by keys, the parent by a search, and a mention by the start of a name.
await page.goto(`${target.url}/issues/ENG-33`);
await isSettled(page);
await page.keyboard.press('p');
await page.getByRole('combobox', { name: 'Search' }).fill('urg');
await page.locator('[role=option][data-highlighted]', { hasText: 'Urgent' }).waitFor();
await page.keyboard.press('Enter');
await page.getByRole('combobox', { name: 'Priority: Urgent' }).waitFor();
// A letter on the focused button is a shortcut, and does not pick the value that begins with it, here `low`.
results.focusAfterPick = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
await page.keyboard.press('l');
await page.getByRole('dialog', { name: 'Labels' }).waitFor();
await page.keyboard.press('Escape');
await page.getByRole('dialog', { name: 'Labels' }).waitFor({ state: 'hidden' });
await page.getByRole('button', { name: 'Change parent' }).click();
await page.getByRole('dialog', { name: 'Change parent' }).getByRole('combobox').fill('ENG-30');
await page.getByRole('option', { name: /ENG-30 / }).click();
await page.getByRole('complementary', { name: 'Fields' }).getByRole('link', { name: 'ENG-30' }).waitFor();
const mention = page.getByRole('textbox', { name: 'Comment' });
await mention.pressSequentially('Ask @an');
await page.getByRole('option', { name: 'Ana' }).waitFor();
await mention.press('Enter');
await mention.pressSequentially('please');
results.mention = await mention.inputValue();
await page.getByRole('button', { name: 'Add comment' }).click();
await page.getByRole('listitem').getByText('Ask @Ana please').waitFor();
const { data } = await api<{ data: { mentions: { name: string }[] }[] }>('GET', '/issues/ENG-33/comments');
results.mentioned = data[0]!.mentions.map(({ name }) => name);
const changed = await api<{ priority: string; parent: { identifier: string } }>('GET', '/issues/ENG-33');
results.fields = [changed.priority, changed.parent.identifier];

// A list that a touch opens leaves the keyboard of the phone closed, which would cover it.
const touched = await driver.open('/issues/ENG-33', phone);
await isSettled(touched.page);
await touched.page.getByRole('combobox', { name: /^State/ }).tap();
await touched.page.locator('[role=dialog]:focus').waitFor();
results.touched = await touched.page.locator(':focus').getAttribute('aria-label');
await touched.close();

// Sub-issues are moved by mouse, to the start, down by one and to the end, and by key.
const parent = await api('POST', '/issues', { team: 'ENG', title: 'Three parts' });
for (const part of ['First', 'Second', 'Third'])
  await api('POST', '/issues', { team: 'ENG', title: part, parentId: parent.id });
await page.goto(`${target.url}/issues/${parent.identifier}`);
const parts = page.getByRole('list', { name: 'Sub-issues' }).getByRole('listitem');
await parts.nth(2).and(page.locator('[draggable=true]')).waitFor();
const order = async (): Promise<string> => {
  const of = `/issues?parent=${parent.id}&sort=subOrder`;
  return (await api<{ data: { title: string }[] }>('GET', of)).data.map((one) => one.title).join(', ');
};
/** Waits until the page and the server have the order. */
async function ordered(titles: string): Promise<void> {
  const link = parts.getByRole('link');
  const shown = async (): Promise<string> =>
    (await link.allInnerTexts()).map((line) => line.split(' ').at(-1)).join(', ');
  await until(async () => (await shown()) === titles && (await order()) === titles, titles);
}
await parts.nth(2).dragTo(parts.nth(0), { targetPosition: { x: 90, y: 3 } });
await ordered('Third, First, Second');
await parts.nth(0).dragTo(parts.nth(1), { targetPosition: { x: 90, y: 28 } });
await ordered('First, Third, Second');
await parts.nth(0).dragTo(parts.nth(2), { targetPosition: { x: 90, y: 28 } });
await ordered('Third, Second, First');
await page
  .getByRole('button', { name: /^Move .* up$/ })
  .nth(1)
  .press('Enter');
await ordered('Second, Third, First');
results.sorted = await order();

// A text that takes minutes to parse: the page answers meanwhile.
const hard = await api('POST', '/issues', {
  team: 'ENG',
  title: 'Nested lists',
  description: '- 1. '.repeat(40_000),
});
await page.goto(`${target.url}/issues/${hard.identifier}`);
const comment = page.getByRole('textbox', { name: 'Comment' });
await comment.fill('Typed while the text is parsed');
results.responsive = await page.getByText('- 1. - 1.').first().isVisible();

await driver.browser.close();
say(results);
