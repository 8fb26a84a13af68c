// Does the work of a person, once by keyboard and once by touch on a phone. Prints what the API has afterwards.
import type { Page } from 'playwright-core';
import { api, openDriver, phone, say, target, until, type Tab } from './browser.ts';
import { isSettled } from '../browser/people.ts';

const driver = await openDriver();
const results: Record<string, unknown> = {};
interface Listed {
  readonly data: readonly {
    readonly title: string;
    readonly state: { readonly type: string };
    readonly id: string;
  }[];
}
const issuesNamed = async (title: string): Promise<Listed['data']> =>
  (await api<Listed>('GET', `/issues?filter=${encodeURIComponent(JSON.stringify({ title }))}`)).data;

const triageHas = (count: number): Promise<true> =>
  until(
    async () => (await api<Listed>('GET', '/issues?state=triage')).data.length === count,
    `${count} issues in triage`,
  );

/** Opens a screen and waits until it shows its data. */
async function go(page: Page, path: string): Promise<void> {
  await page.goto(target.url + path);
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await isSettled(page);
}

async function byKeyboard(tab: Tab): Promise<void> {
  const { page } = tab;
  const { keyboard } = page;
  await go(page, '/issues');
  await keyboard.press('c');
  await page.getByRole('dialog', { name: 'New issue' }).waitFor();
  await keyboard.type('By keyboard');
  await keyboard.press('Control+Enter');
  await page.getByRole('row', { name: /By keyboard/ }).waitFor();
  results.keyboardCreate = (await issuesNamed('By keyboard')).length;

  await go(page, '/triage');
  for (let at = 0; at < 10; at++) {
    const left = page.getByText(new RegExp(`^${at} decided`));
    await left.first().waitFor();
    await keyboard.press('a');
  }
  await page
    .getByText(/^10 decided/)
    .first()
    .waitFor();
  // The page is left at once: decisions in flight must reach the server all the same.

  await go(page, `/boards/${target.ids.board}`);
  const backlog = page.getByRole('list', { name: 'Backlog' });
  await backlog.getByRole('listitem').first().waitFor();
  const name = (await backlog.getByRole('listitem').first().getAttribute('aria-label')) ?? '';
  await backlog.getByRole('listitem').first().getByRole('link').focus();
  await keyboard.press('Space');
  await keyboard.press('ArrowRight');
  await keyboard.press('Space');
  await page.getByRole('list', { name: 'Todo' }).getByRole('listitem', { name }).waitFor();
  results.keyboardTriage = await triageHas(2);
  results.keyboardMove = await until(async () => (await stateOf(name.split(' ')[0]!)) === 'Todo', 'the move');
}

/** Shows a list as a board, and moves a card there. */
async function moveInList({ page }: Tab): Promise<void> {
  const { keyboard } = page;
  await go(page, '/issues?group=priority');
  const choice = page.getByRole('button', { name: 'Board', exact: true });
  await choice.focus();
  await keyboard.press('Enter');
  const card = page.getByRole('list', { name: 'No priority' }).getByRole('listitem').first();
  await card.waitFor();
  const isPressed = await choice.getAttribute('aria-pressed');
  const isFocused = await choice.evaluate((element) => element === document.activeElement);
  results.layout = [new URL(page.url()).search, isPressed, isFocused];
  const name = (await card.getAttribute('aria-label')) ?? '';
  await card.getByRole('link').focus();
  await keyboard.press('Space');
  await keyboard.press('ArrowLeft');
  await keyboard.press('Space');
  await page.getByRole('list', { name: 'Low' }).getByRole('listitem', { name }).waitFor();
  const identifier = name.split(' ')[0]!;
  results.listMove = await until(async () => (await priorityOf(identifier)) === 'low', 'the move');
  await keyboard.press('Enter');
  await page.waitForURL(/layout=board.*peek=/);
}

const priorityOf = async (identifier: string): Promise<string> =>
  (await api<{ priority: string }>('GET', `/issues/${identifier}`)).priority;

const stateOf = async (identifier: string): Promise<string> =>
  (await api<{ state: { name: string } }>('GET', `/issues/${identifier}`)).state.name;

async function decide({ page }: Tab, press: (name: string) => Promise<void>, title: string): Promise<void> {
  const { id } = await propose(title);
  await go(page, `/proposals/${id}`);
  await press('Approve');
  await page.getByText('Approved', { exact: true }).first().waitFor();
  results[title] = (await issuesNamed(title)).length;
}

async function propose(title: string): Promise<{ id: string }> {
  const response = await fetch(`${target.url}/api/v1/issues`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${target.key}`,
      'content-type': 'application/json',
      'tatami-mode': 'propose',
    },
    body: JSON.stringify({ team: 'ENG', title }),
  });
  return (await response.json()) as { id: string };
}

async function replay({ page }: Tab, press: (name: string) => Promise<void>): Promise<number> {
  const count = async (): Promise<number> =>
    (await api<{ data: unknown[] }>('GET', `/webhooks/${target.ids.webhook}/deliveries`)).data.length;
  const before = await count();
  await go(page, `/deliveries/${target.ids.delivery}`);
  await press('Replay');
  await page.getByText('A new delivery was created.').waitFor();
  return (await count()) - before;
}

const wide = await driver.open('/welcome');
await byKeyboard(wide);
await moveInList(wide);
const pressKey = async (name: string): Promise<void> => {
  const button = wide.page.getByRole('button', { name, exact: true }).first();
  await button.focus();
  await wide.page.keyboard.press('Enter');
};
await decide(wide, pressKey, 'Approved by keyboard');
results.keyboardReplay = await replay(wide, pressKey);

const small = await driver.open('/welcome', phone);
const tap = (name: string): Promise<void> =>
  small.page.getByRole('button', { name, exact: true }).first().tap();
await go(small.page, '/issues');
await tap('New issue');
await small.page.getByRole('textbox', { name: 'Title', exact: true }).fill('By touch');
await tap('Create issue');
await small.page.getByRole('row', { name: /By touch/ }).waitFor();
results.touchCreate = (await issuesNamed('By touch')).length;

await go(small.page, '/triage');
await small.page
  .getByText(/^0 decided/)
  .first()
  .waitFor();
await small.page
  .getByRole('button', { name: /^Accept/ })
  .first()
  .tap();
await small.page
  .getByText(/^1 decided/)
  .first()
  .waitFor();
results.touchTriage = await triageHas(1);

await go(small.page, `/boards/${target.ids.board}`);
const card = small.page.getByRole('list', { name: 'Backlog' }).getByRole('listitem').first();
await card.scrollIntoViewIfNeeded();
const cardName = (await card.getAttribute('aria-label')) ?? '';
await card.getByRole('button', { name: /Move to…/ }).tap();
await small.page.getByRole('dialog').getByLabel('Column').selectOption({ label: 'Todo' });
await small.page.getByRole('dialog').getByRole('button', { name: 'Move', exact: true }).tap();
await small.page.getByRole('dialog').waitFor({ state: 'detached' });
results.touchMove = await until(async () => (await stateOf(cardName.split(' ')[0]!)) === 'Todo', 'the move');
await decide(small, tap, 'Approved by touch');
results.touchReplay = await replay(small, tap);

const complaints = [...wide.complaints, ...small.complaints];
await driver.browser.close();
say({ ...results, complaints });
