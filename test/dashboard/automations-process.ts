// Builds automations in the browser as a person who does not program. Prints what happened. Argument after the
// target: a folder for pictures.
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { isSettled } from '../browser/people.ts';
import { edit } from './automations-edits.ts';
import { api, openDriver, phone, say, until } from './browser.ts';

const driver = await openDriver();
const tab = await driver.open('/automations');
const { page } = tab;
const problems: string[] = [];
const results: Record<string, unknown> = {};
const [, , , shots] = process.argv;

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly trigger: object;
  readonly conditions: object;
  readonly actions: readonly object[];
  readonly stepDown: object;
}

const ruleNamed = async (name: string): Promise<Rule> =>
  (await api<{ data: Rule[] }>('GET', `/automations?name=${encodeURIComponent(name)}`)).data[0]!;
const priorityOf = async (id: string): Promise<string> =>
  (await api<{ priority: string }>('GET', `/issues/${id}`)).priority;
const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
const item = (name: string): Locator => page.getByRole('menuitem', { name, exact: true });

/** Checks the page, or a part of it, once it shows its data. */
async function look(name: string, within?: string): Promise<void> {
  await isSettled(page);
  problems.push(...(await tab.violations(undefined, within)).map((violation) => `${name}: ${violation}`));
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) });
}

/** Waits until the focus has moved into a part of the page: a key that is pressed before would go to another control. */
const hasFocus = (part: Locator): Promise<void> => part.locator(':focus').waitFor();

async function addAction(name: string): Promise<void> {
  await button('+ Action').press('Enter');
  await item(name).press('Enter');
  await hasFocus(page.getByRole('group', { name: new RegExp(`^\\d+\\. ${name}$`) }));
}

/** Moves an action there and back by keyboard. @returns the names of the buttons that have the focus after each move */
async function moveAction(): Promise<readonly string[]> {
  const { keyboard } = page;
  const focused = page.locator('button:focus');
  await button('Move action 2 up').press('Enter');
  await page.getByRole('group', { name: '1. Comment' }).waitFor();
  const first = (await focused.getAttribute('aria-label'))!;
  await keyboard.press('Enter');
  await page.getByRole('group', { name: '2. Comment' }).waitFor();
  return [first, (await focused.getAttribute('aria-label'))!];
}

/** Builds a rule that raises crashes and comments on them, with an error at first. */
async function build(): Promise<void> {
  await page.getByRole('link', { name: 'New automation' }).press('Enter');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Raise crashes');
  await page.getByRole('combobox', { name: 'Event', exact: true }).selectOption('issue.created');
  const filters = page.getByRole('group', { name: 'The issue matches' });
  await filters.getByRole('button', { name: '+ Filter' }).press('Enter');
  await item('Title').press('Enter');
  const chip = page.getByRole('dialog', { name: 'Title' });
  await chip.getByLabel('Value').fill('Crash');
  await chip.getByRole('button', { name: 'Apply' }).press('Enter');
  await chip.waitFor({ state: 'detached' });
  await hasFocus(filters);
  await addAction('Set fields');
  await addAction('Comment');
  const added = page.locator('textarea:focus');
  results.added = await added.getAttribute('name');
  results.moved = await moveAction();
  const comment = page.getByRole('textbox', { name: 'Text of the comment' });
  await comment.fill('{{ issue.title');
  await button('Save paused').press('Enter');
  const rejected = page.getByRole('textbox', { name: 'Text of the comment', description: /not closed/ });
  await rejected.waitFor();
  results.focused = await rejected.evaluate((field) => field === document.activeElement);
  await comment.fill('Raised: ');
  await page.getByRole('button', { name: 'Insert a value: Text of the comment' }).press('Enter');
  await item('Title of the issue').press('Enter');
}

/** Reads the figures beside the editor, and saves. */
async function preview(): Promise<void> {
  const summary = page.getByText(/^In the last 90 days/);
  await summary.waitFor();
  results.preview = await page.locator('aside p:has(strong)').textContent();
  await page.getByRole('link', { name: 'ENG-2 Crash at start' }).waitFor();
  results.sentence = await page.locator('aside > p').textContent();
  await look('editor');
  await page.setViewportSize(phone.viewport!);
  results.isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  await page.setViewportSize({ width: 1280, height: 800 });
  await button('Save paused').press('Enter');
  await button('Enable').waitFor();
  const { state, conditions, actions } = await ruleNamed('Raise crashes');
  results.stored = { state, conditions, actions };
}

/** Undoes the run that changed an issue. */
async function undo(id: string): Promise<object> {
  const { identifier } = await api('GET', `/issues/${id}`);
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: identifier }) });
  await row.getByRole('button', { name: 'Details' }).press('Enter');
  await hasFocus(page.getByRole('dialog', { name: 'Run' }));
  await button('Undo this run').press('Enter');
  const question = page.getByRole('dialog', { name: 'Undo this run?' });
  await hasFocus(question);
  await question.getByRole('button', { name: 'Undo this run' }).press('Enter');
  const priority = await until(async () => (await priorityOf(id)) === 'none', 'the run is undone');
  await look('undone', '[role=dialog]');
  await page.getByRole('dialog', { name: 'Run' }).getByRole('button', { name: 'Close' }).press('Enter');
  await row.getByRole('cell', { name: 'undone', exact: true }).waitFor();
  return { priority: priority && 'none', status: 'undone' };
}

/** Enables the rule without approval, sees it act, and pauses it. */
async function run(): Promise<void> {
  await button('Enable').press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Enable Raise crashes' });
  await dialog.getByRole('checkbox').uncheck();
  await look('enable', '[role=dialog]');
  await dialog.getByRole('button', { name: /^Enable/ }).press('Enter');
  await button('Pause').waitFor();
  const { id } = await api('POST', '/issues', { team: 'ENG', title: 'Crash again' });
  results.acted = await until(async () => (await priorityOf(id)) === 'high', 'the rule acts');
  await page.getByRole('link', { name: 'Health' }).click();
  await page.getByRole('row', { name: /an issue is created succeeded/ }).waitFor();
  await look('health');
  results.undone = await undo(id);
  await button('Pause').press('Enter');
  await button('Enable').waitFor();
  results.paused = (await ruleNamed('Raise crashes')).state;
}

/** Limits how often people may overrule the rule, and changes nothing else. */
async function settle(): Promise<void> {
  await button('More actions').press('Enter');
  await item('Owner and step-down…').press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('spinbutton', { name: 'Window in days' }).fill('7');
  await look('settings', '[role=dialog]');
  await dialog.getByRole('button', { name: 'Save' }).press('Enter');
  await dialog.waitFor({ state: 'detached' });
  results.stepDown = (await ruleNamed('Raise crashes')).stepDown;
}

/** Adapts a template, and enables it with its defaults. */
async function useTemplate(): Promise<void> {
  await page.getByRole('link', { name: 'Automations' }).press('Enter');
  await page.getByRole('heading', { name: 'Automations', exact: true }).waitFor();
  await isSettled(page);
  await page.getByText('Start with a template').press('Enter');
  await page.getByRole('link', { name: /^Use the template “Set the priority by a keyword/ }).press('Enter');
  await page.getByRole('textbox', { name: 'Word in the title or description' }).fill('burning');
  await button('Save paused').press('Enter');
  await button('Enable').press('Enter');
  const dialog = page.getByRole('dialog');
  await hasFocus(dialog);
  await dialog.getByRole('button', { name: /^Enable/ }).press('Enter');
  await button('Pause').waitFor();
  const { state, trigger } = await ruleNamed('Set the priority by a keyword');
  results.template = { state, trigger };
}

try {
  await build();
  await preview();
  await run();
  await settle();
  await useTemplate();
  Object.assign(results, await edit(tab));
} catch (error) {
  if (shots !== undefined) await page.screenshot({ path: join(shots, 'failed.png') });
  console.error(`${page.url()}\n${await page.locator('body').ariaSnapshot()}`);
  throw error;
}
await driver.browser.close();
const complaints = tab.complaints.filter((one) => !/status of 4(04|09|12|22)/.test(one));
say({ ...results, problems: [...problems, ...complaints] });
