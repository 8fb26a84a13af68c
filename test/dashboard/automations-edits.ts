// Edits of stored automations in the browser: left, reloaded, in two tabs, and of a deleted automation.
import type { Locator, Page } from 'playwright-core';
import { isSettled } from '../browser/people.ts';
import { api, target, type Tab } from './browser.ts';

const description = (page: Page): Locator => page.getByRole('textbox', { name: 'Description', exact: true });
const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

async function go(page: Page, path: string): Promise<void> {
  await page.goto(target.url + path);
  await description(page).waitFor();
  await isSettled(page);
}

async function create(name: string, action: object = { type: 'comment', body: 'One' }): Promise<string> {
  const rule = { name, trigger: { type: 'event', event: 'issue.created' }, actions: [action] };
  return `/automations/${(await api('POST', '/automations', rule)).id}`;
}

const stored = async (path: string): Promise<string> =>
  (await api<{ description: string }>('GET', path)).description;

const isSaved = (page: Page): Promise<void> =>
  page.getByText('You have changes that are not saved.').waitFor({ state: 'detached' });

/** Leaves changes by the tabs of the page, a reload and the sidebar. */
async function leave(page: Page): Promise<object> {
  await go(page, await create('Left'));
  await description(page).fill('Typed');
  await page.getByRole('link', { name: 'Health' }).click();
  await page.getByRole('heading', { name: 'Recent runs' }).waitFor();
  await page.getByRole('link', { name: 'Rule', exact: true }).click();
  const byTab = await description(page).inputValue();
  await page.reload();
  await page.getByText('Your unsaved changes are shown.').waitFor();
  const byReload = await description(page).inputValue();
  const canEnable = await button(page, 'Enable').isEnabled();
  await button(page, 'Discard').first().press('Enter');
  const focused = await page.evaluate(() => document.activeElement?.getAttribute('name'));
  await page.reload();
  const discarded = await description(page).inputValue();
  await go(page, '/automations/new');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Half');
  await page.getByRole('link', { name: 'Automations', exact: true }).click();
  await page.getByRole('link', { name: 'New automation' }).click();
  const bySidebar = await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue();
  await button(page, 'Discard').press('Enter');
  return { byTab, byReload, canEnable, focused, discarded, bySidebar };
}

/** Saves an automation in one tab while another one has changes. */
async function conflict(tab: Tab): Promise<object> {
  const { page } = tab;
  const path = await create('Contended');
  const { page: other } = await tab.another(path);
  await description(other).waitFor();
  await go(page, path);
  await description(page).fill('Mine');
  await description(other).fill('Theirs');
  await button(other, 'Save').press('Enter');
  await other.getByText('Saved.', { exact: true }).waitFor();
  await page.getByText(/^Somebody else changed/).waitFor();
  await button(page, 'Save').press('Enter');
  await isSettled(page);
  const afterSave = await stored(path);
  const typed = await description(page).inputValue();
  const anyway = button(page, 'Save my version anyway');
  await anyway.press('Enter');
  await anyway.waitFor({ state: 'detached' });
  await isSaved(page);
  const afterSaveAnyway = await stored(path);
  await description(page).fill('Again');
  await api('PATCH', path, { stepDown: { share: 0.5, least: 5, days: 7 } });
  await button(page, 'Save').press('Enter');
  await isSaved(page);
  const besidesOthers = await stored(path);
  await other.close();
  return { afterSave, typed, afterSaveAnyway, besidesOthers, whileSaving: await typeOn(page, path) };
}

/** Types while a save is on its way. @returns the typed text, which the save does not contain */
async function typeOn(page: Page, path: string): Promise<readonly string[]> {
  const sending = Promise.withResolvers<void>();
  await page.route(target.url + `/api/v1${path}`, async (route) => {
    if (route.request().method() === 'PATCH') await sending.promise;
    await route.continue();
  });
  await description(page).fill('Sent');
  await button(page, 'Save').press('Enter');
  await description(page).fill('Later');
  sending.resolve();
  await page.getByRole('button', { name: 'Save', exact: true, disabled: false }).waitFor();
  const typed = [await stored(path), await description(page).inputValue()];
  await page.unroute(target.url + `/api/v1${path}`);
  await button(page, 'Discard').press('Enter');
  return typed;
}

/** Changes an automation that is deleted meanwhile. @returns what became of the typed text */
async function orphan(page: Page): Promise<string> {
  const path = await create('Deleted');
  await go(page, path);
  await description(page).fill('Orphan');
  await api('DELETE', path);
  await page.getByText(/^The automation was deleted meanwhile/).waitFor();
  const typed = await description(page).inputValue();
  await button(page, 'Discard').press('Enter');
  await page.getByRole('heading', { name: 'Automations' }).waitFor();
  return typed;
}

/** Types a schedule that looks like a choice before it is complete, and returns to an earlier trigger. */
async function choose(page: Page): Promise<object> {
  await go(page, await create('Chosen'));
  const event = page.getByRole('combobox', { name: 'Event', exact: true });
  const starts = page.getByRole('combobox', { name: 'Starts when' });
  await event.selectOption('comment.added');
  await starts.selectOption('schedule');
  await page.getByRole('combobox', { name: 'How often' }).selectOption('cron');
  const cron = page.getByRole('textbox', { name: 'Cron schedule of five fields' });
  await cron.fill('');
  await cron.pressSequentially('0 9 * * 1,3');
  const typed = await cron.inputValue();
  await starts.selectOption('event');
  const result = { cron: typed, event: await event.inputValue() };
  await button(page, 'Discard').press('Enter');
  return result;
}

/** Reads the figures of a rule whose runs fail, beside the editor and before it is enabled. */
async function fail(page: Page): Promise<readonly string[]> {
  const action = { type: 'relate', relation: 'relates_to', issue: '{{ issue.title }}' };
  await go(page, await create('Failing', action));
  const words = /failed in \d+ of \d+ runs/;
  const found = async (within: Locator): Promise<string> =>
    words.exec((await within.getByText(words).textContent())!)![0];
  const beside = await found(page.locator('aside'));
  await button(page, 'Enable').press('Enter');
  return [beside, await found(page.getByRole('dialog'))];
}

export async function edit(tab: Tab): Promise<object> {
  const { page } = tab;
  return {
    left: await leave(page),
    conflict: await conflict(tab),
    deleted: await orphan(page),
    chosen: await choose(page),
    failed: await fail(page),
  };
}
