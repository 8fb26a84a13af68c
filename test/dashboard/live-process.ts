// Watches the web app while the data changes elsewhere. Prints times in milliseconds and what tabs show.
import type { Page } from 'playwright-core';
import { api, openDriver, say, target, type Tab } from './browser.ts';
import { isSettled } from '../browser/people.ts';

const driver = await openDriver();

/** Resolves to the time at which the page shows the text, in milliseconds of this machine. */
function shownAt(page: Page, text: string): Promise<number> {
  return page.evaluate(
    (wanted) =>
      new Promise<number>((resolve) => {
        const look = (): void => {
          if (!document.body.innerText.includes(wanted)) return;
          observer.disconnect();
          resolve(Date.now());
        };
        const observer = new MutationObserver(look);
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        look();
      }),
    text,
  );
}

async function isLive({ page }: Tab): Promise<void> {
  await page.getByRole('grid').waitFor();
  await isSettled(page);
}

/** @returns the milliseconds from the answer of the API to the last tab that shows the issue */
async function visibleAfter(title: string, tabs: readonly Tab[]): Promise<number> {
  const shown = tabs.map(({ page }) => shownAt(page, title));
  await api('POST', '/issues', { team: 'ENG', title });
  const answered = Date.now();
  return Math.max(...(await Promise.all(shown))) - answered;
}

/** Returns the number of event streams that the server has opened since its start. */
async function openedStreams(): Promise<number> {
  const text = await (await fetch(target.metrics)).text();
  const found = /^tatami_http_requests_total\{.*events\/stream",status="200"\} (\d+)$/m.exec(text);
  return Number(found?.[1] ?? 0);
}

const streamsBefore = await openedStreams();
const first = await driver.open('/issues');
await isLive(first);
const delays: number[] = [];
for (let round = 1; round <= 3; round++) delays.push(await visibleAfter(`Live ${round}`, [first]));

const tabs = [first];
for (let at = 1; at < 5; at++) tabs.push(await first.another('/issues'));
await Promise.all(tabs.map(isLive));
const fiveTabs = await visibleAfter('For five tabs', tabs);
const streams = (await openedStreams()) - streamsBefore;
const complaints = [...first.complaints];
await first.close();

// Without shared workers one tab reads the stream for the others, and another one takes over.
const leader = await driver.open('/issues', { init: 'delete globalThis.SharedWorker' });
await isLive(leader);
const follower = await leader.another('/issues');
await isLive(follower);
const byLeader = await visibleAfter('Through the leader', [leader, follower]);
await leader.page.close();
const afterLeader = await visibleAfter('After the leader', [follower]);

// An edit of somebody else appears in place, and a deleted issue disappears.
const { id } = await api('POST', '/issues', { team: 'ENG', title: 'Before the edit' });
await shownAt(follower.page, 'Before the edit');
await api('PATCH', `/issues/${id}`, { title: 'After the edit' });
await shownAt(follower.page, 'After the edit');
await api('DELETE', `/issues/${id}`);
await follower.page.getByText('After the edit').waitFor({ state: 'detached' });

// A sign-out elsewhere ends the session of this tab.
const account = await follower.another('/account');
await account.page.getByRole('button', { name: 'Sign out' }).first().click();
await follower.page.waitForURL(/\/sign-in/);
complaints.push(...follower.complaints.filter((one) => !one.includes('401')));
await driver.browser.close();
say({ delays, fiveTabs, streams, byLeader, afterLeader, complaints });
