// A workspace with issues in eight states, projects, cycles and boards. The words of its texts follow Zipf's law: the n-th word is
// 1/n as frequent as the first.
import type { Bench, TatamiChild } from './start.ts';

export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

export interface Size {
  readonly issues: number;
  readonly projects: number;
  readonly cycles: number;
  readonly boards: number;
}

export interface Catalogue extends TatamiChild {
  /** A board with eight columns, in which some cards were moved. */
  readonly board: string;
  /** Sequence of the event log after seeding. */
  readonly sequence: number;
}

const columns = 8;
const bulk = 100;
const vocabulary = 5_000;
const syllables = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ');
const shares = sharesOf(vocabulary);

function sharesOf(count: number): Float64Array {
  const sums = new Float64Array(count);
  for (let rank = 0, sum = 0; rank < count; rank++) sums[rank] = sum += 1 / (rank + 1);
  return sums.map((sum) => sum / sums[count - 1]!);
}

/** Returns the word of this rank; no word is a prefix of another. */
export function wordOf(rank: number): string {
  const base = syllables.length;
  return [rank / (base * base), rank / base, rank]
    .map((digit) => syllables[Math.floor(digit) % base])
    .join('');
}

/** Returns a function that makes texts of a number of words, in the same sequence in every run. */
function createText(): (words: number) => string {
  let state = 20_261_122;
  const next = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const share = state / 2 ** 32;
    let [low, high] = [0, vocabulary - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shares[middle]! < share) low = middle + 1;
      else high = middle;
    }
    return wordOf(low);
  };
  return (words) => Array.from({ length: words }, next).join(' ');
}

/** Restarts the server after seeding, as `list` does. */
export async function catalogue(bench: Bench, size: Size): Promise<Catalogue> {
  const first = await bench.tatami();
  const call = callOf(first);
  const states = await statesOf(call);
  const projects = await createAll(call, size.projects, '/projects', (n) => ({ name: `Project ${n}` }));
  const day = (n: number): string => new Date(Date.UTC(2031, 0, 1 + n)).toISOString();
  const cycles = await createAll(call, size.cycles, '/cycles', (n) => ({
    team: 'ENG',
    startsAt: day(n),
    endsAt: day(n + 1),
  }));
  const text = createText();
  for (let n = 0; n < size.issues; n += bulk)
    await call('POST', '/issues/bulk', {
      issues: Array.from({ length: bulk }, (_, index) => ({
        team: 'ENG',
        title: text(8),
        description: text(40),
        priority: ['none', 'low', 'medium', 'high'][(n + index) % 4],
        stateId: states[(n + index) % columns],
        projectId: projects[(n + index) % projects.length],
        ...(index % 10 === 0 ? { cycleId: cycles[(n / 10 + index / 10) % cycles.length] } : {}),
      })),
    });
  const boards = await createAll(call, size.boards, '/boards', (n) => boardOf(n, states));
  await moveCards(call, boards[0]!);
  await first.child.ask('settled');
  const { asOf } = await call<{ asOf: { sequence: number } }>(
    'GET',
    `/issues?limit=1&asOf=${new Date().toISOString()}`,
  );
  return { ...(await bench.anew(first)), board: boards[0]!, sequence: asOf.sequence };
}

export function callOf({ child }: TatamiChild): Call {
  return (method, path, body) => child.ask('call', { method, path, body });
}

/** @returns the ids of the created objects */
export async function createAll(
  call: Call,
  count: number,
  path: string,
  bodyOf: (n: number) => object,
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await call<{ id: string }>('POST', path, bodyOf(n))).id);
  return ids;
}

interface State {
  readonly id: string;
  readonly type: string;
}

/** Returns eight states of the team. Issues in any of them stay on the board. */
async function statesOf(call: Call): Promise<string[]> {
  const { data } = await call<{ data: State[] }>('GET', '/workflows?team=ENG');
  const usable = data.filter(({ type }) => type !== 'triage' && type !== 'duplicate').slice(0, columns);
  const further = await createAll(call, columns - usable.length, '/workflows', (n) => ({
    team: 'ENG',
    name: `Step ${n}`,
    type: 'started',
  }));
  return [...usable.map(({ id }) => id), ...further];
}

export function boardOf(n: number, states: readonly string[]): object {
  return { name: `Board ${n}`, team: 'ENG', groupBy: 'state', columns: states.map((value) => ({ value })) };
}

async function moveCards(call: Call, board: string): Promise<void> {
  const { columns: cardColumns } = await call<{ columns: { key: string; cards: { id: string }[] }[] }>(
    'GET',
    `/boards/${board}/cards?perColumn=25`,
  );
  for (const { key, cards } of cardColumns)
    for (const { id } of cards.slice(10, 15))
      await call('POST', `/boards/${board}/move`, { issueId: id, column: key });
}
