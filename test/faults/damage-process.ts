// Damages copies of a data directory, starts on each, and reports the outcome. It is a separate process, because a
// damage might end it. Prints one JSON line before and one after each case. Argument: JSON of `Task`.
import { mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../core/app/config/config.ts';
import { serve, type Tatami } from '../../core/app/serve/serve.ts';
import { createClock } from '../app.ts';
import { damageOfSeed } from './damages.ts';
import { copyAsKilled } from './own-copy.ts';
import { seededRandom } from './server.ts';

export interface Task {
  /** Parent of the directories `closed`, `killed` and `earlier`. */
  readonly parent: string;
  readonly token: string;
  readonly nowMs: number;
  readonly seeds: readonly [from: number, to: number];
  /** Interval of the cases with a second start. */
  readonly startsAgain: number;
  /** Directory → path → correct response. */
  readonly right: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Outcome {
  readonly seed: number;
  readonly what: string;
  /** `refused`: rejected with a message; `only read`: reported as damaged; `goes on`: accepts writes. */
  readonly start: 'refused' | 'only read' | 'goes on';
  readonly message: string;
  readonly answers: { readonly right: number; readonly refused: number };
  /** Violations. */
  readonly wrong: readonly string[];
}

const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);

async function ask(
  { app }: Tatami,
  token: string,
  method: string,
  path: string,
): Promise<{ status: number; text: string }> {
  const response = await app.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: '{"team":"ENG","title":"One more"}' } : {}),
    }),
  );
  return { status: response.status, text: await response.text() };
}

async function look(tatami: Tatami, task: Task, right: Readonly<Record<string, string>>) {
  const wrong: string[] = [];
  const answers = { right: 0, refused: 0 };
  for (const [path, wanted] of Object.entries(right)) {
    const { status, text } = await ask(tatami, task.token, 'GET', path);
    if (status === 503) answers.refused++;
    else if (status === 200 && text === wanted) answers.right++;
    else wrong.push(`GET ${path}: ${status} ${text.slice(0, 200)}`);
  }
  const { status: ready } = await ask(tatami, task.token, 'GET', '/readyz');
  const { status: written } = await ask(tatami, task.token, 'POST', '/api/v1/issues');
  if (ready === 200 && answers.refused > 0) wrong.push('ready, though reads are refused');
  if ((ready === 200) !== (written === 201)) wrong.push(`readyz ${ready}, but a write answers ${written}`);
  return { wrong, answers, start: written === 201 ? ('goes on' as const) : ('only read' as const) };
}

async function startOn(dataDir: string, task: Task, right: Readonly<Record<string, string>>) {
  let tatami: Tatami;
  try {
    tatami = await serve({
      config: readConfig({ dataDir, port: '0', rateLimit: 'off', baseUrl: 'http://localhost' }, {}),
      log: () => undefined,
      clock: createClock(task.nowMs),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isClear = message.includes(dataDir) || /acknowledged writes/.test(message);
    const wrong = isClear && /tatami (restore|backup)/.test(message) ? [] : [`unclear: ${message}`];
    return { start: 'refused' as const, message, wrong, answers: { right: 0, refused: 0 } };
  }
  const problems = tatami.services.problems.list().map(({ message }) => message);
  const seen = await look(tatami, task, right);
  await tatami.stop();
  return { ...seen, message: problems.join(' ') };
}

async function run(task: Task): Promise<void> {
  const older = readFileSync(join(task.parent, 'earlier', 'tatami.db'));
  for (let seed = task.seeds[0]; seed < task.seeds[1]; seed++) {
    const random = seededRandom(seed * 7919 + 1);
    for (let n = 0; n < 5; n++) random();
    const damage = damageOfSeed(random, older);
    const what = `${damage.base} ${damage.file}: ${damage.how}`;
    say({ begins: seed, what });
    const dir = copyAsKilled(
      `${join(task.parent, damage.base)}/.`,
      mkdtempSync(join(tmpdir(), 'tatami-damage-')),
    );
    const isChanged = damage.apply(dir);
    const right = task.right[damage.base] ?? {};
    const first = await startOn(dir, task, right);
    // A supervisor restarts an ended server, which is simulated in some cases only.
    const isOnce = first.start === 'goes on' || seed % task.startsAgain !== 0;
    const again = isOnce ? first : await startOn(dir, task, right);
    // A page that is in the log is not read from the file, and only a killed server leaves such pages.
    const mustReport = isChanged && damage.base === 'closed' && damage.file === 'tatami.db';
    const unnoticed =
      mustReport && first.start === 'goes on' ? ['a change of the database was not noticed'] : [];
    const differs = again.start === first.start ? [] : [`${first.start}, then ${again.start}`];
    say({
      seed,
      what,
      ...first,
      wrong: [...first.wrong.slice(0, 3), ...again.wrong.slice(0, 3), ...differs, ...unnoticed],
    } satisfies Outcome);
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function main([task = '']: readonly string[]): Promise<void> {
  await run(JSON.parse(readFileSync(task, 'utf8')) as Task);
  process.exit(0);
}
