// Runs shadows: after a run of an install has ended, the other version runs on the same event, with the state
// as of that event, and the effects are compared. The server performs one shadow run at a time; runs beyond
// the queue limit are dropped and counted.
import type { Change } from '../../../kernel/changes/change.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Mentions } from '../../../platform/lib/ids.ts';
import { expandScopes } from '../../../kernel/rights/table.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import type { RequestedVersion } from '../backtests/backtests.ts';
import type { BacktestEngine } from '../backtests/engine.ts';
import { differencesOf, unwanted } from '../backtests/worker.ts';
import { type Tried, type Version, asInstalled } from '../backtests/trial.ts';
import { createValues } from '../backtests/values.ts';
import type { PluginDeps } from '../deps.ts';
import type { Install } from '../installs/model.ts';
import { kvModelName } from '../kv/entries.ts';
import { withoutEntries } from '../forget.ts';
import { previewEffects } from '../runs/effects.ts';
import type { RunRow } from '../runs/rows.ts';
import {
  type ShadowReport,
  type StoppedBy,
  allRunningShadows,
  storeShadowOp,
  stopShadowOp,
  valuesOfInstall,
  type ShadowRow,
} from './rows.ts';

/** Limit of queued runs of one shadow. */
const waitingMax = 100;
const differencesMax = 100;
const fieldsMax = 50;
/** Number of counted runs after which the report is stored; it is also stored when the queue is empty. */
const runsPerReport = 50;

/** An ended run of an event, with its writes. */
export interface EndedRun {
  readonly scope: Scope;
  readonly install: Install;
  readonly run: RunRow;
  readonly event: EventRow;
  readonly error: Tried['error'];
  readonly changes: readonly Change[];
}

export interface ShadowWork {
  /** Called for each ended run. */
  note(ended: EndedRun): void;
  begin(row: ShadowRow, version: RequestedVersion): void;
  stop(installId: string): void;
  /** Called for each changed install. */
  follow(after: { readonly id: string; readonly sha256: string; readonly deletedAt: number | null }): void;
  /** Removes entries about purged objects from the reports of running shadows. */
  forget(scope: Scope, isAbout: Mentions): void;
  /** Returns null if the shadow does not run in this process. */
  seen(installId: string): { readonly waiting: number; readonly report: ShadowReport } | null;
  /** Resumes the shadows that ran when the server stopped. */
  start(): Promise<void>;
  settled(): Promise<void>;
  /** Drops queued runs and stores the reports, before the process stops. */
  end(): Promise<void>;
}

interface Shadow {
  readonly row: ShadowRow;
  readonly scope: Scope;
  readonly version: RequestedVersion;
  readonly isolateId: string;
  readonly stopped: AbortController;
  readonly values: Promise<() => ReturnType<Version['values']>>;
  waiting: number;
  report: ShadowReport;
  /** Number of counted runs that the stored report does not include. */
  unstored: number;
}

interface ShadowDeps extends PluginDeps {
  readonly engine: BacktestEngine;
}

export function createShadowWork(deps: ShadowDeps): ShadowWork {
  const { clock, sandbox } = deps;
  const { store } = deps.services;
  const shadows = new Map<string, Shadow>();
  const line = createLine(deps, shadows);
  let stoppings: Promise<unknown> = Promise.resolve();

  const stop = (installId: string): void => {
    const shadow = shadows.get(installId);
    if (!shadow) return;
    shadows.delete(installId);
    shadow.stopped.abort();
    sandbox.evict(shadow.isolateId);
  };

  const stopFor = (by: StoppedBy, { scope, row, report }: Shadow): void => {
    stop(row.install_id);
    const op = stopShadowOp(scope, row.install_id, { by, now: clock.nowMs(), report });
    stoppings = Promise.all([stoppings, store.commit([op])]);
  };

  const follow: ShadowWork['follow'] = ({ id, sha256, deletedAt }) => {
    const shadow = shadows.get(id);
    if (!shadow) return;
    if (deletedAt !== null) stopFor('removed', shadow);
    else if (sha256 !== shadow.row.installed_sha256) stopFor('upgraded', shadow);
  };

  const begin: ShadowWork['begin'] = (row, version) =>
    void shadows.set(row.install_id, shadowOf(store, row, version));

  return {
    begin,
    stop,
    follow,
    note(ended) {
      const shadow = shadows.get(ended.install.id);
      if (shadow && shadow.row.installed_sha256 === ended.install.sha256) line.add(shadow, ended);
    },
    forget({ workspaceId }, isAbout) {
      for (const shadow of shadows.values())
        if (shadow.scope.workspaceId === workspaceId) shadow.report = withoutEntries(shadow.report, isAbout);
    },
    seen(installId) {
      const shadow = shadows.get(installId);
      return shadow ? { waiting: shadow.waiting, report: shadow.report } : null;
    },
    async start() {
      for (const { package_json, sha256, ...row } of await store.readSystem(allRunningShadows)) {
        begin(row, JSON.parse(package_json) as RequestedVersion);
        // The install may have changed after the shadow's last write and before the server stopped.
        const deletedAt = sha256 === null ? clock.nowMs() : null;
        follow({ id: row.install_id, sha256: sha256 ?? '', deletedAt });
      }
      await stoppings;
    },
    async settled() {
      await line.idle();
      await stoppings;
    },
    async end() {
      await line.end();
      await stoppings;
    },
  };
}

function shadowOf(store: Store, row: ShadowRow, version: RequestedVersion): Shadow {
  const scope = scopeOf(row.workspace_id, row.install_id);
  const values = valuesNow(store, scope, row.install_id);
  // The rejection is reported where the values are awaited; this handler only prevents an unhandled rejection.
  values.catch(() => undefined);
  return {
    row,
    scope,
    version,
    values,
    isolateId: `${row.install_id}.shadow.${row.started_at}`,
    stopped: new AbortController(),
    waiting: 0,
    report: JSON.parse(row.report_json) as ShadowReport,
    unstored: 0,
  };
}

/** Creates the queue of runs, shared by all shadows. */
function createLine(deps: ShadowDeps, shadows: ReadonlyMap<string, Shadow>) {
  const { log } = deps.services;
  const waiting: { readonly shadow: Shadow; readonly ended: EndedRun }[] = [];
  const compare = createCompare(deps);
  let working: Promise<void> | null = null;

  const { storeReport, storeAllReports } = createReportStore(deps, shadows);

  const drop = (shadow: Shadow): void => {
    shadow.report = { ...shadow.report, dropped: shadow.report.dropped + 1 };
    shadow.unstored++;
  };

  const perform = async (shadow: Shadow, ended: EndedRun): Promise<void> => {
    shadow.waiting--;
    if (shadow.stopped.signal.aborted) return;
    try {
      const compared = await compare(shadow, ended);
      // The latest report is read here, because dropped runs may have been counted meanwhile.
      shadow.report = counted(shadow.report, ended, compared);
      shadow.unstored++;
    } catch (error) {
      if (shadow.stopped.signal.aborted) return;
      log('error', 'shadow comparison failed', { runId: ended.run.id, error: errorForLog(error) });
      drop(shadow);
    }
    if (shadow.unstored >= runsPerReport) await storeReport(shadow);
  };

  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await perform(next.shadow, next.ended);
    await storeAllReports();
  };

  const wake = (): void => {
    working ??= work()
      .catch((error: unknown) => log('error', 'shadow queue failed', { error: errorForLog(error) }))
      .finally(() => {
        working = null;
        if (waiting.length > 0) wake();
      });
  };

  const idle = async (): Promise<void> => {
    while (working) await working;
  };

  return {
    idle,
    add(shadow: Shadow, ended: EndedRun): void {
      if (shadow.waiting >= waitingMax) return drop(shadow);
      shadow.waiting++;
      waiting.push({ shadow, ended });
      wake();
    },
    async end(): Promise<void> {
      for (const { shadow } of waiting.splice(0)) drop(shadow);
      await idle();
      await storeAllReports();
    },
  };
}

function createReportStore({ services: { store } }: ShadowDeps, shadows: ReadonlyMap<string, Shadow>) {
  const storeReport = async (shadow: Shadow): Promise<void> => {
    if (shadow.unstored === 0 || shadow.stopped.signal.aborted) return;
    shadow.unstored = 0;
    await store.commit([storeShadowOp(shadow.scope, shadow.row, shadow.report)]);
  };
  const storeAllReports = async (): Promise<void> => {
    for (const shadow of shadows.values()) await storeReport(shadow);
  };
  return { storeReport, storeAllReports };
}

interface Compared {
  readonly tried: Tried;
  readonly fields: ReturnType<typeof differencesOf>;
}

/** Runs the other version on the event and compares the effects. */
function createCompare(deps: ShadowDeps) {
  const { engine } = deps;
  return async (shadow: Shadow, ended: EndedRun): Promise<Compared> => {
    const { scope, install: real, event, run } = ended;
    const { signal } = shadow.stopped;
    const install = besideOf(shadow.version, real);
    await engine.yieldTo(signal);
    const past = await engine.pastsFor(scope, install).at(event);
    const isWanted = await (await engine.subscribed(scope, install))(event);
    const version = {
      install,
      source: shadow.version.code.code,
      isolateId: shadow.isolateId,
      values: await shadow.values,
    };
    const simulated = { ...run, mode: install.mode };
    const tried = isWanted
      ? await engine.tryOn(scope, version, event, past, signal, { again: simulated })
      : unwanted;
    signal.throwIfAborted();
    // The stored values of both versions are separate, so they are not compared.
    const changes = ended.changes.filter(({ kind }) => kind !== kvModelName);
    const at = { scope, directory: past.directory };
    const did = { error: ended.error, effects: await previewEffects(deps, at, changes) };
    // Error messages of both sides have different forms, so two failures count as the same.
    const bothFailed = did.error !== null && tried.error !== null;
    return { tried, fields: bothFailed ? [] : differencesOf(did, tried) };
  };
}

/** Returns the other version as an install, with at most the present grant of the real install. */
function besideOf({ code, settings }: RequestedVersion, real: Install): Install {
  const granted = expandScopes(real.grant);
  const requests = real.manifest.scopes ?? {};
  const isNarrowed = Object.values(requests).some((one) => 'where' in one || 'fields' in one);
  // Narrowing one scope also narrows the scopes that it includes, so the requests of the installed version
  // replace those of the other one.
  const manifest = isNarrowed ? { ...code.manifest, scopes: requests } : code.manifest;
  const grant = isNarrowed
    ? real.grant
    : Object.keys(code.manifest.scopes ?? {}).filter((scope) =>
        [...expandScopes([scope])].every((one) => granted.has(one)),
      );
  return asInstalled(real.id, { ...code, manifest }, { grant, settings });
}

/** Copies the values of the install; the shadow's values are separate from then on. */
async function valuesNow(store: Store, scope: Scope, installId: string): Promise<Version['values']> {
  const rows = await store.read(scope, valuesOfInstall, { installId });
  return createValues(new Map(rows.map(({ key, value_json }) => [key, value_json])));
}

function counted(report: ShadowReport, { run, event }: EndedRun, { tried, fields }: Compared): ShadowReport {
  const isSame = fields.length === 0;
  const difference = {
    runId: run.id,
    eventId: event.id,
    type: event.type,
    at: new Date(event.createdAt).toISOString(),
    fields: fields
      .slice(0, fieldsMax)
      .map(({ object, field, old, new: shadow }) => ({ object, field, real: old, shadow })),
  };
  return {
    runs: report.runs + 1,
    same: report.same + (isSame ? 1 : 0),
    different: report.different + (isSame ? 0 : 1),
    failed: report.failed + (tried.error ? 1 : 0),
    dropped: report.dropped,
    cpuMs: Math.round((report.cpuMs + tried.cpuMs) * 100) / 100,
    differences: isSame ? report.differences : [difference, ...report.differences].slice(0, differencesMax),
  };
}
