// Builds the sandbox job of a run: code, limits and the input of the handler.
import { type Cause, renderEvent, type EventRow } from '../../../../kernel/events/event.ts';
import { redactEvent } from '../../../../kernel/rights/effects.ts';
import { cutDescriptions } from '../../host-calls/gateway-call.ts';
import { traitsOf } from '../../planning/handler-kinds.ts';
import type { InstallMode } from '../../installs/contract.ts';
import { rightsOfInstall } from '../../installs/versions/matching-types.ts';
import type { Install } from '../../installs/schema.ts';
import { effectiveSettings } from '../../installs/settings/settings.ts';
import { limitsOf } from '../../host-calls/limits.ts';
import { stepOf } from '../../planning/loops.ts';
import { stepName } from '../../one-time-jobs/worker.ts';
import type { SecretsForGuest } from '../../secrets/placeholders.ts';
import type { TriedRun } from './attempt.ts';
import { firedAtOf } from './continuation.ts';
import { rightsFor, type RunCaller, type RunInput } from './input.ts';
import type { RunRow } from '../rows.ts';

const partitionsDefault = 1;

interface RunJobInput {
  readonly source: string;
  readonly startedAt: number;
  readonly mode: InstallMode;
  readonly secrets: SecretsForGuest | undefined;
}

export function jobOf(leased: TriedRun, install: Install, input: RunJobInput) {
  const { item, run, signal, world } = leased;
  const handler = handlerOf(run);
  const limits = limitsOf(install.manifest, handler);
  const partitions = install.manifest.partitions ?? partitionsDefault;
  return {
    runId: run.id,
    workspaceId: item.scope.workspaceId,
    // A trial uses separate isolates.
    installId: world?.isolateId ?? install.id,
    partition: partitions === 1 ? 0 : Number(Bun.hash(run.order_key) % BigInt(partitions)),
    code: { sha256: install.sha256, source: input.source, handlers: [...install.manifest.handlers] },
    handler,
    input: inputTextOf(leased, install, { ...input, deadline: input.startedAt + limits.wallMs }),
    limits,
    fresh: traitsOf[handler.kind].isFresh,
    signal,
  };
}

function inputTextOf(
  { run, event, input }: TriedRun,
  install: Install,
  { startedAt, deadline, mode, secrets }: RunJobInput & { readonly deadline: number },
): string {
  return JSON.stringify({
    event: event
      ? cutDescriptions(renderedFor(install, event))
      : (input?.event ?? { schedule: run.handler, scheduledAt: new Date(firedAtOf(run)).toISOString() }),
    run: {
      id: run.id,
      attempt: run.attempt + 1,
      mode,
      depth: run.depth,
      rootEventId: run.root_event_id,
      deadline,
    },
    settings: effectiveSettings(install),
    nowMs: startedAt,
    seed: run.id,
    scopes: scopesOf(install, input?.caller),
    secrets,
  });
}

/** Returns the event, redacted to what the plugin can read. */
function renderedFor(install: Install, event: EventRow): unknown {
  return redactEvent(rightsOfInstall(install), renderEvent(event));
}

/** Returns the scopes for `ctx.has`: the granted ones, limited to those of the caller. */
function scopesOf(install: Install, caller: RunCaller | undefined): readonly string[] {
  if (!caller) return install.grant;
  const { scopes, narrowed } = rightsFor(rightsOfInstall(install), caller);
  return [...scopes, ...(narrowed?.keys() ?? [])];
}

export function handlerOf(run: RunRow) {
  return { kind: run.handler_kind, name: run.handler };
}

export function causeOf({ run, event, input }: TriedRun, install: Install): Cause {
  const { actor } = input?.caller ?? {};
  return {
    rootEventId: run.root_event_id,
    parentRunId: run.id,
    depth: run.depth + 1,
    path: event ? [...event.cause.path, stepOf(install.id, event)] : pathOf(run, install, input),
    ...(actor ? { onBehalfOf: actor } : {}),
  };
}

/** Returns the causation path of a run that no event triggered. */
function pathOf(run: RunRow, { id }: Install, input: RunInput | null | undefined): readonly string[] {
  if (!input?.cause) return [id];
  return [...input.cause.path, stepOf(id, { subjectId: null, entityId: stepName(run.handler) })];
}
