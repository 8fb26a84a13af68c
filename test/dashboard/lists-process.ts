// Chooses what the rows of a list show, and changes all issues of a list at once. Prints what the list shows.
import type { Page } from 'playwright-core';
import { isSettled } from '../browser/people.ts';
import { api, openDriver, say, target, until } from './browser.ts';

const driver = await openDriver();
const results: Record<string, unknown> = {};

async function go(page: Page, path: string): Promise<void> {
  await page.goto(target.url + path);
  await page.getByRole('grid').waitFor();
  await isSettled(page);
}

/** Checks and unchecks fields in the dialog of the list. */
async function choose(page: Page, ...names: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Fields of the rows' });
  for (const name of names) await dialog.getByLabel(name, { exact: true }).click();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

const search = (page: Page): string => decodeURIComponent(new URL(page.url()).search);

async function chooseFields(page: Page): Promise<void> {
  const { identifier } = await api('POST', '/issues', {
    team: 'ENG',
    title: 'With an estimate',
    estimate: 5,
  });
  const row = page.getByRole('row', { name: /With an estimate/ });
  await go(page, '/issues');
  results.estimate = await row.getByTitle('Estimate: 5').isVisible();
  results.address = search(page);
  await choose(page, 'Estimate', 'Priority', 'Creator');
  await row.getByText('Creator: ').waitFor();
  results.chosen = search(page);
  results.hidden =
    (await row.getByTitle('Estimate: 5').count()) +
    (await row.getByRole('img', { name: 'No priority' }).count());
  await page.getByRole('button', { name: 'Density' }).click();
  await page.getByRole('menuitem', { name: 'Compact' }).click();
  await page.waitForURL(/density=compact/);
  const shared = page.url();

  // The list is remembered, each on its own.
  await go(page, '/issues');
  await page.waitForURL(/show=/);
  results.remembered = search(page);
  await go(page, `/views/${target.ids['view']}`);
  await page.waitForURL(/density=/);
  results.view = search(page);

  // A copied address shows the same rows to somebody else.
  const other = await driver.open(shared.replace(target.url, ''));
  await other.page
    .getByRole('row', { name: /With an estimate/ })
    .getByText('Creator: ')
    .waitFor();
  results.sharedHeight = (await other.page.getByRole('row').first().boundingBox())?.height;
  // The fields stay in their browser, and the density follows the person.
  await go(other.page, '/issues');
  await other.page.waitForURL(/density=/);
  results.others = search(other.page);
  await other.close();

  await go(page, '/issues');
  await page.waitForURL(/show=/);
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  await page.getByRole('button', { name: 'Restore the default' }).click();
  await page.waitForURL((url) => !url.search.includes('show='));
  await page.keyboard.press('Escape');
  // A click on a title opens the issue without another page.
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  await row.getByRole('link').click();
  await page.waitForURL(`**/issues/${identifier}`);
  results.opensInApp = await page.evaluate(() => 'isSamePage' in globalThis);
  await go(page, '/issues');
  await api('DELETE', `/issues/${identifier}`);
}

const countOf = async (filter: object): Promise<number> =>
  (await api<{ count: number }>('GET', `/issues/count?filter=${encodeURIComponent(JSON.stringify(filter))}`))
    .count;

async function changeAll(page: Page): Promise<void> {
  const all = await countOf({});
  const urgent = await countOf({ priority: 'urgent' });
  await go(page, '/issues');
  // A step of the progress may be shown for a moment only.
  await page.evaluate(() => {
    const progress: string[] = [];
    Object.assign(globalThis, { progress });
    new MutationObserver(() => {
      const label = document.querySelector('[role=progressbar]')?.getAttribute('aria-label');
      if (label !== undefined && label !== null) progress.push(label);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await page.getByRole('row').first().focus();
  await page.keyboard.press('Control+a');
  const bar = page.getByRole('region', { name: 'Change the selected issues' });
  await bar.getByRole('button', { name: `Select all ${all}` }).click();
  await bar.getByText(`${all} selected`).waitFor();
  await bar.getByRole('combobox', { name: 'Priority' }).click();
  await page.getByRole('option', { name: 'Urgent' }).click();
  const preview = page.getByRole('dialog', { name: 'Change issues' });
  await preview.getByText(`${all - urgent} of ${all} issues change.`).waitFor();
  await preview.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(`${all - urgent} issues changed.`).waitFor();
  results.progress = await page.evaluate(() => (globalThis as unknown as { progress: string[] }).progress);
  results.changed = (await countOf({ priority: 'urgent' })) === all;
  await page.getByRole('button', { name: 'Undo' }).click();
  results.undone = await until(
    async () => (await countOf({ priority: 'urgent' })) === urgent,
    'all is undone',
  );
}

/** Changes the filter of a view, discards the change, and stores another. */
async function filterView(page: Page): Promise<void> {
  const { id } = await api('POST', '/views', {
    name: 'High',
    visibility: 'shared',
    filter: { priority: ['high'] },
  });
  // No issue may match.
  await page.goto(`${target.url}/views/${id}`);
  const chip = page.getByRole('button', { name: 'Priority is High', exact: true });
  await chip.waitFor();
  await page.getByRole('button', { name: 'Remove the filter Priority is High' }).click();
  await page.waitForURL(/filter=/);
  results.withoutChips = search(page);
  await page.getByRole('button', { name: 'Reset' }).click();
  await chip.waitFor();
  results.reset = search(page);
  await page.getByRole('button', { name: 'Remove the filter Priority is High' }).click();
  await page.getByRole('button', { name: 'Update view' }).click();
  await page.waitForURL((url) => !url.search.includes('filter='));
  results.updated = (await api<{ filter: object }>('GET', `/views/${id}`)).filter;
  await api('DELETE', `/views/${id}`);
}

async function selectRange(page: Page): Promise<void> {
  await go(page, '/issues');
  const boxes = page.getByRole('grid').getByRole('checkbox');
  await boxes.nth(1).click();
  await boxes.nth(4).click({ modifiers: ['Shift'] });
  results.range = await page
    .locator('[role=row][aria-selected=true]')
    .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('data-index'))));
}

/** Moves a card to another swimlane, and to another column of it. */
async function moveToLane(page: Page): Promise<void> {
  const { identifier } = await api('POST', '/issues', { team: 'ENG', title: 'Laned card' });
  const other = await api('POST', '/issues', {
    team: 'ENG',
    title: 'Laned other',
    assigneeId: target.member,
  });
  const filter = encodeURIComponent(JSON.stringify({ title: { contains: 'Laned' } }));
  await page.goto(`${target.url}/issues?layout=board&group=priority&filter=${filter}`);
  await page.getByRole('button', { name: 'Swimlanes' }).click();
  await page.getByRole('menuitem', { name: 'Assignee' }).click();
  await page.waitForURL(/lanes=assignee/);
  const card = page.getByRole('listitem', { name: /Laned card/ });
  await card.getByRole('link').focus();
  for (const key of ['Space', 'ArrowDown', 'ArrowLeft', 'Space']) await page.keyboard.press(key);
  const moved = page
    .getByRole('list', { name: /^Low, (?!No assignee)/ })
    .getByRole('listitem', { name: /Laned card/ });
  await moved.waitFor();
  const shown = async () => {
    const { assignee, priority } = await api<{ assignee: { id: string } | null; priority: string }>(
      'GET',
      `/issues/${identifier}`,
    );
    return [assignee?.id === target.member, priority];
  };
  await until(async () => (await shown())[1] !== 'none', 'the move to the other lane');
  results.lane = await shown();
  for (const name of [identifier, other.identifier]) await api('DELETE', `/issues/${name}`);
}

const tab = await driver.open('/welcome');
await moveToLane(tab.page);
await chooseFields(tab.page);
await changeAll(tab.page);
await filterView(tab.page);
await selectRange(tab.page);
await driver.browser.close();
say({ ...results, complaints: tab.complaints });
