// Opens the web app in a browser and measures it. Runs under Node, because Playwright does not work well under Bun.
import type { CDPSession, Page, Response } from 'playwright-core';
import { isSettled } from '../../test/browser/people.ts';
import { api, openDriver, say, target, type Tab } from '../../test/dashboard/browser.ts';

/** CPU times are of the main thread of the tab, in milliseconds; so are all other times. */
export interface WebAppResult {
  readonly staticPage: number;
  /** Paths of the files that the first screen loads. */
  readonly assets: readonly string[];
  readonly listFirst: readonly number[];
  readonly listShown: readonly number[];
  /** The same from another screen of the open app. */
  readonly listOpened: readonly number[];
  /** Times between frames: while the list is at rest, and while it scrolls. */
  readonly framesAtRest: readonly number[];
  readonly framesScrolling: readonly number[];
  readonly scrollCpu: readonly number[];
  readonly boardFirst: readonly number[];
  readonly move: readonly number[];
  readonly visibleAfter: readonly number[];
  readonly heapMb: number;
}

const driver = await openDriver();
const rounds = Number(process.argv[3]);
const liveEvents = 1_000;
const scrolls = 120;

/** Reads the CPU time of the main thread of a tab. */
async function cpuOf(page: Page): Promise<{ session: CDPSession; cpuMs(): Promise<number> }> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return { session, cpuMs: async () => (await metric(session, 'TaskDuration')) * 1_000 };
}

async function metric(session: CDPSession, name: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((one) => one.name === name)?.value ?? NaN;
}

interface Opening {
  readonly cpu: number;
  readonly shown: number;
}

/** Opens a path in a new tab of a browser that has the files already. @param first what the person waits for */
async function opening(page: Page, path: string, first: string): Promise<Opening> {
  const { session, cpuMs } = await cpuOf(page);
  const before = await cpuMs();
  const startedMs = performance.now();
  await page.goto(target.url + path, { waitUntil: 'commit' });
  await page.locator(first).first().waitFor();
  const shown = performance.now() - startedMs;
  const cpu = (await cpuMs()) - before;
  await session.detach();
  return { cpu, shown };
}

async function repeated(tab: Tab, path: string, first: string): Promise<Opening[]> {
  const all: Opening[] = [];
  for (let round = -1; round < rounds; round++) {
    const page = await tab.page.context().newPage();
    const one = await opening(page, path, first);
    if (round >= 0) all.push(one);
    await page.close();
  }
  return all;
}

/** Opens the list from another screen, without what was loaded before. */
async function listOpened({ page }: Tab): Promise<number[]> {
  const { session, cpuMs } = await cpuOf(page);
  const all: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await page.goto(`${target.url}/my-issues`);
    await isSettled(page);
    const before = await cpuMs();
    await page.getByRole('link', { name: 'Issues', exact: true }).click();
    await page.getByRole('grid', { name: 'Issues' }).locator('a').first().waitFor();
    all.push((await cpuMs()) - before);
  }
  await session.detach();
  return all;
}

/** Records the times between frames while `work` runs. */
async function frames(page: Page, work: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const gaps: number[] = [];
    let last = performance.now();
    const next = (): void => {
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      if (gaps.length < 10_000) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    Object.assign(globalThis, { gaps });
  });
  await work();
  return page.evaluate(() => (globalThis as unknown as { gaps: number[] }).gaps.splice(0));
}

async function scrolled(
  page: Page,
): Promise<Pick<WebAppResult, 'framesAtRest' | 'framesScrolling' | 'scrollCpu'>> {
  const { cpuMs } = await cpuOf(page);
  await page.mouse.move(640, 500);
  const framesAtRest = await frames(page, () => page.waitForTimeout(1_000));
  const scrollCpu: number[] = [];
  const framesScrolling = await frames(page, async () => {
    for (let at = 0; at < scrolls; at++) {
      const before = await cpuMs();
      await page.mouse.wheel(0, 400);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      scrollCpu.push((await cpuMs()) - before);
    }
  });
  return { framesAtRest, framesScrolling, scrollCpu };
}

/** Moves the first card of a column to the next one, and back, by keyboard. */
async function moves({ page }: Tab): Promise<number[]> {
  const { cpuMs } = await cpuOf(page);
  const all: number[] = [];
  for (let round = 0; round < rounds * 2; round++) {
    const [from, to, arrow] =
      round % 2 === 0
        ? (['Backlog', 'Todo', 'ArrowRight'] as const)
        : (['Todo', 'Backlog', 'ArrowLeft'] as const);
    const card = page.getByRole('list', { name: from }).getByRole('listitem').first();
    const name = (await card.getAttribute('aria-label'))!;
    await card.getByRole('link').focus();
    const before = await cpuMs();
    for (const key of ['Space', arrow, 'Space']) await page.keyboard.press(key);
    await page
      .getByRole('list', { name: to })
      .locator(`[aria-label=${JSON.stringify(name)}]`)
      .waitFor();
    all.push((await cpuMs()) - before);
    await page.waitForTimeout(300);
    await isSettled(page);
  }
  return all;
}

/** Resolves to the time at which the page shows the text, in milliseconds of this machine. */
function shownAt(page: Page, text: string): Promise<number> {
  return page.evaluate(
    (wanted) =>
      new Promise<number>((resolve) => {
        const look = (): void => {
          if (!document.querySelector('[role=grid]')?.textContent?.includes(wanted)) return;
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

async function visible(page: Page): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < 10; round++) {
    const title = `Live change ${round}`;
    const shown = shownAt(page, title);
    await api('POST', '/issues', { team: 'ENG', title });
    const answered = Date.now();
    all.push(Math.max(0, (await shown) - answered));
  }
  return all;
}

/** Returns the heap of the tab after many events, with the garbage that it has then. */
async function heapAfterEvents(page: Page): Promise<number> {
  const { session } = await cpuOf(page);
  const bulk = 100;
  for (let at = 0; at < liveEvents; at += bulk)
    await api('POST', '/issues/bulk', {
      issues: Array.from({ length: bulk }, (_, n) => ({ team: 'ENG', title: `Event ${at + n}` })),
    });
  const shown = shownAt(page, 'The last event');
  await api('POST', '/issues', { team: 'ENG', title: 'The last event' });
  await shown;
  return (await metric(session, 'JSHeapUsedSize')) / 1e6;
}

async function staticPage(): Promise<number> {
  const context = await driver.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const { cpu } = await opening(page, '/sign-in', 'h1');
  await context.close();
  return cpu;
}

/** Opens a path. @returns the paths of the files that it loads, with that of the shared worker */
async function assetsOf(page: Page, path: string): Promise<string[]> {
  const found = new Set<string>();
  const add = (response: Response): void => void found.add(new URL(response.url()).pathname);
  page.on('response', add);
  await page.goto(target.url + path);
  await isSettled(page);
  page.off('response', add);
  found.add((await page.locator('meta[name=worker]').getAttribute('content'))!);
  return [...found].filter((name) => name.startsWith('/assets/'));
}

const row = '[role=grid] [role=row] a';
const card = 'main [role=list] [role=listitem], main ul li a';
await staticPage();
const ofStaticPage = await staticPage();
const tab = await driver.open('/sign-in');
const assets = await assetsOf(tab.page, '/my-issues');
const lists = await repeated(tab, '/issues', row);
const openedInApp = await listOpened(tab);
await tab.page.goto(`${target.url}/issues`);
await tab.page.locator(row).first().waitFor();
await isSettled(tab.page);
const scrolling = await scrolled(tab.page);
await tab.page.goto(`${target.url}/issues`);
await tab.page.locator(row).first().waitFor();
await isSettled(tab.page);
const visibleAfter = await visible(tab.page);
const heapMb = await heapAfterEvents(tab.page);
const board = `/boards/${target.ids['board']}`;
const boards = await repeated(tab, board, card);
await tab.page.goto(target.url + board);
await isSettled(tab.page);
const move = await moves(tab);
await driver.browser.close();
say({
  staticPage: ofStaticPage,
  assets,
  listFirst: lists.map(({ cpu }) => cpu),
  listShown: lists.map(({ shown }) => shown),
  listOpened: openedInApp,
  ...scrolling,
  boardFirst: boards.map(({ cpu }) => cpu),
  move,
  visibleAfter,
  heapMb,
} satisfies WebAppResult);
