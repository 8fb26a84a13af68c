// Verdicts on the runs of hostile plugins.
import type { Hostile } from './case.ts';
import { isOver, readAll, type AttackIssue, type AttackRunError, type Runs, type Stage } from './stage.ts';

export interface AttackVerdict {
  readonly verdict: 'held' | 'got through' | 'not judged';
  /** Limit that stopped it, or object that it reached. */
  readonly why: string;
}

export const blocked = (why: string): AttackVerdict => ({ verdict: 'held', why });
export const gotThrough = (why: string): AttackVerdict => ({ verdict: 'got through', why });
export const notJudged = (why: string): AttackVerdict => ({ verdict: 'not judged', why });

type Ending = Pick<Hostile, 'ends' | 'runs' | 'code' | 'isLoop'>;

export function judgeRuns(hostile: Ending, runs: Runs): AttackVerdict {
  const said = runs.flatMap(({ logs }) => logs.map(({ message }) => message));
  const through = said.find((message) => message.startsWith('found '));
  if (through !== undefined) return gotThrough(through);
  if (runs.some(isFlooded)) return gotThrough('the log of the run was too long or had control characters');
  if (runs.length < (hostile.runs ?? 1) || !runs.every(isOver)) return notJudged('the run did not end');
  const errors = runs.flatMap(({ error }) => error ?? []);
  return hostile.ends === 'stopped'
    ? judgeStopped(hostile, errors, runs.length)
    : judgeEnded(hostile, errors, said);
}

/** One stopped run is enough for a loop; otherwise every run must be stopped. */
function judgeStopped(
  { code, isLoop }: Ending,
  errors: readonly AttackRunError[],
  runs: number,
): AttackVerdict {
  const [error] = errors;
  if (!error || (!isLoop && errors.length < runs)) return gotThrough('the run was not stopped');
  if (code !== undefined && error.code !== code)
    return notJudged(`stopped by ${error.code}, not by ${code}: ${error.message}`);
  return blocked(error.code);
}

function judgeEnded(
  { ends }: Ending,
  [error]: readonly AttackRunError[],
  said: readonly string[],
): AttackVerdict {
  if (ends === 'either') return blocked(error ? error.code : 'no access found');
  if (error) return notJudged(`${error.code}: ${error.message}`);
  return said.includes('clean') ? blocked('no access found') : notJudged('the run did not complete');
}

/** A log has no control characters and at most 16 KiB, plus the note that it was cut. */
function isFlooded({ logs }: Runs[number]): boolean {
  const text = logs.map(({ message }) => message).join('');
  return text.length > 20_000 || /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text);
}

interface Event {
  readonly actor: { readonly kind: string; readonly id: string };
}

/** Counts the events of an issue that the install caused; other plugins of the workspace may change the issue too. */
export async function eventsBy({ call }: Stage, plugin: string, issue: string): Promise<number> {
  const all = await readAll<Event>(call, `/issues/${issue}/history`);
  return all.filter(({ actor }) => actor.kind === 'plugin' && actor.id === plugin).length;
}

/** Returns the verdict, or `got through` if the plugin changed one of the issues. */
export async function unlessTouched(
  stage: Stage,
  plugin: string,
  issues: readonly AttackIssue[],
  found: AttackVerdict,
): Promise<AttackVerdict> {
  if (found.verdict === 'got through') return found;
  const events = await Promise.all(issues.map(({ id }) => eventsBy(stage, plugin, id)));
  const touched = issues.filter((_, at) => events[at]! > 0);
  return touched.length === 0 ? found : gotThrough(`changed ${touched.map(({ title }) => title).join(', ')}`);
}
