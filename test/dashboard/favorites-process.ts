// Marks favorites and sets preferences in one tab, and watches another tab and another browser. Prints what they show.
import type { Page } from 'playwright-core';
import { api, openDriver, say, target } from './browser.ts';

const driver = await openDriver();
const results: Record<string, unknown> = {};

const favorites = (page: Page) => page.getByRole('list', { name: 'Favorites' });
const links = (page: Page): Promise<string[]> => favorites(page).getByRole('link').allInnerTexts();
const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme ?? 'system');
const untilTheme = (page: Page, wanted: string) =>
  page.waitForFunction((name) => document.documentElement.dataset.theme === name, wanted);

const issue = await api('POST', '/issues', { team: 'ENG', title: 'Starred' });
const first = await driver.open(`/issues/${issue.identifier}`);
const second = await first.another(`/boards/${target.ids.board}`);

await first.page.getByRole('button', { name: 'Add to favorites' }).click();
await first.page.getByRole('button', { name: 'Remove from favorites' }).waitFor();
await favorites(second.page)
  .getByRole('link', { name: `${issue.identifier} Starred` })
  .waitFor();
await second.page.getByRole('button', { name: 'Add to favorites' }).click();
await favorites(first.page).getByRole('link', { name: 'Work' }).waitFor();
results.added = await links(first.page);

const move = async (name: string, to: string): Promise<void> => {
  await second.page.getByRole('button', { name: `Actions of ${name}` }).click();
  await second.page.getByRole('menuitem', { name: to }).click();
};
await move('Work', 'Move up');
await favorites(first.page).getByRole('listitem').first().getByRole('link', { name: 'Work' }).waitFor();
await move('Work', 'Move down');
await favorites(first.page).getByRole('listitem').first().getByRole('link', { name: 'Starred' }).waitFor();
await move('Work', 'Move up');
await favorites(first.page).getByRole('listitem').first().getByRole('link', { name: 'Work' }).waitFor();
results.moved = await links(first.page);
results.violations = await second.violations();

await first.page.goto(`${target.url}/projects/${target.ids.project}`);
await api('PATCH', `/issues/${issue.id}`, { title: 'Renamed' });
await favorites(second.page).getByRole('link', { name: 'Renamed' }).waitFor();
await api('DELETE', `/issues/${issue.id}`);
await favorites(second.page).getByText('Unavailable').waitFor();
results.deleted = await favorites(second.page).getByRole('link').allInnerTexts();
await second.page.getByRole('button', { name: 'Actions of Unavailable' }).click();
await second.page.getByRole('menuitem', { name: 'Remove from favorites' }).click();
await favorites(second.page).getByText('Unavailable').waitFor({ state: 'detached' });
await second.page.getByRole('button', { name: 'Remove from favorites' }).click();
await favorites(second.page).waitFor({ state: 'detached' });

await first.page.getByRole('button', { name: /^Workspace: / }).click();
await first.page.getByRole('menuitem', { name: 'Preferences' }).click();
const dialog = first.page.getByRole('dialog', { name: 'Preferences' });
await dialog.getByLabel('Theme').selectOption('Dark');
await dialog.getByLabel('Start page').selectOption('Boards');
await dialog.getByRole('checkbox').uncheck();
await untilTheme(second.page, 'dark');
await second.page.waitForFunction(() => localStorage.getItem('tatami.preferences')?.includes('"boards"'));
await second.page.keyboard.press('c');
results.dialogs = await second.page.getByRole('dialog').count();

// Another browser has no copy, and reads the preferences from the server.
const other = await driver.open('/issues');
await untilTheme(other.page, 'dark');
await other.page.waitForFunction(() => localStorage.getItem('tatami.preferences')?.includes('"boards"'));
// With a copy, the first paint does not wait for the server.
await other.page.route('**/me/preferences', () => undefined);
await other.page.goto(`${target.url}/`);
await other.page.getByRole('heading', { name: 'Boards' }).waitFor();
results.painted = [await theme(other.page), new URL(other.page.url()).pathname];

// The later tests start with the preferences of a new member.
await dialog.getByLabel('Theme').selectOption('System');
await dialog.getByLabel('Start page').selectOption('My issues');
await dialog.getByRole('checkbox').check();
await second.page.waitForFunction(
  () =>
    (JSON.parse(localStorage.getItem('tatami.preferences')!) as { singleKeyShortcuts: boolean })
      .singleKeyShortcuts,
);

results.complaints = [...first.complaints, ...other.complaints];
await driver.browser.close();
say(results);
