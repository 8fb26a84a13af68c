// `tatami rules plan DIR`: compares a folder with the automations of the server, and backtests rules that differ.
import { isDeepStrictEqual } from 'node:util';
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import type { BacktestReport } from '../../../features/plugins/offline.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { wholeNumber } from '../lib/flags.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { readAll } from '../lib/pages.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { waitFor, type Backtest } from '../plugin/backtest.ts';
import { readFilled, requireNone, type Automation, type FileRule, type RuleFile } from './files.ts';

export interface PlanOptions extends RemoteOptions {
  /** Deletes the automations that no file describes. */
  delete?: boolean;
  /** False to skip the backtests. */
  backtest?: boolean;
  days: string;
}

interface Difference {
  readonly path: string;
  /** Undefined if the value is new. */
  readonly before?: unknown;
  /** Undefined if the value is removed. */
  readonly after?: unknown;
}

export type Step =
  | { readonly does: 'create'; readonly file: string; readonly rule: FileRule }
  | {
      readonly does: 'change';
      readonly file: string;
      readonly rule: FileRule;
      readonly automation: Automation;
      readonly differences: readonly Difference[];
    }
  | { readonly does: 'delete'; readonly automation: Automation };

export interface Plan {
  readonly steps: readonly Step[];
  /** Automations that no file describes and that are not deleted. */
  readonly others: readonly Automation[];
  /** Automations of the files that only propose their changes, and remain so. */
  readonly onProbation: readonly Trial[];
  readonly renames: readonly Rename[];
}

/** New rule that is probably an automation under another name. */
interface Rename {
  readonly file: string;
  readonly name: string;
  readonly id: string;
  readonly before: string;
}

interface Trial {
  readonly id: string;
  readonly name: string;
  /** Number of runs that people still have to approve. */
  readonly runsLeft: number;
}

interface PlanTerms {
  /** True to delete the automations that no file describes. */
  readonly deletes: boolean;
  /** True to end the probation of each automation that a file describes. */
  readonly endsProbation: boolean;
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

/** Compares files with the server, and checks each change without writing. @throws CommandError naming the files */
export async function planOf(
  call: Call,
  files: readonly RuleFile[],
  { deletes, endsProbation }: PlanTerms,
): Promise<Plan> {
  const automations = await readAll<Automation>(call, '/automations');
  const problems: string[] = [];
  const matched = new Set<string>();
  const steps = files.flatMap(({ path: file, rule }): Step[] => {
    const found = automations.filter(({ id, name }) =>
      rule.id === undefined ? name === rule.name : id === rule.id,
    );
    const [automation] = found;
    if (found.length > 1)
      problems.push(`${file}: name: ${found.length} automations have this name. Add the \`id\` of one.`);
    else if (automation && matched.has(automation.id))
      problems.push(`${file}: id: Another file describes ${automation.name}. Remove one of them.`);
    else if (!automation && rule.id !== undefined)
      problems.push(`${file}: id: The server has no such automation. Remove \`id\` to create it.`);
    if (found.length > 1 || (!automation && rule.id !== undefined)) return [];
    if (!automation) return [{ does: 'create', file, rule }];
    matched.add(automation.id);
    const differences = [
      ...differencesOf(rule, automation),
      ...(endsProbation ? probationDifference(automation) : []),
    ];
    return differences.length === 0 ? [] : [{ does: 'change', file, rule, automation, differences }];
  });
  for (const step of steps) problems.push(...(await problemsOf(call, step)));
  requireNone(problems);
  const others = automations.filter(({ id }) => !matched.has(id));
  const onProbation = endsProbation ? [] : automations.filter(({ id }) => matched.has(id)).flatMap(trialOf);
  const renames = renamesOf(steps, others);
  const deleted = deletes ? others.map((automation) => ({ does: 'delete' as const, automation })) : [];
  return { steps: [...steps, ...deleted], others: deletes ? [] : others, onProbation, renames };
}

/** A name alone cannot tell a new rule from a renamed one; an equal trigger with equal actions suggests a renamed one. */
function renamesOf(steps: readonly Step[], others: readonly Automation[]): Rename[] {
  const created = steps.filter((step) => step.does === 'create');
  const isSame = ({ rule }: (typeof created)[number], { trigger, actions }: Automation): boolean =>
    isDeepStrictEqual([rule.trigger, rule.actions], [trigger, actions]);
  return created.flatMap((step): Rename[] => {
    const [found, ...further] = others.filter((automation) => isSame(step, automation));
    if (!found || further.length > 0 || created.filter((one) => isSame(one, found)).length > 1) return [];
    return [{ file: step.file, name: step.rule.name, id: found.id, before: found.name }];
  });
}

export const renameText = ({ file, name, id, before }: Rename): string =>
  `“${name}” may be “${before}” under another name (${file}); add \`id: ${id}\` to the file to rename it.`;

const trialOf = ({ id, name, probation }: Automation): Trial[] =>
  probation ? [{ id, name, runsLeft: probation.runsLeft }] : [];

/** Path of the difference that ends a probation. No file has the key. */
const probationPath = 'probation';

const probationDifference = ({ probation }: Automation): Difference[] =>
  probation ? [{ path: probationPath, before: counted(probation.runsLeft, 'run') }] : [];

/** Sends a write in the mode `simulate`, so that nothing is written if any file is wrong. */
async function problemsOf(call: Call, step: Step): Promise<string[]> {
  if (step.does === 'delete') return [];
  try {
    const [method, path, body] = writeOf(step);
    if (Object.keys(body).length > 0) await call(method, path, body, { mode: 'simulate' });
    return [];
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 422) throw error;
    return [`${step.file}: ${error.message}`];
  }
}

/** Returns the request that creates or changes an automation, apart from its state. */
export function writeOf(
  step: Exclude<Step, { does: 'delete' }>,
): [method: 'POST' | 'PATCH', path: string, body: Readonly<Record<string, unknown>>] {
  const { id: _, enabled: __, ...fields } = wantedOf(step.rule);
  if (step.does === 'create') {
    const { issues, ...body } = fields;
    return ['POST', '/automations', issues === null ? body : fields];
  }
  const changed = new Set(step.differences.map(({ path }) => path.split('.', 1)[0]));
  const body = Object.fromEntries(Object.entries(fields).filter(([key]) => changed.has(key)));
  const ending = changed.has(probationPath) ? { probation: false } : {};
  return ['PATCH', `/automations/${step.automation.id}`, { ...body, ...ending }];
}

/** Returns a rule with the parts that a file may leave out. */
const wantedOf = (rule: FileRule) => ({
  ...rule,
  conditions: rule.conditions ?? {},
  issues: rule.issues ?? null,
});

/** Returns the differences that an automation has to a file. */
export function differencesOf(rule: FileRule, automation: Automation): Difference[] {
  const { id: _, ...wanted } = wantedOf(rule);
  const present: Readonly<Record<string, unknown>> = {
    ...automation,
    enabled: automation.state === 'active',
  };
  return Object.entries(wanted).flatMap(([key, value]) => compare(key, present[key], value));
}

function compare(path: string, before: unknown, after: unknown): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const isPlain = (value: unknown): value is object => value !== null && typeof value === 'object';
  if (before === undefined) return [{ path, after }];
  if (after === undefined) return [{ path, before }];
  if (!isPlain(before) || !isPlain(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }];
  const [old, next] = [before, after] as Record<string, unknown>[];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => compare(`${path}.${key}`, old![key], next![key]));
}

/** Parts whose change is a new revision. */
const parts: readonly string[] = ['trigger', 'conditions', 'issues', 'actions'];

const changesParts = (differences: readonly Difference[]): boolean =>
  differences.some(({ path }) => parts.includes(path.split('.', 1)[0]!));

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

export interface Summary {
  readonly does: Step['does'];
  readonly file: string | null;
  readonly id: string | null;
  readonly name: string;
  readonly differences: readonly Difference[];
  /** True if the change puts an enabled rule back on probation. */
  readonly startsProbation: boolean;
}

export function summaryOf(step: Step): Summary {
  const { does } = step;
  const without = { differences: [], startsProbation: false };
  if (does === 'delete')
    return { does, file: null, id: step.automation.id, name: step.automation.name, ...without };
  const { file, rule } = step;
  if (does === 'create') return { does, file, id: null, name: rule.name, ...without };
  const { automation, differences } = step;
  return {
    ...{ does, file, id: automation.id, name: rule.name, differences },
    startsProbation:
      automation.state === 'active' &&
      rule.enabled !== false &&
      (rule.mode ?? automation.mode) === 'apply' &&
      changesParts(differences),
  };
}

const indent = ' '.repeat(8);
const probationText =
  'The rule will propose its changes again until people approved 20 runs, unless applied with --no-probation.';
const shownMax = 100;

export function planLines({
  steps,
  others,
  onProbation,
  renames,
}: {
  readonly steps: readonly (Summary & { readonly backtest?: string | null })[];
  readonly others: readonly { readonly name: string }[];
  readonly onProbation: readonly Trial[];
  readonly renames: readonly Rename[];
}): string[] {
  return [
    ...(steps.length === 0 ? ['No differences.'] : []),
    ...steps.flatMap(({ does, file, id, name, differences, startsProbation, backtest = null }) => [
      `${does}  ${file === null ? `${name} (${id})` : `${file}  ${name}`}`,
      ...differences.map((one) => indent + differenceText(one)),
      ...(startsProbation ? [indent + probationText] : []),
      ...(backtest === null ? [] : [indent + backtest]),
    ]),
    ...renames.map(renameText),
    ...(others.length === 0
      ? []
      : [`Not in the folder, and deleted only with --delete: ${others.map(({ name }) => name).join(', ')}`]),
    ...(onProbation.length === 0
      ? []
      : [
          `On probation until people approve more runs, or until applied with --no-probation: ${onProbation.map(trialText).join(', ')}`,
        ]),
  ];
}

const trialText = ({ name, runsLeft }: Trial): string => `${name} (${counted(runsLeft, 'run')})`;

function differenceText({ path, before, after }: Difference): string {
  if (before === undefined) return `${path}: add ${display(after)}`;
  return after === undefined
    ? `${path}: remove ${display(before)}`
    : `${path}: ${display(before)} → ${display(after)}`;
}

function display(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
