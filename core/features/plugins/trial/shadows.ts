// Runs shadows: after a run of an install has ended, the other version runs on the same event, and the effects
// are compared. The server performs one shadow run at a time; runs beyond the queue limit are dropped and
// counted.
import type { Change } from '../../../kernel/changes/change.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Mentions } from '../../../platform/lib/ids.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import type { Install } from '../installs/model.ts';
import { kvModelName } from '../kv/entries.ts';
import { withoutEntries } from '../forget.ts';
import { previewEffects } from '../runs/effects.ts';
import type { RunRow } from '../runs/rows.ts';
import { differencesOf, type Difference, type RunResult } from './comparisons.ts';
import { newTotals, type TrialEngine } from './engine.ts';
import { counted, differenceAt } from './reports.ts';
import { allRunningShadows, storeShadowOp, stopShadowOp, valuesOfInstall, type ShadowRow } from './rows.ts';
import type { ShadowReport } from './schema.ts';
import { createValues } from './values.ts';
import { asInstalled, withinGrant, type RequestedVersion, type Version } from './versions.ts';
import type { Tried } from './world.ts';

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
  readonly error: RunResult['error'];
  readonly changes: readonly Change[];
}

export type ShadowWork = ReturnType<typeof createShadowWork>;

interface Shadow {
  readonly row: ShadowRow;
  readonly scope: Scope;
  readonly version: RequestedVersion;
  readonly isolateId: string;
  readonly stopped: AbortController;
  readonly values: Promise<Version['values']>;
  waiting: number;
  report: ShadowReport;
  /** Number of counted runs that the stored report does not include. */
  unstored: number;
}

export function createShadowWork(deps: PluginDeps, engine: TrialEngine) {
  const { clock, sandbox } = deps;
  const { store } = deps.services;
  const shadows = new Map<string, Shadow>();
  const line = createLine(deps, engine, shadows);
  let stoppings: Promise<unknown> = Promise.resolve();

  const stop = (installId: string): void => {
    const shadow = shadows.get(installId);
    if (!shadow) return;
    shadows.delete(installId);
    shadow.stopped.abort();
    sandbox.evict(shadow.isolateId);
  };

  /** Called for each changed install. */
  const follow = ({ id, sha256, deletedAt }: Pick<Install, 'id' | 'sha256' | 'deletedAt'>): void => {
    const shadow = shadows.get(id);
    if (!shadow || (deletedAt === null && sha256 === shadow.row.installed_sha256)) return;
    stop(id);
    const by = deletedAt === null ? 'upgraded' : 'removed';
    const op = stopShadowOp(shadow.scope, id, { by, now: clock.nowMs(), report: shadow.report });
    stoppings = Promise.all([stoppings, store.commit([op])]);
  };

  const begin = (row: ShadowRow, version: RequestedVersion): void =>
    void shadows.set(row.install_id, shadowOf(store, row, version));

  return {
    begin,
    stop,
    follow,
    /** Called for each ended run. */
    note(ended: EndedRun): void {
      const shadow = shadows.get(ended.install.id);
      if (shadow && shadow.row.installed_sha256 === ended.install.sha256) line.add(shadow, ended);
    },
    /** Removes entries about purged objects from the reports of running shadows. */
    forget({ workspaceId }: Scope, isAbout: Mentions): void {
      for (const shadow of shadows.values())
        if (shadow.scope.workspaceId === workspaceId) shadow.report = withoutEntries(shadow.report, isAbout);
    },
    /** Returns null if the shadow does not run in this process. */
    seen(installId: string): Pick<Shadow, 'waiting' | 'report'> | null {
      const shadow = shadows.get(installId);
      return shadow ? { waiting: shadow.waiting, report: shadow.report } : null;
    },
    /** Resumes the shadows that ran when the server stopped. */
    async start(): Promise<void> {
      for (const { package_json, sha256, ...row } of await store.readSystem(allRunningShadows)) {
        begin(row, JSON.parse(package_json) as RequestedVersion);
        // The install may have changed after the shadow's last write and before the server stopped.
        const deletedAt = sha256 === null ? clock.nowMs() : null;
        follow({ id: row.install_id, sha256: sha256 ?? '', deletedAt });
      }
      await stoppings;
    },
    async settled(): Promise<void> {
      await line.idle();
      await stoppings;
    },
    /** Drops queued runs and stores the reports, before the process stops. */
    async end(): Promise<void> {
      await line.end();
      await stoppings;
    },
  };
}

function shadowOf(store: Store, row: ShadowRow, version: RequestedVersion): Shadow {
  const scope = scopeOf(row.workspace_id, row.install_id);
  const values = copiedValues(store, scope, row.install_id);
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

/** Copies the values of the install; the shadow's values are separate from then on. */
async function copiedValues(store: Store, scope: Scope, installId: string): Promise<Version['values']> {
  const rows = await store.read(scope, valuesOfInstall, { installId });
  return createValues(new Map(rows.map(({ key, value_json }) => [key, value_json])));
}

/** Creates the queue of runs, shared by all shadows. */
function createLine(deps: PluginDeps, engine: TrialEngine, shadows: ReadonlyMap<string, Shadow>) {
  const { store, log } = deps.services;
  /** Resolves when all queued runs have been performed. */
  let line: Promise<void> = Promise.resolve();
  let waiting = 0;
  let ending = false;

  const storeReport = async (shadow: Shadow): Promise<void> => {
    if (shadow.unstored === 0 || shadow.stopped.signal.aborted) return;
    shadow.unstored = 0;
    await store.commit([storeShadowOp(shadow.scope, shadow.row, shadow.report)]);
  };

  const storeAllReports = async (): Promise<void> => {
    for (const shadow of shadows.values()) await storeReport(shadow);
  };

  const drop = (shadow: Shadow): void => {
    shadow.report = { ...shadow.report, dropped: shadow.report.dropped + 1 };
    shadow.unstored++;
  };

  const tryRun = async (shadow: Shadow, ended: EndedRun): Promise<void> => {
    if (ending) return drop(shadow);
    try {
      await compareWith(deps, engine, shadow, ended);
      shadow.unstored++;
    } catch (error) {
      if (shadow.stopped.signal.aborted) return;
      log('error', 'shadow comparison failed', { runId: ended.run.id, error: errorForLog(error) });
      drop(shadow);
    }
  };

  const perform = async (shadow: Shadow, ended: EndedRun): Promise<void> => {
    waiting--;
    shadow.waiting--;
    if (!shadow.stopped.signal.aborted) await tryRun(shadow, ended);
    if (shadow.unstored >= runsPerReport) await storeReport(shadow);
    if (waiting === 0) await storeAllReports();
  };

  const idle = async (): Promise<void> => {
    for (let last: unknown; last !== line;) await (last = line);
  };

  return {
    idle,
    add(shadow: Shadow, ended: EndedRun): void {
      if (shadow.waiting >= waitingMax) return drop(shadow);
      waiting++;
      shadow.waiting++;
      line = line
        .then(() => perform(shadow, ended))
        .catch((error: unknown) => log('error', 'shadow queue failed', { error: errorForLog(error) }));
    },
    async end(): Promise<void> {
      ending = true;
      await idle();
      await storeAllReports();
    },
  };
}

/** Runs the shadow on the event of a live run, and adds the comparison to its report. */
async function compareWith(
  deps: PluginDeps,
  engine: TrialEngine,
  shadow: Shadow,
  { scope, install: real, event, run: live, ...ended }: EndedRun,
): Promise<void> {
  const limited = withinGrant(shadow.version, real);
  const runtime = { isolateId: shadow.isolateId, values: await shadow.values };
  const version = asInstalled(real.id, limited, runtime);
  const isWanted = await (await engine.subscribes(scope, version))(event);
  await engine.perform({
    scope,
    versions: [version],
    subjects: [{ event, namesMoved: true, versions: isWanted ? [version] : [], live }],
    signal: shadow.stopped.signal,
    totals: newTotals(),
    async compare({ past, tried: [shadowed] }) {
      // The stored values of both versions are separate, so they are not compared.
      const changes = ended.changes.filter(({ kind }) => kind !== kvModelName);
      const at = { scope, directory: past.directory };
      const did = { error: ended.error, effects: await previewEffects(deps, at, changes) };
      // Error messages of both sides have different forms, so two failures count as the same.
      const bothFailed = did.error !== null && shadowed!.error !== null;
      const fields = bothFailed ? [] : differencesOf(did, shadowed!);
      // The latest report is read here, because dropped runs may have been counted meanwhile.
      shadow.report = withRun(shadow.report, event, live, shadowed!, fields);
    },
  });
}

function withRun(
  report: ShadowReport,
  event: EventRow,
  run: RunRow,
  { error, cpuMs }: Tried,
  fields: readonly Difference[],
): ShadowReport {
  const shown = fields
    .slice(0, fieldsMax)
    .map(({ object, field, old, new: shadow }) => ({ object, field, real: old, shadow }));
  const difference = { runId: run.id, ...differenceAt(event, shown) };
  const differences = fields.length === 0 ? [] : [difference];
  return {
    ...counted(report, fields),
    failed: report.failed + (error ? 1 : 0),
    cpuMs: Math.round((report.cpuMs + cpuMs) * 100) / 100,
    differences: [...differences, ...report.differences].slice(0, differencesMax),
  };
}
