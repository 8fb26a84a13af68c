// The report of a backtest, and of an upgrade gate, as people read it.
import type { BacktestReport, GateReport } from '../../../../features/plugins/offline.ts';
import { differenceLines } from './differences.ts';
import { displayValue } from './run.ts';

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

export function reportLines({ id, plugin, pluginVersion, scopes, report }: Backtest): string {
  if (!report) return `${id}: no report`;
  const { window, events, runs, costs, endedBy } = report;
  return [
    `${plugin} ${pluginVersion} on ${window.since} to ${window.until}  (${id})`,
    `granted: ${scopes.join(', ') || 'nothing'}`,
    `events ${events.looked} read, ${events.wanted} matched, ${events.cut} cut as loops   runs ${runs.succeeded} succeeded, ${runs.failed} failed`,
    ...(endedBy ? [`The backtest ended early, at its limit of ${endedBy}.`] : []),
    '',
    ...table([
      ['field', 'would change', 'people: same', 'opposite', 'nothing', 'agreement', 'own run: same', 'other'],
      ...report.fields.map((one) => [
        one.field,
        ...[one.wouldChange, one.same, one.opposite, one.nothing].map(String),
        one.agreement === null ? '–' : `${one.agreement}%`,
        ...[one.thenSame, one.thenOther].map(String),
      ]),
    ]),
    ...report.effects.slice(0, effectsShown).map(effectLine),
    ...(report.effects.length > effectsShown
      ? [`  … and ${report.effects.length + report.effectsLeftOut - effectsShown} more; --json shows them`]
      : []),
    ...report.others.map(({ what, count }) => `would ${what} × ${count}`),
    ...report.failures.map(({ what, count, samples }) => `failed: ${what} × ${count}  ${firstOf(samples)}`),
    ...report.asOfNow.map(({ operation, reads }) => `read in the current state: ${reads} × ${operation}`),
    ...(costs.callsRefused > 0 ? [`refused calls to other servers: ${costs.callsRefused}`] : []),
    '',
    `cpu ${costs.cpuMs} ms, per run ${costs.cpuMsP50} ms (p50) and ${costs.cpuMsP95} ms (p95), ${costs.calls} calls`,
    `per day ${costs.perDay.runs} runs, ${costs.perDay.cpuMs} ms, ${costs.perDay.calls} calls`,
  ].join('\n');
}

/** @param installed the version that the other is compared with */
export function gateLines({ id, plugin, pluginVersion, gate }: Backtest, installed: string): string {
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

function firstOf(samples: readonly unknown[]): string {
  const { message } = (samples[0] ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : '';
}

function table(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  if (rows.length < 2) return ['The plugin would have changed no issue fields.'];
  const widths = head.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
