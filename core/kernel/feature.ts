// A feature is what one folder of `core/features` adds to the program. `core/app/features.ts` lists all
// features, and everything that they add is collected from that list.
import type { TObject } from 'typebox';
import type { OutcomeCounter } from '../platform/lib/outcome-counter.ts';
import type { Clock } from '../platform/lib/time/clock.ts';
import type { Scope, Store } from '../platform/store/store.ts';
import type { Committer } from './changes/commit.ts';
import type { Delegation } from './changes/delegation.ts';
import type { AnyModel } from './changes/model.ts';
import type { Check, SpecialFacts } from './checks.ts';
import type { Directory, Services } from './context.ts';
import type { Contract } from './contract/contract.ts';
import type { DueTimer } from './event-reactions/due-timers.ts';
import type { Reaction } from './event-reactions/reaction.ts';
import type { EventType } from './events/catalogue.ts';
import type { Projection } from './events/consumers/projections.ts';
import type { Tag } from './http/openapi/document.ts';
import type { Route } from './http/route.ts';
import { defineResource, type Resource } from './resource/define.ts';
import { modelOf } from './resource/model.ts';
import type { Samples } from './samples.ts';

export interface Feature {
  /** Name of the folder. */
  readonly name: string;
  readonly resources?: readonly Resource[];
  /** Contracts whose routes need the running service, or that have no stored object. */
  readonly contracts?: readonly Contract[];
  /** Models of these contracts. */
  readonly models?: readonly AnyModel[];
  /** Routes in addition to those of the resources. */
  readonly routes?: readonly Route[];
  readonly reactions?: readonly Reaction[];
  readonly projections?: readonly Projection[];
  readonly timers?: readonly DueTimer[];
  readonly delegation?: Delegation;
  /** Background work other than reactions and timers. */
  readonly workers?: readonly CreateWorker[];
  readonly metrics?: readonly Metric[];
  /** Data schemas of events that have no stored object. */
  readonly events?: Partial<Record<EventType, TObject>>;
  /** Checks of `tatami doctor`. */
  readonly checks?: readonly Check[];
  /** Facts of the doctor that cannot be derived from a contract, by contract name. */
  readonly facts?: SpecialFacts;
  /** Sample data of the feature's objects and events, for testing a receiver. */
  readonly samples?: Samples;
  /** Group of the tags in the OpenAPI document; `Tracker` by default. */
  readonly tagGroup?: string;
  /** Tags in addition to those of the contracts, which have the paths of their resources as names. */
  readonly tags?: readonly Tag[];
}

export const defineFeature = (feature: Feature): Feature => feature;

/**
 * Returns the feature of a contract without behavior of its own, as CONTRIBUTING.md adds one.
 * @public
 */
export const plainFeature = (contract: Contract): Feature => ({
  name: contract.path,
  resources: [defineResource(contract, modelOf(contract))],
});

export interface BackgroundWorker {
  /** Resumes what an earlier process did not finish. */
  start(): Promise<void>;
  /** Resolves when no background work is left. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerDeps {
  readonly services: Services;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

type CreateWorker = (deps: WorkerDeps) => BackgroundWorker;

export type LabelledValues = Iterable<readonly [label: string, value: number]>;

interface MetricSource {
  readonly store: Store;
  readonly outcomeCounter: OutcomeCounter;
}

/** Metric of a feature, for Prometheus. */
export interface Metric {
  readonly type: 'gauge' | 'counter';
  /** Name with the prefix `tatami_`; that of a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  /** Null for a single value, whose label is ignored. */
  readonly label: string | null;
  /** Called at each scrape. */
  read(source: MetricSource): LabelledValues | Promise<LabelledValues>;
}
