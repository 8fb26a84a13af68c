// Adds issues to a release by title and by identifier, and removes one.
import { api, target, until } from '../browser.ts';
import type { Visit } from './visit.ts';

export async function releaseSteps({ page, go, look, escape, problems }: Visit): Promise<object> {
  const { keyboard } = page;
  const release = target.ids['release']!;
  const { identifier } = await api('POST', '/issues', { team: 'ENG', title: 'Shipped with the release' });
  const count = async (): Promise<number> =>
    (await api<{ issueIds: string[] }>('GET', `/releases/${release}`)).issueIds.length;
  await go(`/releases/${release}`);
  const open = page.getByRole('button', { name: 'Add issues' });
  await open.press('Enter');
  await escape('Add issues');
  await open.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add issues' });
  const input = dialog.getByRole('combobox', { name: 'Add issues' });
  await input.waitFor();
  await keyboard.type('nothing like this');
  await dialog.getByText('No match').waitFor();
  await input.fill('shipped');
  const found = dialog.getByRole('option', { name: `${identifier} Shipped with the release` });
  await found.waitFor();
  await look('Add issues');
  await input.press('Enter');
  await dialog.getByText(`${identifier} is in the release`).waitFor();
  await found.waitFor({ state: 'detached' });
  if (await input.evaluate((field) => field !== document.activeElement)) problems.push('The focus is lost');
  await input.fill('ENG-7');
  await dialog.getByRole('option', { name: /^\S* ?ENG-7 / }).waitFor();
  await input.press('Enter');
  await until(async () => (await count()) === 2, 'two issues in the release');
  await escape('Add issues');
  const rows = page.getByRole('list', { name: 'Issues', exact: true }).getByRole('listitem');
  await until(async () => (await rows.count()) === 2, 'two rows');
  await page.getByRole('button', { name: `Remove ${identifier} from the release` }).press('Enter');
  await until(async () => (await rows.count()) === 1, 'one row');
  if (await open.evaluate((button) => button !== document.activeElement)) problems.push('The focus is lost');
  return { added: 2, left: await count() };
}
