// The web app in a real browser: size of its files, list of 10,000 issues, board of 5,000 cards, live changes.
import { join } from 'node:path';
import { buildDashboard } from '../../build/dashboard.ts';
import { runInNode } from '../../test/browser/run.ts';
import type { WebAppResult } from '../load/web-app.ts';
import { cpuMs } from '../processes.ts';
import { judged, median, type Figure, type Findings, type Ratio } from '../report.ts';
import type { Effort } from '../rounds.ts';
import { callOf } from '../servers/catalogue.ts';
import { issueInput } from '../servers/seed.ts';
import { withServers, type TatamiChild } from '../servers/start.ts';

const cards = 5_000;
const person = { email: 'bench@acme.example', password: 'thirty swans above the mill' };

export function dashboard(effort: Effort): Promise<Findings> {
  const issues = effort.isLarge ? 20_000 : 10_000;
  const list = `list of ${issues.toLocaleString('en')}`;
  return withServers(async ({ tatami, anew }) => {
    const seeded = await tatami({ issues: issues - cards });
    const board = await makeBoard(seeded);
    const ours = await anew(seeded);
    const cookie = await sessionOf(ours);
    const { answerMs, serverMs } = await listed(ours, effort.rounds);
    const target = { url: ours.url, cookie, key: ours.apiKey, ids: { board } };
    const program = join('../../bench/load/web-app.ts');
    const seen = await runInNode<WebAppResult>(program, [JSON.stringify(target), `${effort.rounds}`]);
    const sizes = await compressed(ours, seen.assets);
    const loadMs = seen.staticPage + 1.5 * answerMs + 100;
    const pack = (await buildDashboard()).length;
    return {
      ratios: [
        limit('web app: JavaScript of the first screen, gzip', sizes.js / 1e3, 200, 'KB'),
        limit('web app: CSS of the first screen, gzip', sizes.css / 1e3, 30, 'KB'),
        limit('web app: all files in the executable', pack / 1e6, 3, 'MB'),
        limit(`${list}: CPU to the first rows`, median(seen.listOpened), 1.5 * answerMs + 100, 'ms'),
        limit(`${list}: the same by address`, median(seen.listFirst), loadMs, 'ms'),
        limit(`${list}: CPU of a frame while scrolling, highest`, Math.max(...seen.scrollCpu), 50, 'ms'),
        limit('board of 5,000: CPU to the first cards', median(seen.boardFirst), 300, 'ms'),
        limit('board of 5,000: CPU of a move', median(seen.move), 50, 'ms'),
        limit('list: API write to visible, longest of 10', Math.max(...seen.visibleAfter), 300, 'ms'),
        limit('list: heap after 1,000 events', seen.heapMb, 150, 'MB'),
      ],
      figures: figuresOf(list, seen, answerMs, serverMs),
    };
  });
}

function figuresOf(list: string, seen: WebAppResult, answerMs: number, serverMs: number): Figure[] {
  const ms = (name: string, value: number): Figure => ({ name, value, unit: 'ms' });
  return [
    ms('static page (/sign-in): CPU of the tab', seen.staticPage),
    ms(`${list}: answer of the API`, answerMs),
    ms(`${list}: CPU of the server per answer`, serverMs),
    ms(`${list}: time to the first rows`, median(seen.listShown)),
    ms(`${list}: CPU of a frame while scrolling, median`, median(seen.scrollCpu)),
    ms(`${list}: longest time between frames while scrolling`, Math.max(...seen.framesScrolling)),
    ms(`${list}: longest time between frames at rest`, Math.max(...seen.framesAtRest)),
    ms('list: API write to visible, median of 10', median(seen.visibleAfter)),
  ];
}

const limit = (name: string, ours: number, most: number, unit: string): Ratio =>
  judged({ name, ours, yardstick: most, unit, cpuRatio: null, reach: 1, bound: 'most', sides: {} });

/** Spreads the cards of one team over the columns of its board. @returns the id of the board */
async function makeBoard(server: TatamiChild): Promise<string> {
  const call = callOf(server);
  await call('POST', '/teams', { key: 'BRD', name: 'Board' });
  const { data } = await call<{ data: { id: string }[] }>('GET', '/workflows?team=BRD');
  const bulk = 100;
  for (let n = 0; n < cards; n += bulk)
    await call('POST', '/issues/bulk', {
      issues: Array.from({ length: bulk }, (_, i) => ({
        ...issueInput(n + i),
        team: 'BRD',
        stateId: data[(n + i) % data.length]!.id,
      })),
    });
  await server.child.ask('settled');
  return (await call<{ id: string }>('POST', '/boards', { name: 'Cards', team: 'BRD' })).id;
}

/** Returns the cookie of a person who accepted an invitation as admin. */
async function sessionOf(server: TatamiChild): Promise<string> {
  const call = callOf(server);
  const member = await call<{ id: string }>('POST', '/members', { name: 'Bench', role: 'admin' });
  const { url } = await call<{ url: string }>('POST', `/members/${member.id}/invitation`);
  const response = await fetch(server.url + new URL(url).pathname, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: server.url },
    body: new URLSearchParams({ name: 'Bench', ...person }),
  });
  const session = response.headers.getSetCookie().find((line) => /^(__Host-)?tatami=[^;]/.test(line));
  if (!session) throw new Error(`Accepting the invitation returned ${response.status} without a session.`);
  return session.split(';')[0]!;
}

/** Reads the page of issues that the list shows first. */
async function listed(
  { url, headers, child }: TatamiChild,
  rounds: number,
): Promise<{ answerMs: number; serverMs: number }> {
  const times: number[] = [];
  const count = rounds * 10;
  const before = cpuMs(child.pid);
  for (let round = 0; round < count; round++) {
    const startedMs = performance.now();
    const response = await fetch(`${url}/api/v1/issues?limit=100`, { headers });
    await response.text();
    if (!response.ok) throw new Error(`The list answered ${response.status}.`);
    times.push(performance.now() - startedMs);
  }
  return { answerMs: median(times), serverMs: (cpuMs(child.pid) - before) / count };
}

async function compressed(
  { url }: TatamiChild,
  assets: readonly string[],
): Promise<{ js: number; css: number }> {
  const sizes = { js: 0, css: 0 };
  for (const path of assets) {
    const response = await fetch(url + path, { headers: { 'accept-encoding': 'gzip' }, decompress: false });
    sizes[path.endsWith('.css') ? 'css' : 'js'] += (await response.bytes()).length;
  }
  return sizes;
}
