// Replays runs on request in the server's sandbox, one at a time and in parallel to live runs. Replays use a
// separate install id, so that a killed replay does not count as a violation of the install.
import type { Static } from 'typebox';
import type { Context } from '../../../kernel/context.ts';
import {
  ApiError,
  invalidField,
  notFound,
  rateLimited,
  tooManyAtOnce,
} from '../../../platform/lib/errors/errors.ts';
import { createFairPool } from '../../../platform/lib/fairness/fair-queue.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { PluginDeps } from '../deps.ts';
import { readPackage, requireSignedTrial, trustOf } from '../installs/versions/check.ts';
import { findInstall } from '../installs/rules.ts';
import { addWaitTime, type BillingAccount } from '../../../platform/lib/billing-account.ts';
import { createRunRate } from '../planning/limits.ts';
import { findRun, type RunRow } from '../runs/rows.ts';
import { whyNotItsCode, type Recording, findRecording, recordingFacts } from './recording.ts';
import { RunReplayInput, RecordingResponse, RunReplayResponse } from './schema.ts';
import { replay, ReplayInterrupted, type Replayed } from './replay.ts';
import { packageFormat } from '../../../../sdk/plugin/manifest.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf } from '../../../platform/lib/schema.ts';
import { runVisibility, steeringRun } from '../installs/rights.ts';

/** Limit of replays of one install per minute. */
const replaysPerMinuteMax = 10;
/** Limit of running and queued replays. One member gets at most a quarter of the slots, one workspace half. */
const queuedMax = 32;
/** Longest shown value of a divergence, in characters of JSON. */
const valueCharsMax = 2_000;

/** @throws ApiError not_found, conflict, rate_limited, unavailable, validation_failed */
type ReplayRun = (ctx: Context, runId: string, input: Static<typeof RunReplayInput>) => Promise<Replayed>;

export function createReplayRun(deps: PluginDeps): ReplayRun {
  const { clock, sandbox } = deps;
  const rate = createRunRate(replaysPerMinuteMax, clock.monotonicMs);
  const quota = new FairQuota(queuedMax);
  const fairQueue = createFairPool(1, () => undefined);

  const runQueued = async <T>(billingAccount: BillingAccount, work: () => Promise<T>): Promise<T> => {
    if (!quota.hasCapacityFor(billingAccount, 1))
      throw tooManyAtOnce('Too many of your replays are queued. Retry when one of them has finished.');
    const releaseSlot = quota.reserve(billingAccount, 1);
    try {
      return await fairQueue.run(billingAccount, work);
    } finally {
      releaseSlot();
    }
  };

  return async (ctx, runId, input) => {
    const run = await findRun(ctx.store, ctx.scope, runId);
    if (!run) throw notFound();
    const recording = await recordingOf(ctx, run);
    const code = await codeOf(deps, ctx, { run, recording, input });
    const waitMs = rate.take(run.install_id);
    if (waitMs !== null)
      throw rateLimited(
        `A plugin can be replayed at most ${replaysPerMinuteMax} times per minute. Retry after the time in \`Retry-After\`.`,
        waitMs / 1000,
      );
    const { workspaceId } = ctx.scope;
    const job = { runId, workspaceId, installId: `replay.${run.install_id}`, code, recording };
    const requestedMs = performance.now();
    try {
      return toReplayResponse(await runQueued(ctx.scope, async () => replay(await sandbox.get(), job)));
    } catch (error) {
      if (!(error instanceof ReplayInterrupted)) throw error;
      throw new ApiError(
        'unavailable',
        `The replay was interrupted: ${error.message} Replay the run again.`,
        { cause: error },
      );
    } finally {
      // The time in the sandbox counts as wait time, not as work of this process.
      addWaitTime(ctx.scope, requestedMs);
    }
  };
}

/** @throws ApiError validation_failed, and conflict if the code of the run is no longer stored */
async function codeOf(
  { registry, services }: PluginDeps,
  ctx: Context,
  request: {
    readonly run: RunRow;
    readonly recording: Recording;
    readonly input: Static<typeof RunReplayInput>;
  },
) {
  const { sha256, handler } = request.recording;
  if (request.input.package) {
    const document = await readPackage(request.input.package);
    const { code: source, manifest, sha256: own } = document;
    requireSignedTrial(trustOf(services.settings), document, request.input.signature);
    const install = await findInstall(ctx, request.run.install_id);
    const why = whyNotItsCode(manifest, handler, install?.pluginId);
    if (why !== null) throw invalidField('package', 'conflict', { why });
    return { sha256: own, source, handlers: [...manifest.handlers] };
  }
  const source = await registry.source(ctx.scope, sha256).catch((cause: unknown) => {
    const message = `The code ${sha256.slice(0, 12)}… of this run is no longer stored. Send its package to replay the run.`;
    throw new ApiError('conflict', message, { cause });
  });
  return { sha256, source };
}

/** @throws ApiError not_found, and conflict if the recording is truncated */
async function getRecording(ctx: Context, runId: string): Promise<Recording> {
  const run = await findRun(ctx.store, ctx.scope, runId);
  if (!run) throw notFound();
  return recordingOf(ctx, run);
}

async function recordingOf(ctx: Context, run: RunRow): Promise<Recording> {
  const { id } = run;
  const recording = await findRecording(ctx.store, ctx.scope, id);
  if (recording) return recording;
  const facts = await recordingFacts(ctx.store, ctx.scope, [id]);
  if (!facts.has(id)) throw new ApiError('not_found', whyNoRecording(run));
  throw new ApiError(
    'conflict',
    'The recording of this run exceeded the size limit and was not stored. Replay a run that handled less data.',
  );
}

function whyNoRecording({ id, status, finished_at: finishedAt }: RunRow): string {
  return finishedAt === null
    ? `${id} has no recording yet: its status is ${status}, and an attempt is recorded when it ends. Retry when the run has ended.`
    : `${id} has no recording: no attempt ended, recording is disabled, or the recording expired or was removed with its issue. Use a newer run.`;
}

function toReplayResponse({ divergence, ...rest }: Replayed): Replayed {
  if (!divergence) return { ...rest, divergence };
  const { recorded, replayed } = divergence;
  return { ...rest, divergence: { ...divergence, recorded: short(recorded), replayed: short(replayed) } };
}

function short(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}…` : value;
}

const params = Closed({ id: idOf(idPrefixes.run) });

export function recorderRoutes(replayRun: ReplayRun): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/runs/{id}/recording',
      name: 'runs.recording',
      summary: 'Get the recording of a run',
      description:
        'The recording of an ended run has its input, every host call with its answer, its clock and its end. `tatami runs replay` replays it.',
      scope: 'plugins:write',
      also: runVisibility,
      limit: 'read',
      params,
      errors: ['conflict'],
      responses: { 200: RecordingResponse },
      read: (ctx, { params }) => getRecording(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/runs/{id}/replay',
      name: 'runs.replay',
      summary: 'Replay a run and report the first difference',
      description:
        'The replay runs in a fresh isolate with the recorded input, answers and clock. It writes nothing and makes no calls. With `package`, other code runs on the same recording.',
      scope: 'plugins:write',
      also: steeringRun,
      limit: 'write',
      params,
      body: RunReplayInput,
      example: { package: { format: packageFormat } },
      bodyBytesMax: 6 * 1024 * 1024,
      errors: ['conflict', 'unavailable'],
      responses: { 200: RunReplayResponse },
      write: async (ctx, { params, body }) => ({
        changes: [],
        body: await replayRun(ctx, params.id, body),
        status: 200,
      }),
    }),
  ];
}
