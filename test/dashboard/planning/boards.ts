// Moves cards into hidden columns by key, by menu and by mouse, opens and closes such a column, and filters the board.
import { api, until } from '../browser.ts';
import type { Visit } from './visit.ts';

const title = 'Into a hidden column';

async function makeBoard(): Promise<string> {
  for (let at = 1; at <= 4; at++) await api('POST', '/issues', { team: 'ENG', title: `${title} ${at}` });
  const column = (value: string, hidden: boolean) => ({ value, title: null, limit: null, hidden });
  const { id } = await api('POST', '/boards', {
    name: 'With hidden columns',
    team: 'ENG',
    groupBy: 'stateType',
    filter: { title: { contains: title }, or: [{ team: 'ENG' }, { estimate: 1 }] },
    columns: [
      column('completed', true),
      column('backlog', false),
      column('started', false),
      column('canceled', true),
    ],
  });
  return id;
}

interface Found {
  readonly data: readonly { readonly title: string; readonly state: { readonly type: string } }[];
}

/** Waits until this many of the cards have a state of this type. */
const has = (type: string, count: number): Promise<true> =>
  until(async () => {
    const filter = encodeURIComponent(JSON.stringify({ title: { contains: title } }));
    const { data } = await api<Found>('GET', `/issues?filter=${filter}`);
    return data.filter(({ state }) => state.type === type).length === count;
  }, `${count} cards in ${type}`);

/** Changes the filter in dialogs above the settings, which only their own button saves. */
async function filterBoard({ page, look, escape, problems }: Visit, id: string): Promise<object> {
  const stored = async (): Promise<object> => (await api<{ filter: object }>('GET', `/boards/${id}`)).filter;
  const before = JSON.stringify(await stored());
  await page.getByRole('button', { name: 'Settings' }).press('Enter');
  const settings = await look(/^Settings of/);
  const filter = settings.getByRole('group', { name: 'Filter', exact: true });
  const button = (name: string) => filter.getByRole('button', { name, exact: true });
  const hasFocus = async (name: string): Promise<void> => {
    if (await button(name).evaluate((element) => element !== document.activeElement))
      problems.push(`${name} does not have the focus`);
  };
  const chip = page.getByRole('dialog', { name: 'Priority' });
  const apply = async (): Promise<void> => {
    await chip.getByRole('button', { name: 'Apply' }).press('Enter');
    await chip.waitFor({ state: 'detached' });
  };
  const add = async (): Promise<void> => {
    await button('+ Filter').press('Enter');
    await page.getByRole('menuitem', { name: 'Priority' }).press('Enter');
  };

  await add();
  await escape('Priority');
  await add();
  await look('Priority');
  await chip.getByRole('combobox', { name: 'Priority' }).fill('No pri');
  await page.keyboard.press('Enter');
  await apply();
  await button('Priority is No priority').press('Enter');
  await chip.getByRole('combobox', { name: 'Condition' }).selectOption('is not');
  await apply();
  await hasFocus('Priority is not No priority');
  await button(`Remove the filter Title contains ${title}`).press('Enter');
  await hasFocus('+ Filter');
  await look(/^Settings of/);
  const isUnchanged = JSON.stringify(await stored()) === before;
  await settings.getByRole('button', { name: 'Save' }).press('Enter');
  await settings.waitFor({ state: 'detached' });
  return { isUnchanged, stored: await stored() };
}

export async function boardSteps(visit: Visit): Promise<object> {
  const { page, go, look, problems } = visit;
  const { keyboard } = page;
  const id = await makeBoard();
  await go(`/boards/${id}`);
  const backlog = page.getByRole('list', { name: 'Backlog' }).getByRole('listitem');
  const button = (name: RegExp) => page.getByRole('button', { name });
  const focused = (): Promise<string> =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
    );
  const focuses = async (name: RegExp): Promise<void> => {
    let last = '';
    await until(async () => name.test((last = await focused())), `focus on ${name}`).catch((error: Error) => {
      throw new Error(`${error.message}, but on ${last}`);
    });
  };

  await backlog.first().getByRole('link').focus();
  await keyboard.press('Space');
  await keyboard.press('ArrowRight');
  await keyboard.press('ArrowRight');
  await focuses(/^Show Completed, 1 card$/);
  await keyboard.press('ArrowRight');
  await focuses(/^Show Canceled, 1 card$/);
  await keyboard.press('ArrowLeft');
  await keyboard.press('Space');
  await has('completed', 1);
  await focuses(/^Into a hidden column/);

  await backlog.first().getByRole('button', { name: 'Move to…' }).press('Enter');
  const dialog = await look(/^Move ENG-/);
  await dialog.getByLabel('Column').selectOption({ label: 'Canceled (hidden)' });
  await dialog.getByRole('button', { name: 'Move', exact: true }).press('Enter');
  await has('canceled', 1);
  await dialog.waitFor({ state: 'detached' });
  await focuses(/^Into a hidden column/);

  await backlog.first().dragTo(button(/^Show Completed/));
  await has('completed', 2);

  await button(/^Show Completed, 2 cards$/).press('Enter');
  await page.getByRole('list', { name: 'Completed' }).getByRole('listitem').nth(1).waitFor();
  await focuses(/^Hide Completed$/);
  await keyboard.press('Enter');
  await focuses(/^Show Completed/);
  const filter = await filterBoard(visit, id);

  await page.setViewportSize({ width: 360, height: 740 });
  if (await page.evaluate(() => document.documentElement.scrollWidth > 360))
    problems.push('The board is wide');
  return { byKey: true, byMenu: true, byMouse: true, opens: true, filter };
}
