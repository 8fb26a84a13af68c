// Lowers the role of the person under an open board and an open list. Prints what they show then.
import { isSettled } from '../browser/people.ts';
import { api, openDriver, say, target } from './browser.ts';

const driver = await openDriver();
const results: Record<string, unknown> = {};
const board = `/boards/${target.ids['board']}`;
const beMember = (role: 'admin' | 'guest'): Promise<unknown> =>
  api('PATCH', `/members/${target.member}`, role === 'guest' ? { role, teams: ['ENG'] } : { role });

/** Without a shared worker, the page itself reads the event stream, which a test can stop. */
const unshared = { init: 'delete globalThis.SharedWorker' };

// A page that no event reaches learns of the role from the refusal.
const deaf = await driver.open('/welcome', unshared);
const { page } = deaf;
await page.route('**/events/stream*', () => undefined);
await page.goto(target.url + board);
const backlog = page.getByRole('list', { name: 'Backlog' });
const card = backlog.getByRole('listitem').first();
const name = (await card.getAttribute('aria-label'))!;
const handles = page.getByRole('button', { name: 'Move to…' });
await handles.first().waitFor();
await beMember('guest');
await card.getByRole('link').focus();
for (const key of ['Space', 'ArrowRight', 'Space']) await page.keyboard.press(key);
const problem = page.getByRole('status').getByText('boards:write');
await problem.waitFor();
results.refusal = await problem.innerText();
await backlog.getByRole('listitem', { name }).waitFor();
results.column = (await api<{ state: { name: string } }>('GET', `/issues/${name.split(' ')[0]}`)).state.name;
await handles.first().waitFor({ state: 'detached' });
results.settings = await page.getByRole('button', { name: 'Settings' }).count();
const complaints = deaf.complaints.filter((one) => !one.includes('403'));
await deaf.close();
await beMember('admin');

// Open pages follow the event of the change.
const list = await driver.open('/issues');
const boards = await list.another(board);
const save = list.page.getByRole('button', { name: 'Save as view' });
const settings = boards.page.getByRole('button', { name: 'Settings' });
await save.waitFor();
await settings.waitFor();
await isSettled(list.page);
await isSettled(boards.page);
await beMember('guest');
await save.waitFor({ state: 'detached' });
await settings.waitFor({ state: 'detached' });
results.guestSees = await list.page.getByRole('row').count();
await beMember('admin');
await save.waitFor();
await settings.waitFor();
complaints.push(...list.complaints);
await driver.browser.close();
say({ ...results, complaints });
