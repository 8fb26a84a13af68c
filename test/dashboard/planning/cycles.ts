// Completes a cycle after a look at the issues that roll over.
import { api } from '../browser.ts';
import type { Visit } from './visit.ts';

interface Cycle {
  readonly id: string;
  readonly name: string;
}

const dayMs = 86_400_000;
const dayAfter = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

async function makeCycles(): Promise<readonly [Cycle, Cycle]> {
  const team = 'CYC';
  await api('POST', '/teams', { key: team, name: 'With cycles' });
  const current = await api<Cycle>('POST', '/cycles', { team, startsAt: dayAfter(-3), endsAt: dayAfter(4) });
  const next = await api<Cycle>('POST', '/cycles', { team, startsAt: dayAfter(4), endsAt: dayAfter(11) });
  await api('POST', `/cycles/${current.id}/start`);
  for (const [title, state] of [
    ['Unfinished work', 'unstarted'],
    ['Finished work', 'completed'],
  ])
    await api('POST', '/issues', { team, title, state, cycleId: current.id });
  return [current, next];
}

/** @returns the preview, and the cycle of the unfinished issue afterwards */
export async function cycleSteps({ page, go, look, escape, message, problems }: Visit): Promise<object> {
  const [current, next] = await makeCycles();
  await go(`/cycles/${current.id}`);
  const open = page.getByRole('button', { name: 'Complete cycle' });
  await open.press('Enter');
  await escape('Complete the cycle?');
  await open.press('Enter');
  const dialog = await look('Complete the cycle?');
  const sentence = await dialog.getByText(/^1 unfinished issue/).innerText();
  const rows = await dialog.getByRole('listitem').allInnerTexts();
  // The event arrives before the answer.
  await page.route('**/complete', async (route) => {
    const response = await route.fetch();
    await page.locator('h2').getByText('Rolled over').waitFor({ state: 'attached' });
    await route.fulfill({ response });
  });
  await dialog.getByRole('button', { name: 'Complete cycle' }).press('Enter');
  await message(`${current.name} completed.`);
  await page.getByRole('heading', { name: 'Rolled over' }).waitFor();
  if (await page.evaluate(() => document.activeElement === document.body)) problems.push('The focus is lost');
  const filter = encodeURIComponent(JSON.stringify({ cycle: next.id }));
  const { data } = await api<{ data: { title: string }[] }>('GET', `/issues?filter=${filter}`);
  return {
    sentence: sentence.replace(next.name, 'NEXT'),
    rows: rows.map((row) =>
      row
        .replaceAll(/\s+/g, ' ')
        .replace(/\w+-\d+/, 'ID')
        .replace(next.name, 'NEXT')
        .trim(),
    ),
    moved: data.map(({ title }) => title),
  };
}
