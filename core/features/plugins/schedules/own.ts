// Implements `ctx.schedule`: one-time jobs, staged with the other effects of the run.
import { dayMs } from '../../../platform/lib/time/time.ts';
import type { Staging } from '../../../kernel/changes/staging.ts';
import type { Cause } from '../../../kernel/events/event.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { CallError } from '../host-calls/gateway.ts';
import { declared } from '../installs/manifest.ts';
import { inputOfAction } from '../installs/settings.ts';
import type { Install } from '../installs/model.ts';
import type { RunCaller, RunInput } from '../runs/job.ts';
import {
  actionCall,
  actionPrefix,
  handlesOneTimeJob,
  changeOneTimeJob,
  countOneTimeJobs,
  findOneTimeJob,
  idOfOneTimeJob,
  oneTimeJobModelName,
  pendingMax,
  scheduleOf,
  type OneTimeJob,
} from './one-time-jobs.ts';

const aheadMsMax = 366 * dayMs;
/** Limit of the data of a job, in UTF-16 code units of JSON. */
const dataMax = 16 * 1024;
const namePattern = /^[a-z][a-zA-Z0-9-]{0,39}(:[A-Za-z0-9_.:-]{1,100})?$/;

export interface OwnOneTimeJobs {
  /** @throws CallError */
  schedule(name: unknown, at: unknown, data: unknown): Promise<void>;
  /** @returns true if a job was pending. @throws CallError */
  cancel(name: unknown): Promise<boolean>;
  /**
   * Queues the action of another plugin, as a one-time job that is due at once.
   * @param body `target` and `input` of the action
   * @throws CallError
   */
  callAction(plugin: unknown, action: unknown, body: unknown): Promise<void>;
}

interface OwnOneTimeJobsOptions {
  readonly store: Store;
  readonly nowMs: () => number;
  readonly scope: Scope;
  readonly install: Install;
  readonly staged: Staging;
  /** Cause of the run's effects, which the job inherits so that loops through jobs are cut as well. */
  readonly cause: Cause;
  /** Caller that the run acts for; the job gets no more rights than this caller has. */
  readonly caller: RunCaller | undefined;
  /** Start of the run; no job can be due earlier. */
  readonly startedAt: number;
  /** Finds an active plugin by the id in its manifest. */
  readonly findPlugin: (pluginId: string) => Promise<Install | undefined>;
}

export function ownOneTimeJobs(options: OwnOneTimeJobsOptions): OwnOneTimeJobs {
  const { store, scope, install, staged } = options;

  /** Returns a pending job. A staged job counts as stored, a canceled one as absent. */
  const findOwn = async (name: string): Promise<OneTimeJob | null> => {
    const id = idOfOneTimeJob(install.id, name);
    const own = staged.find(oneTimeJobModelName, id) as OneTimeJob | undefined;
    const job = own ?? (await findOneTimeJob(store, scope, id));
    return job === null || job.dueAt === null ? null : job;
  };
  return {
    async schedule(nameInput, at, data) {
      const name = nameOf(nameInput, install);
      const dueAt = timeOf(at, options.startedAt, options.nowMs());
      const dataJson = JSON.stringify(data ?? null);
      if (dataJson.length > dataMax)
        throw new CallError(
          'validation_failed',
          `The data of a one-time job can have at most ${dataMax} characters of JSON. Store larger data with ctx.kv.`,
        );
      const before = await findOwn(name);
      if (!before) await requireCapacity(options);
      const input: RunInput = {
        event: {
          schedule: scheduleOf(name),
          scheduledAt: new Date(dueAt).toISOString(),
          name,
          data: data ?? null,
        },
        cause: options.cause,
        ...(options.caller ? { caller: options.caller } : {}),
      };
      const facts = { installId: install.id, name, dueAt, inputJson: JSON.stringify(input) };
      const change = changeOneTimeJob(before, facts, options.nowMs());
      staged.add([change], {
        operation: 'schedule.once',
        input: { args: [name, at, data ?? null] },
        ids: [],
      });
    },
    callAction: (plugin, action, body) => callAction(options, plugin, action, body),
    async cancel(nameInput) {
      const name = nameOf(nameInput, install);
      const before = await findOwn(name);
      if (!before) return false;
      const change = changeOneTimeJob(before, { ...before, dueAt: null }, options.nowMs());
      staged.add([change], { operation: 'schedule.cancel', input: { args: [name] }, ids: [] });
      return true;
    },
  };
}

/** @throws CallError */
function inputOfCall(...call: Parameters<typeof inputOfAction>): ReturnType<typeof inputOfAction> {
  try {
    return inputOfAction(...call);
  } catch (error) {
    throw error instanceof ApiError ? new CallError('validation_failed', error.message) : error;
  }
}

/** @throws CallError */
async function callAction(
  { install, staged, cause, caller, nowMs, findPlugin }: OwnOneTimeJobsOptions,
  plugin: unknown,
  name: unknown,
  body: unknown,
): Promise<void> {
  if (!install.rule || !caller)
    throw new CallError('validation_failed', 'Only automations call actions of other plugins.');
  const target = await findPlugin(String(plugin));
  const action = target && declared(target.manifest.actions, String(name));
  if (!action)
    throw new CallError('not_found', `No active plugin ${String(plugin)} has an action ${String(name)}.`);
  const given = (body ?? {}) as { readonly target?: unknown; readonly input?: Record<string, unknown> };
  const input = inputOfCall(action, given.input);
  const event = {
    action: String(name),
    target: action.target === 'none' ? null : given.target,
    input,
    caller: caller.actor,
  };
  const number = staged.changes.filter(({ kind }) => kind === oneTimeJobModelName).length;
  const job: RunInput = { event, cause, caller };
  const facts = {
    installId: target.id,
    name: `${actionPrefix}${cause.parentRunId ?? ''}.${number}`,
    dueAt: nowMs(),
    inputJson: JSON.stringify(job),
  };
  const change = changeOneTimeJob(null, facts, nowMs());
  staged.add([change], { operation: actionCall, input: { args: [plugin, name, body] }, ids: [] });
}

/** @throws CallError quota_exceeded */
async function requireCapacity({ store, scope, install, staged }: OwnOneTimeJobsOptions): Promise<void> {
  const stored = await countOneTimeJobs(store, scope, install.id);
  const added = staged.changes
    .filter(({ kind }) => kind === oneTimeJobModelName)
    .reduce(
      (sum, { before, after }) => sum + ((after as OneTimeJob).dueAt === null ? 0 : 1) - (before ? 1 : 0),
      0,
    );
  if (stored + added >= pendingMax)
    throw new CallError(
      'quota_exceeded',
      `A plugin can have at most ${pendingMax} pending one-time jobs, including those of this run. Cancel some, or use fewer names.`,
    );
}

function nameOf(nameInput: unknown, { manifest }: Install): string {
  if (typeof nameInput !== 'string' || !namePattern.test(nameInput))
    throw new CallError(
      'validation_failed',
      'The name must be a schedule of the plugin, optionally followed by : and a key of up to 100 letters, digits and _ - . : such as remind or remind:iss_….',
    );
  if (!handlesOneTimeJob(manifest, nameInput))
    throw new CallError(
      'validation_failed',
      `The plugin has no schedule ${scheduleOf(nameInput)} without cron. Add one to "schedules" with only a handle function.`,
    );
  return nameInput;
}

function timeOf(nameInput: unknown, startedAt: number, nowMs: number): number {
  const at = typeof nameInput === 'string' ? Date.parse(nameInput) : nameInput;
  if (typeof at !== 'number' || !Number.isFinite(at))
    throw new CallError(
      'validation_failed',
      'The time must be milliseconds since 1970, a Date or an ISO 8601 string.',
    );
  if (at < startedAt)
    throw new CallError('validation_failed', 'The time is in the past. Use ctx.now() or later.');
  if (at > nowMs + aheadMsMax)
    throw new CallError('validation_failed', 'The time must be at most 366 days ahead.');
  return Math.max(Math.ceil(at), nowMs);
}
