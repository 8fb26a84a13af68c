// Opens an issue with many comments while comments and reactions are added to it and to another issue. Prints the requests
// that the page makes. Its second argument is the number of comments.
import { isSettled } from '../browser/people.ts';
import { api, openDriver, say } from './browser.ts';

const count = Number(process.argv[3]);
interface Created {
  readonly id: string;
  readonly identifier: string;
}
const make = (title: string): Promise<Created> => api('POST', '/issues', { team: 'ENG', title });
const add = (issue: Created, body: string, parentId?: string): Promise<Created> =>
  api('POST', `/issues/${issue.id}/comments`, { body, ...(parentId !== undefined && { parentId }) });
const react = (comment: Created, emoji: string): Promise<Created> =>
  api('POST', `/comments/${comment.id}/reactions`, { emoji });

const open = await make('Discussed at length');
const other = await make('Discussed elsewhere');
const root = await add(open, 'First of all');
const middle = await add(open, 'Second of all');
let last = middle;
for (let at = 2; at < count - 2; at++) last = await add(open, `Remark ${at}`);
for (const answer of ['Answer to the first', 'Another answer to the first']) await add(open, answer, root.id);
await react(last, '🎉');
await react(root, '🚀');
await react(middle, '👀');
const elsewhere = await add(other, 'Elsewhere');

const driver = await openDriver();
const tab = await driver.open('/inbox');
const { page } = tab;
await isSettled(page);
const requests: string[] = [];
page.on('request', (request) => {
  const { pathname } = new URL(request.url());
  if (/\/(comments|reactions|trail)$/.test(pathname)) requests.push(pathname.replace(/\w{3}_\w+/, '{id}'));
});
/** Returns the number of requests by path since the last call. */
const taken = (): Record<string, number> => {
  const all = requests.splice(0);
  return Object.fromEntries([...new Set(all)].map((one) => [one, all.filter((path) => path === one).length]));
};
/** Opens a screen within the app, as a link does. */
const visit = (path: string): Promise<void> =>
  page.evaluate((to) => {
    history.pushState({}, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);

await visit(`/issues/${open.identifier}`);
const timeline = page.getByRole('list', { name: 'Timeline' });
const thread = timeline.locator(':scope > li', { hasText: 'First of all' });
const reactionOn = (emoji: string) => timeline.getByRole('button', { name: new RegExp(`^${emoji} \\d`) });
await timeline.getByText(`Remark ${count - 3}`, { exact: true }).waitFor();
await reactionOn('🎉').waitFor();
await thread.getByRole('button', { name: /^🚀 1/ }).waitFor();
await isSettled(page);
const opened = taken();
const answers = await thread.getByText(/answer to the first$/i).allInnerTexts();
const middles = await timeline.getByText('Second of all').count();

// Events arrive in order: when the last reaction shows, the page has all events of the other issue.
for (const emoji of ['👍', '👎', '🎉', '❤️', '😄', '😕', '🚀', '👀']) await react(elsewhere, emoji);
for (let at = 0; at < 8; at++) await add(other, `Elsewhere ${at}`);
await react(last, '😄');
await reactionOn('😄').waitFor();
await isSettled(page);
const followed = taken();

await page.getByRole('button', { name: 'Load earlier activity' }).click();
await timeline.getByText('Second of all').waitFor();
await reactionOn('👀').waitFor();
await isSettled(page);
const earlier = taken();
const remarks = await timeline.getByText(/^Remark \d+$/).count();
const roots = await thread.count();
await driver.browser.close();
say({ opened, answers, middles, followed, earlier, remarks, roots, complaints: tab.complaints });
