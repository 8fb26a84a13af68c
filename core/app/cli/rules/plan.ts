// `tatami rules plan DIR`: compares a folder with the automations of the server, and backtests rules that differ.
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import type { BacktestReport } from '../../../features/plugins/offline.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { wholeNumber } from '../lib/flags.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { waitFor, type Backtest } from '../plugin/backtest.ts';
import { readFilled } from './files.ts';
import { planLines, summaryOf } from './lines.ts';
import { changesParts, planOf, wantedOf, type Step } from './steps.ts';

export interface PlanOptions extends RemoteOptions {
  /** Deletes the automations that no file describes. */
  delete?: boolean;
  /** False to skip the backtests. */
  backtest?: boolean;
  days: string;
}

const daysMax = 365;

/** @param folder where relative paths begin */
export async function plan(dir: string, options: PlanOptions, folder: string): Promise<void> {
  const days = wholeNumber('--days', options.days, 1, daysMax);
  const call = connect(options);
  const terms = { deletes: options.delete === true, endsProbation: false };
  const planned = await planOf(call, readFilled(dir, folder), terms);
  const backtests: (string | null)[] = [];
  for (const step of planned.steps)
    backtests.push(options.backtest === false ? null : await backtestOf(call, step, days));
  const shown = planned.steps.map((step, at) => ({ ...summaryOf(step), backtest: backtests[at] ?? null }));
  const others = planned.others.map(({ id, name }) => ({ id, name }));
  const { onProbation, renames } = planned;
  printResult({ steps: shown, others, onProbation, renames }, options, (result) =>
    planLines(result).join('\n'),
  );
  if (planned.steps.length > 0) process.exitCode = exitCodes.differences;
}

/** Returns a sentence about what the rule would have done; null for a step without another rule. */
async function backtestOf(call: Call, step: Step, days: number): Promise<string | null> {
  if (step.does === 'delete' || (step.does === 'change' && !changesParts(step.differences))) return null;
  const { trigger, conditions, issues, actions } = wantedOf(step.rule);
  const { type } = trigger as { readonly type: string };
  if (type !== 'event') return `No backtest: it tries rules on events, and this one has the trigger ${type}.`;
  const body = { trigger, conditions, actions, days, ...(issues === null ? {} : { issues }) };
  try {
    const started = call<{ readonly id: string }>('POST', '/automations/preview', body).then(({ id }) =>
      call<Backtest>('GET', `/backtests/${id}`),
    );
    const { report } = await waitFor(withEventProgress(call), started);
    return report ? sentenceOf(report, days) : null;
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.interrupted) throw error;
    if (!(error instanceof ApiCallError || error instanceof CommandError)) throw error;
    return `No backtest: ${error.message}`;
  }
}

/** Shows how many events a backtest has read. The number of runs lags behind the events, so it is left out. */
function withEventProgress(call: Call): Call {
  const shown = createProgress();
  return async <T>(...request: Parameters<Call>): Promise<T> => {
    const answer = await call<T>(...request);
    const { id, progress } = answer as Partial<Backtest>;
    if (!progress) return answer;
    if (progress.of > 0) shown.show(`${id}: ${progress.looked} of ${progress.of} events`);
    return { ...answer, progress: null };
  };
}

const times = (count: number): string => counted(count, 'time');

function sentenceOf({ events, runs, fields, others, failures }: BacktestReport, days: number): string {
  const past = `In the last ${counted(days, 'day')} with ${counted(events.looked, 'event')} it would`;
  if (runs.total === 0) return `${past} not have run.`;
  const effects = [...fields.map(changeText), ...others.map(otherText)];
  const failed = failures.map(({ what, count }) => ` ${counted(count, 'run')} would have failed: ${what}.`);
  const would = effects.length === 0 ? 'change nothing' : effects.join(', ');
  return `${past} have run ${times(runs.total)}: ${would}.${failed.join('')}`;
}

function changeText({ field, wouldChange, same, opposite }: BacktestReport['fields'][number]): string {
  const later = [
    ...(same > 0 ? [`to the same value ${times(same)}`] : []),
    ...(opposite > 0 ? [`to another value ${times(opposite)}`] : []),
  ];
  const people =
    later.length === 0 ? 'nobody changed it later' : `people then changed it ${later.join(', ')}`;
  return `change ${field} ${times(wouldChange)} (${people})`;
}

/** Returns `create 3 comments` for the type and action `comment create`. */
function otherText({ what, count }: BacktestReport['others'][number]): string {
  const [, noun, verb] = /^(\w+) (\w+)$/.exec(what) ?? [];
  return noun === undefined
    ? `${what} ${times(count)}`
    : `${verb} ${counted(count, noun.replaceAll('_', ' '))}`;
}
