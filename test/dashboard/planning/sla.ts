// Creates, changes and deletes an SLA policy.
import { api, until } from '../browser.ts';
import type { Visit } from './visit.ts';

interface Policy {
  readonly name: string;
  readonly targetMinutes: number;
  readonly atRiskMinutes: number | null;
  readonly filter: object;
  readonly pausedIn: readonly string[];
  readonly enabled: boolean;
}

const policies = async (): Promise<readonly Policy[]> =>
  (await api<{ data: Policy[] }>('GET', '/sla-policies')).data;

export async function slaSteps({ page, go, look, escape, message, problems }: Visit): Promise<object> {
  await go('/sla');
  const create = page.getByRole('button', { name: 'New policy' });
  await create.press('Enter');
  await escape('New policy');
  await create.press('Enter');
  const dialog = await look('New policy');
  await dialog.getByLabel('Name').fill('Urgent issues');
  await dialog.getByLabel('Target in minutes').fill('60');
  await dialog.getByLabel('Warning before the target').fill('90');
  await dialog.getByRole('combobox', { name: 'Paused in' }).press('Enter');
  await page.getByRole('option', { name: 'Triage', exact: true }).click();
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: '+ Filter' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Priority' }).press('Enter');
  const chip = page.getByRole('dialog', { name: 'Priority' });
  await chip.getByRole('option', { name: 'Urgent' }).click();
  await chip.getByRole('button', { name: 'Apply' }).press('Enter');
  await chip.waitFor({ state: 'detached' });

  await dialog.getByRole('button', { name: 'Save' }).press('Enter');
  const warning = dialog.getByRole('spinbutton', { name: /Warning/, description: /less than targetMinutes/ });
  await warning.waitFor();
  if (await warning.evaluate((input) => input !== document.activeElement))
    problems.push('The focus is elsewhere');
  await look('New policy');
  await warning.fill('15');
  await dialog.getByRole('button', { name: 'Save' }).press('Enter');
  const rows = page.getByRole('list', { name: 'Policies' }).getByRole('listitem');
  await rows.getByText('Target: 1 h 0 min').waitFor();
  const [created] = await policies();

  await page.getByRole('button', { name: 'Edit Urgent issues' }).press('Enter');
  const editing = await look('Edit Urgent issues');
  await editing.getByRole('button', { name: 'Priority is Urgent', exact: true }).waitFor();
  await editing.getByLabel('Target in minutes').fill('120');
  await editing.getByRole('checkbox', { name: 'Applies to issues' }).press('Space');
  await editing.getByRole('button', { name: 'Save' }).press('Enter');
  await rows.getByText('Target: 2 h 0 min').waitFor();
  const [changed] = await policies();

  await page.getByRole('button', { name: 'Delete Urgent issues' }).press('Enter');
  await look('Delete Urgent issues?');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await message('Urgent issues was deleted.');
  await until(async () => (await rows.count()) === 0, 'no policy');
  if (await create.evaluate((button) => button !== document.activeElement))
    problems.push('The focus is lost');
  const { targetMinutes, atRiskMinutes, filter, pausedIn } = created!;
  return {
    created: { targetMinutes, atRiskMinutes, filter, pausedIn },
    changed: { targetMinutes: changed!.targetMinutes, enabled: changed!.enabled },
    left: (await policies()).length,
  };
}
