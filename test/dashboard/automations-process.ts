// Builds automations in the browser as a person who does not program. Prints what happened.
import { isSettled } from '../browser/people.ts';
import { api, openDriver, say, target } from './browser.ts';
import { until } from './planning/visit.ts';

const driver = await openDriver();
const tab = await driver.open('/automations');
const { page } = tab;
page.setDefaultTimeout(15_000);
const results: Record<string, unknown> = {};

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly trigger: object;
  readonly conditions: object;
  readonly actions: readonly object[];
}

const rules = async (): Promise<readonly Rule[]> => (await api<{ data: Rule[] }>('GET', '/automations')).data;
const priorityOf = async (id: string): Promise<string> =>
  (await api<{ priority: string }>('GET', `/issues/${id}`)).priority;
const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialogNamed = (title: string | RegExp) => page.getByRole('dialog', { name: title });
const shots = process.argv[3];
const shoot = async (name: string): Promise<void> => {
  if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
};

/** Adds an action from the menu. */
async function addAction(name: string): Promise<void> {
  await button('+ Action').press('Enter');
  await page.getByRole('menuitem', { name }).press('Enter');
}

/** Creates a rule that raises bugs and comments on them, and looks at its preview. */
async function createRule(): Promise<void> {
  await page.getByRole('link', { name: 'New automation' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Raise crashes');
  await page.getByRole('combobox', { name: 'Event', exact: true }).selectOption('issue.created');
  await page.getByRole('group', { name: 'The issue matches' }).getByRole('button', { name: '+ Filter' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Title' }).press('Enter');
  const chip = dialogNamed('Title');
  await chip.getByLabel('Value').fill('Crash');
  await chip.getByRole('button', { name: 'Apply' }).press('Enter');
  await chip.waitFor({ state: 'detached' });
  await addAction('Set fields');
  await addAction('Comment');
  const comment = page.getByRole('textbox', { name: 'Text of the comment' });
  await comment.fill('{{ issue.title');
  await button('Save paused').press('Enter');
  const rejected = page.getByRole('textbox', { name: 'Text of the comment', description: /./ });
  await rejected.waitFor();
  results.focused = await rejected.evaluate((field) => field === document.activeElement);
  results.rejectedProblems = await tab.violations();
  await shoot('rejected');
  await comment.fill('Raised: ');
  await page.getByRole('button', { name: /^Insert a value: Text/ }).press('Enter');
  await page.getByRole('menuitem', { name: 'Title of the issue' }).press('Enter');
  await page.getByText(/^In the last 90 days it would have changed/).waitFor();
  results.preview = await page.locator('aside [role=status] p').first().textContent();
  results.differing = await page.getByRole('link', { name: /Crash at start/ }).count();
  results.sentence = await page.locator('aside > p').first().textContent();
  await isSettled(page);
  results.editorProblems = await tab.violations();
  await shoot('editor');
  await button('Save paused').press('Enter');
  await button('Enable').waitFor();
  const [rule] = await rules();
  const { state, trigger, conditions, actions } = rule!;
  results.stored = { state, trigger, conditions, actions };
}

/** Enables the rule without approval, sees it act, and pauses it. */
async function enableRule(): Promise<void> {
  const [rule] = await rules();
  await button('Enable').press('Enter');
  const dialog = dialogNamed('Enable Raise crashes');
  await dialog.getByRole('checkbox').uncheck();
  await isSettled(page);
  results.enableProblems = await tab.violations(undefined, '[role=dialog]');
  await dialog.getByRole('button', { name: /^Enable/ }).press('Enter');
  await button('Pause').waitFor();
  const { id } = await api('POST', '/issues', { team: 'ENG', title: 'Crash again' });
  results.acted = await until(async () => (await priorityOf(id)) === 'high', 'the rule acts');
  await button('Pause').press('Enter');
  await button('Enable').waitFor();
  results.paused = (await rules()).find((one) => one.id === rule!.id)!.state;
}

try {
  await createRule();
  await enableRule();
} catch (error) {
  await shoot('failed');
  throw error;
}
await driver.browser.close();
say({ ...results, complaints: tab.complaints.filter((one) => !/status of 4(04|22)/.test(one)), target: target.url });
