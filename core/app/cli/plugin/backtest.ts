// `tatami plugins backtest SOURCE`: tries a plugin on recorded events, from a folder, a package file, or installed, and prints what it
// would have done. Ctrl-C cancels it.
import { resolve } from 'node:path';
import { statSync } from 'node:fs';
import { ApiCallError } from '../../../../sdk/client/index.ts';
import type { Call } from '../../../../sdk/client/call.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { moment, wholeNumber } from '../lib/flags.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { takeInterrupts } from '../lib/interrupts.ts';
import { poll } from '../lib/poll.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { tableOf } from '../lib/table.ts';
import { readPackageInput, type PackageInput, readSettings } from './author/package.ts';
import { explained } from '../operations/names.ts';
import type { BacktestReport, GateReport } from '../../../features/plugins/offline.ts';
import { textLines } from '../operations/views/effects.ts';
import { displayValue } from '../operations/views/runs.ts';

export interface BacktestOptions extends RemoteOptions {
  since: string;
  until?: string;
  events?: string;
  settings?: string;
  /** File of the signature of the package. */
  signature?: string;
}

const eventsMax = 10_000;

/** @param folder where relative paths begin */
export async function backtest(source: string, options: BacktestOptions, folder: string): Promise<void> {
  const call = connect(options);
  const now = systemClock.nowMs();
  const asked = {
    since: moment('--since', options.since, now),
    ...(options.until === undefined ? {} : { until: moment('--until', options.until, now) }),
    ...(options.events === undefined
      ? {}
      : { events: wholeNumber('--events', options.events, 1, eventsMax) }),
    ...(options.settings === undefined ? {} : { settings: readSettings(options.settings, folder) }),
  };
  const starting = isPackage(source, folder)
    ? startPackage(call, {
        ...asked,
        ...(await readPackageInput(source, folder, { signature: options.signature, bareFolder: true })),
      })
    : explained(call, 'plugins.get', { id: source }, startInstalled(call, source, asked));
  const ended = await waitFor(call, starting);
  printResult(ended, options, reportLines);
}

/** An installed plugin has a bare name, which may hold points: acme.hello. */
function isPackage(source: string, folder: string): boolean {
  const found = statSync(resolve(folder, source), { throwIfNoEntry: false });
  return found?.isDirectory() === true || /[/\\]|\.json$/.test(source);
}

/** On the plugin where a version of it is installed, so that its own runs are compared too. */
async function startPackage(call: Call, body: PackageInput): Promise<Backtest> {
  try {
    return await startInstalled(call, body.package.manifest.id, body);
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 404) throw error;
    return call<Backtest>('POST', '/backtests', body);
  }
}

function startInstalled(call: Call, plugin: string, body: object): Promise<Backtest> {
  return call<Backtest>('POST', `/plugins/${encodeURIComponent(plugin)}/backtests`, body);
}

/** How another version would do on the last runs of the installed one. */
export async function showGate(
  call: Call,
  { pluginId, pluginVersion }: { readonly pluginId: string; readonly pluginVersion: string },
  body: PackageInput & { readonly runs: number },
): Promise<string> {
  const starting = call<Backtest>('POST', `/plugins/${encodeURIComponent(pluginId)}/gate`, body);
  return gateLines(await waitFor(call, starting), pluginVersion);
}

/** @param starting an interrupt cancels it, also before its id is known. @throws CommandError where it did not come to its end */
export async function waitFor(call: Call, starting: Promise<Backtest>): Promise<Backtest> {
  const progress = createProgress();
  const cancel = async (): Promise<void> => {
    const { id } = await starting;
    await call('POST', `/backtests/${id}/cancel`);
  };
  const release = takeInterrupts(() => {
    process.exitCode = exitCodes.interrupted;
    // Its end is seen by who polls.
    void cancel().catch(() => undefined);
  }, 'once');
  try {
    const started = await starting;
    const { id } = started;
    const look = async (): Promise<Backtest> => {
      const now = await call<Backtest>('GET', `/backtests/${id}`);
      // Before it is known how much there is, there is nothing to tell.
      if (now.progress && now.progress.of > 0) progress.show(`${id}: ${progressText(now.progress)}`);
      else if (now.status === 'queued') progress.show(`${id} is queued ${await queueText(call, id)}`);
      return now;
    };
    const ended = await poll(started, look, ({ finishedAt }) => finishedAt !== null);
    if (ended.status === 'done') return ended;
    throw ended.status === 'canceled'
      ? new CommandError(`${id} was canceled. Start it again.`, exitCodes.interrupted)
      : new CommandError(`${id} failed: ${ended.error ?? 'the server gave no reason. Start it again.'}`);
  } finally {
    progress.end();
    release();
  }
}

function progressText({ looked, of, runs }: NonNullable<Backtest['progress']>): string {
  return `${looked} of ${of} events, ${runs} runs`;
}

/** Returns what a queued backtest waits for, as far as this workspace may know. */
async function queueText(call: Call, id: string): Promise<string> {
  const { data } = await call<{ data: Backtest[] }>('GET', '/backtests?limit=50');
  const before = data.slice(data.findIndex((one) => one.id === id) + 1);
  const ahead = before.filter(({ finishedAt }) => finishedAt === null).reverse();
  if (ahead.length === 0) return 'until the server has capacity';
  const shown = ahead.map((one) => {
    const state = one.progress ? progressText(one.progress) : one.status;
    return `${one.id} of ${one.plugin} ${one.pluginVersion} (${state})`;
  });
  return `behind ${shown.join(', ')}`;
}

export interface Backtest {
  readonly id: string;
  readonly status: 'queued' | 'running' | 'done' | 'canceled' | 'failed';
  readonly plugin: string;
  readonly pluginVersion: string;
  readonly scopes: readonly string[];
  readonly progress: { readonly looked: number; readonly of: number; readonly runs: number } | null;
  readonly error: string | null;
  readonly finishedAt: string | null;
  readonly report: BacktestReport | null;
  readonly gate: GateReport | null;
}

const effectsShown = 10;

function reportLines({ id, plugin, pluginVersion, scopes, report }: Backtest): string {
  if (!report) return `${id}: no report`;
  const { window, events, runs, costs, endedBy } = report;
  return [
    `${plugin} ${pluginVersion} on ${window.since} to ${window.until}  (${id})`,
    `granted: ${scopes.join(', ') || 'nothing'}`,
    `events ${events.looked} read, ${events.wanted} matched, ${events.cut} cut as loops   runs ${runs.succeeded} succeeded, ${runs.failed} failed`,
    ...(endedBy ? [`The backtest ended early, at its limit of ${endedBy}.`] : []),
    '',
    ...fieldLines(report),
    ...report.effects.slice(0, effectsShown).map(effectLine),
    ...(report.effects.length > effectsShown
      ? [`  … and ${report.effects.length + report.effectsLeftOut - effectsShown} more; --json shows them`]
      : []),
    ...report.others.flatMap(({ what, count, samples }) => [
      `would ${what} × ${count}`,
      ...samples.flatMap(sampleLines),
    ]),
    ...report.failures.map(({ what, count, samples }) => `failed: ${what} × ${count}  ${firstOf(samples)}`),
    ...report.asOfNow.map(({ operation, reads }) => `read in the current state: ${reads} × ${operation}`),
    ...(costs.callsRefused > 0 ? [`refused calls to other servers: ${costs.callsRefused}`] : []),
    '',
    `cpu ${costs.cpuMs} ms, per run ${costs.cpuMsP50} ms (p50) and ${costs.cpuMsP95} ms (p95), ${costs.calls} calls`,
    `per day ${costs.perDay.runs} runs, ${costs.perDay.cpuMs} ms, ${costs.perDay.calls} calls`,
  ].join('\n');
}

function fieldLines({ fields, others }: BacktestReport): string[] {
  if (fields.length === 0 && others.length === 0) return ['It would change nothing.'];
  if (fields.length === 0) return ['It would change no fields of issues.'];
  return tableOf([
    ['field', 'would change', 'people: same', 'opposite', 'nothing', 'agreement', 'own run: same', 'other'],
    ...fields.map((one) => [
      one.field,
      ...[one.wouldChange, one.same, one.opposite, one.nothing].map(String),
      one.agreement === null ? '–' : `${one.agreement}%`,
      ...[one.thenSame, one.thenOther].map(String),
    ]),
  ]);
}

/** @param installed the version that the other is compared with */
function gateLines({ id, plugin, pluginVersion, gate }: Backtest, installed: string): string {
  if (!gate) return `${id}: no report`;
  const { runs, same, different, differences } = gate;
  if (runs === 0) return `${plugin} ${pluginVersion}: ${installed} has no event runs to compare with.`;
  return [
    `${plugin} ${pluginVersion} on the last ${runs === 1 ? 'run' : `${runs} runs`} of ${installed}: ${same} same, ${different} different`,
    ...differences.flatMap(({ at, type, eventId, fields }) => [
      `  ${at}  ${type}  ${eventId}`,
      ...differenceLines(
        fields.map(({ object, field, old, new: next }) => ({ object, field, first: old, second: next })),
        [installed, pluginVersion],
      ),
    ]),
  ].join('\n');
}

function effectLine(effect: BacktestReport['effects'][number]): string {
  const { at, issueId, field, before, wouldBe, people, peopleMadeIt } = effect;
  const then = people === 'nothing' ? 'no later change' : `people: ${people}, ${displayValue(peopleMadeIt)}`;
  return `  ${at}  ${issueId}  ${field}: ${displayValue(before)} → ${displayValue(wouldBe)}   ${then}`;
}

/** Returns the texts of comments; other samples are shown by --json. */
function sampleLines(sample: unknown): string[] {
  const { values } = sample as { readonly values?: { readonly issue?: unknown; readonly body?: unknown } };
  if (typeof values?.body !== 'string') return [];
  return [`  on ${displayValue(values.issue)}:`, ...textLines(values.body, '    ')];
}

function firstOf(samples: readonly unknown[]): string {
  const { message } = (samples[0] ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : '';
}

/** One field of one object, with what each version makes of it; null for nothing. */
interface ListedDifference {
  readonly object: string;
  readonly field: string;
  readonly first: unknown;
  readonly second: unknown;
}

/**
 * Fields that two versions of a plugin would set differently, and in one line each object that only one of them would create.
 * @param names of the two versions
 */
export function differenceLines(
  differences: readonly ListedDifference[],
  [first, second]: readonly [string, string],
): string[] {
  return [...Map.groupBy(differences, ({ object }) => object)].flatMap(([object, fields]) => {
    const [, kind] = /^(\S+) new \d+$/.exec(object) ?? [];
    if (kind !== undefined) {
      if (fields.every((one) => one.first === null)) return [madeLine(second, kind, fields, 'second')];
      if (fields.every((one) => one.second === null)) return [madeLine(first, kind, fields, 'first')];
    }
    return fields.map((one) => `    ${object} ${one.field}: ${madeIt(one.first)} → ${madeIt(one.second)}`);
  });
}

const madeIt = (value: unknown): string => (value === null ? 'nothing' : displayValue(value));

/** `only 1.1.0 makes a comment on ENG-12: body "Thanks"`. */
function madeLine(
  version: string,
  kind: string,
  fields: readonly ListedDifference[],
  made: 'first' | 'second',
): string {
  const on = fields.find(({ field }) => field === 'issue');
  const said = fields
    .filter((one) => one !== on)
    .map((one) => `${one.field} ${displayValue(one[made])}`)
    .join(', ');
  const where = on ? ` on ${displayValue(on[made])}` : '';
  return `    only ${version} creates a ${kind.replaceAll('_', ' ')}${where}: ${said}`;
}

/** Displays a backtest or gate of the API, which may not have ended. */
export function backtestView(backtest: Backtest): string {
  const { id, plugin, pluginVersion, status, progress, error, report, gate } = backtest;
  if (report) return reportLines(backtest);
  if (gate) return gateLines(backtest, 'the installed version');
  const seen = progress ? `, ${progress.looked} of ${progress.of}` : '';
  return `${id}  ${plugin} ${pluginVersion}  ${status}${seen}${error === null ? '' : `: ${error}`}`;
}
