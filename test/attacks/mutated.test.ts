// A valid export with random changes is rejected with an error, or imported completely: the doctor finds nothing, and
// every list is served. TATAMI_SEED repeats a run. TATAMI_MUTATIONS makes it longer, and then every imported workspace
// is served, not only the first ones.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { fillPath } from '../api/seeds.ts';
import { createSystemClock, startApp, type Json } from '../app.ts';
import { tatami, temporary } from '../cli/tatami.ts';
import { createTargets, exportSeeded, type Exported, type Target } from './exported.ts';

const seed = Number(process.env.TATAMI_SEED ?? Math.trunc(Math.random() * 1e9));
const mutations = Number(process.env.TATAMI_MUTATIONS ?? 25);
const servedMax = process.env.TATAMI_MUTATIONS === undefined ? 1 : Infinity;
const dir = temporary();
const newTarget = createTargets(dir.path('targets'));
let file: Exported;
let target: Target;
beforeAll(async () => {
  file = await exportSeeded();
  target = await newTarget();
}, 60_000);
afterAll(async () => {
  await target.close();
  dir[Symbol.dispose]();
});

/** mulberry32 */
let state = seed;
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

const values: readonly (() => unknown)[] = [
  () => null,
  () => '',
  () => pick([0, 1, -1, 2 ** 53, 1e308, -0.5, 8.64e15, 8.64e15 + 1]),
  () => pick(['../../x', '\u202ex', '\ud800', '\0', "'; DROP TABLE issues; --", 'x'.repeat(300_000)]),
  () => pick(['{}', '[]', '[null]', '{"a":{}}', 'null', '{"__proto__":{"a":1}}', '[1', '"x"']),
  () => pick([true, [], {}, { hex: 'zz' }]),
  () => (JSON.parse(pick(rowLines())) as Json).row.id,
];
const rowLines = (): string[] => file.lines.filter((line) => line.startsWith('{"table"'));

/** Changes a cell, a column, a line, the order, or a few characters. */
function mutated(lines: readonly string[]): string[] {
  const at = 1 + Math.floor(random() * (lines.length - 1));
  const line = lines[at]!;
  const parsed = JSON.parse(line) as Json;
  const choice = random();
  if (choice < 0.6 && parsed.row) {
    const column = pick(Object.keys(parsed.row));
    return lines.with(at, JSON.stringify({ ...parsed, row: { ...parsed.row, [column]: pick(values)() } }));
  }
  if (choice < 0.7 && parsed.row) {
    const { [pick(Object.keys(parsed.row))]: _, ...row } = parsed.row;
    return lines.with(at, JSON.stringify({ ...parsed, row }));
  }
  if (choice < 0.75) return recounted(lines.toSpliced(at, 1));
  if (choice < 0.8) return recounted(lines.toSpliced(at, 0, line));
  if (choice < 0.85) return lines.with(at, lines[at - 1]!).with(at - 1, line);
  const from = Math.floor(random() * line.length);
  return lines.with(at, line.slice(0, from) + pick(['"', '}', '0', 'é', '\\', '']) + line.slice(from + 1));
}

function recounted(lines: readonly string[]): string[] {
  const rows = lines.filter((line) => line.startsWith('{"table"')).length;
  return lines.map((line) => (line.startsWith('{"end"') ? JSON.stringify({ end: true, rows }) : line));
}

/** @returns the faults of an imported workspace; afterwards the target is a new one */
async function faultsOf({ dataDir, close }: Target): Promise<string[]> {
  await close();
  const looked = await tatami(['doctor', '--data-dir', dataDir, '--json']);
  const faults = looked.json.checks.flatMap(({ check, findings }: Json) =>
    findings
      .filter(({ level }: Json) => level === 'error')
      .map(({ message }: Json) => `${check}: ${message}`),
  );
  const of = ['--data-dir', dataDir, '--workspace', file.workspaceId, '--json', '--name', 'x'];
  const { json } = await tatami(['keys', 'create', ...of]);
  const workspace = { workspaceId: file.workspaceId, userId: file.userId, apiKey: json.key };
  const app = await startApp(
    { dataDir, clock: createSystemClock() },
    { ...workspace, teamId: file.seeds.team!, teamKey: 'ENG', setUpUrl: '' },
  );
  const paths = app.app.routes
    .filter(({ method, path, cached }) => method === 'GET' && path.startsWith('/api/') && !cached)
    .map(({ path, params }) => fillPath(path, params, file.seeds));
  for (const path of paths) {
    const { status, text } = await app.call('GET', path);
    if (status >= 500) faults.push(`${path} answers ${status}: ${text}`);
  }
  await app.stop();
  target = await newTarget();
  return faults;
}

test(`a randomly changed export is rejected completely or imported completely (seed ${seed})`, async () => {
  expect(await target.import(file.lines)).toBeNull();
  expect(await faultsOf(target)).toEqual([]);
  let served = 0;
  for (let n = 0; n < mutations; n++) {
    const lines = mutated(file.lines);
    const refusal = await target.import(lines);
    const changes = lines.filter((line) => !file.lines.includes(line)).map((line) => line.slice(0, 300));
    if (refusal !== null) {
      expect(refusal.message.length).toBeGreaterThan(20);
      expect(target.rows()).toBe(0);
    } else if (changes.length > 0 && served++ < servedMax)
      expect({ changes, faults: await faultsOf(target) }).toEqual({ changes, faults: [] });
    else {
      await target.close();
      target = await newTarget();
    }
  }
}, 3_600_000);
