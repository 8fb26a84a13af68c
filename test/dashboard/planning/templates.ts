// Creates a template from the dialog of a new issue, uses it, and changes and deletes it.
import { api, until } from '../browser.ts';
import type { Visit } from './visit.ts';

interface Template {
  readonly name: string;
  readonly team: string | null;
  readonly title: string | null;
  readonly priority: string;
  readonly subIssues: readonly string[];
}

const templates = async (): Promise<readonly Template[]> =>
  (await api<{ data: Template[] }>('GET', '/templates')).data;

export async function templateSteps({ page, go, look, escape }: Visit): Promise<object> {
  const { keyboard } = page;
  await go('/issues');
  await keyboard.press('c');
  const create = page.getByRole('dialog', { name: 'New issue' });
  const open = create.getByRole('button', { name: 'Edit templates' });
  await open.press('Enter');
  await look('Templates');
  await escape('Templates');
  await open.press('Enter');
  await page.getByRole('button', { name: 'New template' }).press('Enter');
  const form = await look('New template');
  await form.getByLabel('Name').fill('Bug report');
  await form.getByLabel('Title', { exact: true }).fill('Crash: ');
  await form.getByLabel('Team').selectOption({ label: 'All teams' });
  await form.getByLabel('Priority').selectOption('high');
  await form.getByLabel('Sub-issues').fill('Write a test\nFix it');
  // The keys of the outer form do not act here.
  await form.getByLabel('Name').press('Control+Enter');
  await form.getByRole('button', { name: 'Save' }).press('Enter');
  const list = page.getByRole('list', { name: 'Templates' });
  await list.getByText('Bug report').waitFor();
  const [created] = await templates();

  await page.getByRole('button', { name: 'Edit Bug report' }).press('Enter');
  const editing = await look('Edit Bug report');
  await editing.getByLabel('Title', { exact: true }).fill('Bug: ');
  await editing.getByRole('button', { name: 'Save' }).press('Enter');
  await list.waitFor();
  await escape('Templates');
  await create.getByRole('combobox', { name: 'Template', exact: true }).press('Enter');
  await page.getByRole('option', { name: 'Bug report' }).click();
  const title = create.getByRole('textbox', { name: 'Title', exact: true });
  await until(async () => (await title.inputValue()).startsWith('Bug:'), 'the title of the template');

  await open.press('Enter');
  await page.getByRole('button', { name: 'Delete Bug report' }).press('Enter');
  const deleting = await look('Delete Bug report');
  await deleting.getByRole('button', { name: 'Delete' }).press('Enter');
  await page.getByText(/^No templates yet/).waitFor();
  await escape('Templates');
  await create.getByRole('button', { name: 'Discard draft' }).press('Enter');
  const { name, team, title: first, priority, subIssues } = created!;
  return { created: { name, team, title: first, priority, subIssues }, left: (await templates()).length };
}
