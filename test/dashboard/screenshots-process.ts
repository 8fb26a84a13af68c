// Writes pictures of the screens to a folder, its second argument.
import { join } from 'node:path';
import { isSettled } from '../browser/people.ts';
import { api, openDriver, phone, say, screens, target } from './browser.ts';

const folder = process.argv[3]!;
const { ids } = target;

/** Pictures of the documentation, by name. */
const documented: Readonly<Record<string, string>> = {
  'app-issues': '/issues?group=priority&peek=ENG-1495',
  'app-board': `/boards/${ids.board}`,
  'app-issue': '/issues/ENG-1497',
  'app-proposal': `/proposals/${ids.proposal}`,
};

/** Gives the newest issues fields that a picture can show. */
async function decorate(): Promise<void> {
  const { data: members } = await api<{ data: { id: string }[] }>('GET', '/members');
  const { data: states } = await api<{ data: { id: string; type: string }[] }>('GET', '/workflows?team=ENG');
  const priorities = ['urgent', 'high', 'medium', 'low'];
  const labels = ['bug', 'feature', 'question'];
  for (let at = 1441; at <= 1500; at++)
    await api('PATCH', `/issues/ENG-${at}`, {
      priority: priorities[at % priorities.length],
      labels: [labels[at % labels.length]],
      stateId: states[1 + (at % (states.length - 3))]!.id,
      ...(at % 3 === 0 && { assigneeId: members[at % members.length]!.id }),
      ...(at % 4 === 0 && { projectId: ids.project }),
    });
  await api('POST', '/issues/ENG-1497/comments', {
    body: 'I can reproduce this:\n\n1. Open the settings.\n2. Save without a change.\n\nSee also ENG-1495.',
  });
}

await decorate();
const driver = await openDriver();
const files: string[] = [];
const isOfDocs = folder.endsWith('docs/images');
const shots = isOfDocs
  ? Object.entries(documented).map(([name, path]) => ({ name, path }))
  : screens.map((path) => ({ name: path.slice(1).replaceAll(/[^a-zA-Z0-9]+/g, '-'), path }));
const looks = [
  { suffix: '', options: {} },
  ...(isOfDocs
    ? []
    : [
        { suffix: '-dark', options: { colorScheme: 'dark' as const } },
        { suffix: '-phone', options: phone },
      ]),
];
for (const { suffix, options } of looks) {
  const { page, close } = await driver.open('/welcome', options);
  for (const { name, path } of shots) {
    await page.goto(target.url + path);
    await isSettled(page);
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    const file = join(folder, `${name}${suffix}.png`);
    await page.screenshot({ path: file });
    files.push(file);
  }
  await close();
}
await driver.browser.close();
say({ files });
