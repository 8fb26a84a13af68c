// Decides about an issue in triage and undoes each decision, then narrows the queue by a filter.
import { api, until } from '../browser.ts';
import type { Visit } from './visit.ts';

interface Shown {
  readonly id: string;
  readonly identifier: string;
  readonly priority: string;
  readonly labels: readonly { readonly id: string }[];
  readonly team: { readonly key: string };
  readonly state: { readonly type: string };
  readonly snoozedUntil: string | null;
}

interface States {
  readonly data: readonly { readonly id: string; readonly type: string }[];
}

/** Creates an issue in triage, with a label that a move to another team removes. */
async function makeIssue(): Promise<Shown> {
  await api('POST', '/teams', { key: 'OPS', name: 'Operations' });
  const { data } = await api<States>('GET', '/workflows?team=ENG');
  const stateId = data.find(({ type }) => type === 'triage')!.id;
  const own = await api('POST', '/labels', { name: 'of the team', team: 'ENG' });
  await api('POST', '/labels', { name: 'of the workspace' });
  return api<Shown>('POST', '/issues', { team: 'ENG', title: 'Decide and undo', stateId, labels: [own.id] });
}

/** @returns the decisions that were undone, by what the API has after each */
export async function triageSteps({ page, go, look, escape }: Visit): Promise<object> {
  const { keyboard } = page;
  const made = await makeIssue();
  const now = (): Promise<Shown> => api<Shown>('GET', `/issues/${made.id}`);
  const is = (what: string, isTrue: (issue: Shown) => boolean): Promise<true> =>
    until(async () => isTrue(await now()), what);
  const heading = page.getByRole('heading', { level: 2, name: /Decide and undo/ });
  const back = async (): Promise<void> => {
    await heading.waitFor();
    await is(
      'the undo',
      ({ state, priority, labels, team, snoozedUntil }) =>
        [state.type, priority, labels.length, team.key, snoozedUntil].join() === 'triage,none,1,ENG,',
    );
    // The screen shows the issue again after the API has it back, and its identifier changes with its team.
    await page.waitForURL((url) => url.searchParams.get('issue') === made.id);
  };
  await go(`/triage?issue=${made.identifier}`);
  const results: Record<string, boolean> = {};
  const decide = async (name: string, act: () => Promise<unknown>, isDone: (issue: Shown) => boolean) => {
    await heading.waitFor();
    await act();
    await is(name, isDone);
    // The message comes after the write, and with it the key works.
    await page.getByRole('button', { name: 'Undo', exact: true }).last().waitFor();
    await keyboard.press('u');
    await back();
    results[name] = true;
    await page.reload();
  };
  const pick = async (key: string, title: string, digit: string): Promise<void> => {
    await keyboard.press(key);
    await look(title);
    await keyboard.press(digit);
  };
  await decide(
    'priority',
    () => pick('p', 'Priority', '1'),
    ({ priority }) => priority === 'urgent',
  );
  await decide(
    'team',
    () => moveTeam({ page, look }),
    ({ team }) => team.key === 'OPS',
  );
  await decide(
    'labels',
    () => setLabels({ page, look }),
    ({ labels }) => labels.length === 2,
  );
  await decide(
    'snooze',
    () => pick('z', 'Snooze', '1'),
    ({ snoozedUntil }) => snoozedUntil !== null,
  );
  await decide(
    'accept',
    () => keyboard.press('a'),
    ({ state }) => state.type !== 'triage',
  );
  await decide(
    'duplicate',
    () => markDuplicate({ page, look }),
    ({ state }) => state.type !== 'triage',
  );
  await decide(
    'decline',
    () => keyboard.press('d'),
    ({ state }) => state.type === 'canceled',
  );
  await page.getByRole('button', { name: 'Labels (L)' }).press('Enter');
  await escape('Labels');
  results['filter'] = await filterQueue({ page, look });
  await api('POST', `/issues/${made.id}/triage/accept`, {});
  return results;
}

/** Opens the dialog before its choices are loaded. */
async function moveTeam({ page, look }: Pick<Visit, 'page' | 'look'>): Promise<void> {
  const opened = Promise.withResolvers<void>();
  await page.route('**/api/v1/teams?*', async (route) => {
    await opened.promise;
    await route.continue();
  });
  await page.reload();
  await page.getByRole('heading', { level: 2, name: /Decide and undo/ }).waitFor();
  await page.keyboard.press('t');
  const dialog = page.getByRole('dialog', { name: 'New team' });
  await dialog.waitFor();
  opened.resolve();
  await dialog.getByRole('button', { name: 'Operations' }).waitFor();
  await look('New team');
  await page.keyboard.press('1');
}

async function setLabels({ page, look }: Pick<Visit, 'page' | 'look'>): Promise<void> {
  await page.keyboard.press('l');
  const dialog = await look('Labels');
  await dialog.getByRole('checkbox', { name: 'of the workspace' }).press('Space');
  await dialog.getByRole('button', { name: 'Save' }).press('Enter');
}

async function markDuplicate({ page, look }: Pick<Visit, 'page' | 'look'>): Promise<void> {
  await page.keyboard.press('m');
  const dialog = page.getByRole('dialog', { name: 'Duplicate of' });
  // A key that follows while the dialog loads, here that of accepting, decides nothing.
  await page.keyboard.press('a');
  // The search has the focus. Nothing is picked where nothing matches.
  await dialog.locator('input:focus').waitFor();
  await page.keyboard.type('ENG-99999');
  await dialog.getByText('No match').waitFor();
  await page.keyboard.press('Enter');
  await look('Duplicate of');
  await dialog.getByRole('combobox').fill('ENG-1');
  await dialog
    .getByRole('option', { name: /\bENG-1 / })
    .and(dialog.locator('[data-highlighted]'))
    .waitFor();
  await page.keyboard.press('Enter');
}

async function filterQueue({ page, look }: Pick<Visit, 'page' | 'look'>): Promise<boolean> {
  const { keyboard } = page;
  const links = page.getByRole('list', { name: 'Issues in triage' }).getByRole('listitem');
  await page.getByRole('button', { name: '+ Filter' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Title' }).press('Enter');
  await (await look('Title')).getByRole('textbox').fill('undo');
  await keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove the filter Title contains undo' }).waitFor();
  await until(async () => (await links.count()) === 1, 'the filter');
  await page.getByRole('button', { name: 'Title contains undo', exact: true }).press('Enter');
  await page.getByRole('dialog', { name: 'Title' }).getByRole('textbox').fill('nothing like this');
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No issue in triage matches' }).waitFor();
  await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().press('Enter');
  return until(async () => (await links.count()) > 1, 'the queue without a filter');
}
