// Displays the health of an automation, with the facts of its page.
import type { AutomationHealth } from '../../../../../sdk/client/index.ts';
import { counted } from '../../../../platform/lib/text/words.ts';
import { minuteOf, tableOf } from '../../lib/table.ts';
import { displayValue } from './runs.ts';

type Conflict = AutomationHealth['conflicts'][number];

export function healthView(health: AutomationHealth): string {
  const { basis, overruled, failures, loops, conflicts } = health;
  return [
    ...factLines(health),
    ...section('Overruled by people', overruledLines(overruled), 'People changed nothing back.'),
    ...section(
      'Failures',
      failures.map(
        ({ message, count, lastAt, runId }) =>
          `${message} (${counted(count, 'time')}, last ${minuteOf(lastAt)} by ${runId})`,
      ),
      'No run failed.',
    ),
    ...section(
      'Loops',
      loops.map(({ message, at, runId }) => `${message} (${minuteOf(at)}, ${runId})`),
      'It did not trigger itself.',
    ),
    ...section(
      basis === 'backtest' ? 'Conflicts, from its backtest' : 'Conflicts',
      conflicts.flatMap(conflictLines),
      'No other automation sets the same fields otherwise.',
    ),
  ].join('\n');
}

const timeOrNever = (at: string | null): string => (at === null ? 'never' : minuteOf(at));

function factLines({ lastActedAt, lastRunAt, days, runs, usage, waitsFor }: AutomationHealth): string[] {
  const { total, acted, proposed, failed } = runs;
  return tableOf([
    ['Last acted', timeOrNever(lastActedAt)],
    ['Last run', timeOrNever(lastRunAt)],
    [`Runs in ${days} days`, `${total}, of which ${acted} acted, ${proposed} proposed, ${failed} failed`],
    ['Today', `${counted(usage.runs, 'run')}, ${Math.round(usage.cpuMs)} ms of CPU time`],
    ...(waitsFor
      ? [['Waits', `until ${minuteOf(waitsFor.until)}: the daily budget of ${waitsFor.quantity} is used up`]]
      : []),
  ]);
}

const section = (title: string, lines: readonly string[], none: string): string[] => [
  '',
  title,
  ...(lines.length === 0 ? [none] : lines).map((line) => `  ${line}`),
];

const issueText = ({ identifier, id }: Conflict['example']['issue']): string => identifier ?? id;

function overruledLines({ overruled, changes, share, examples }: AutomationHealth['overruled']): string[] {
  if (overruled === 0) return [];
  const percent = share === null ? '' : ` (${Math.round(share * 100)} %)`;
  return [
    `People changed ${overruled} of ${changes} back${percent}.`,
    ...examples.map(
      ({ issue, field, set, now, by, at }) =>
        `${issueText(issue)}  ${field}: set to ${displayValue(set)}, then to ${displayValue(now)} by ${by}, ${minuteOf(at)}`,
    ),
  ];
}

function conflictLines({ with: { kind, name }, field, count, example }: Conflict): string[] {
  const { issue, ours, theirs } = example;
  return [
    `${name}${kind === 'plugin' ? ' (plugin)' : ''} sets ${field} otherwise, ${counted(count, 'time')}`,
    `  ${issueText(issue)}: this automation set ${displayValue(ours.value)}, ${name} set ${displayValue(theirs.value)}, ${minuteOf(theirs.at)}`,
  ];
}
