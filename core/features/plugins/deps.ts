// Dependencies of the plugin runtime, of an attempt in it and of a whole run.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { WorkspaceCache } from '../../kernel/changes/workspace-cache.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { Positions } from '../../kernel/events/consumers/positions.ts';
import type { SeenTimes } from '../../kernel/events/wall-clock.ts';
import type { App } from '../../kernel/http/app.ts';
import type { CheckFilter } from '../../kernel/resource/filter/filtering.ts';
import type { Egress } from '../../platform/lib/egress/egress.ts';
import type { FilterFields } from '../../platform/lib/filter/filter.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Scope } from '../../platform/store/store.ts';
import type { Usage } from './budgets/usage.ts';
import type { BudgetWaits } from './budgets/waits.ts';
import type { CallQueue } from './host-calls/bridge.ts';
import type { Disable, FailureWatch } from './installs/disable.ts';
import type { Outsides } from './http-out/fetch.ts';
import type { Recorder } from './recorder/recorder.ts';
import type { Registry } from './installs/registry.ts';
import type { RunEnds } from './inbound/answer.ts';
import type { SandboxOnDemand } from './sandbox.ts';
import type { EndedRun } from './trial/shadows.ts';
import type { AllModels } from './undo/models.ts';

/** Dependencies that the server provides. */
export interface PluginRuntimeOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly random: () => number;
  /** Name of this process among those on the same database. */
  readonly owner: string;
  readonly seen: SeenTimes;
  readonly committer: Committer;
  readonly cache: WorkspaceCache;
  readonly fresh: FreshEvents;
  readonly positions: Positions;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly sandbox: SandboxOnDemand;
  readonly egress: Egress;
  /** Returns the app; available once it is built from the routes of plugins. */
  readonly app: () => App;
  /** Models of all entities, by name. */
  readonly models: AllModels;
  /** Returns the fields by which a subscription to an event type can be filtered. */
  readonly filterFields: (eventType: string, directory?: Directory) => FilterFields;
  readonly addedFields: (eventType: string) => string | null;
  readonly checkFilter: CheckFilter;
  /** Semantic version of this server. */
  readonly serverVersion: string;
}

/** Dependencies that all parts of the runtime share. */
export interface PluginDeps extends PluginRuntimeOptions {
  readonly registry: Registry;
  readonly failures: FailureWatch;
  readonly usage: Usage;
  /** True once the process stops; unfinished work continues after the next start. */
  readonly isStopping: () => boolean;
}

/** Dependencies of an attempt, in a run or in a trial. */
export interface AttemptDeps extends PluginDeps {
  readonly callQueue: CallQueue;
  readonly recorder: Recorder;
  readonly outside: Outsides;
}

/** Dependencies of a run. */
export interface RunDeps extends AttemptDeps {
  readonly ends: RunEnds;
  readonly waits: BudgetWaits;
  readonly disable: Disable;
  /** Called for each ended run of an event, after the commit. */
  readonly ended: (ended: EndedRun) => void;
}
