// Sample data: made-up objects and events for testing a receiver. All features tell one story, with the people, ids and
// times of this file: a bug in an editor is reported, labeled, assigned, started, discussed and resolved.
import { dayMs } from '../platform/lib/time/time.ts';

export interface SampleSetting {
  readonly nowMs: number;
  readonly baseUrl: string;
}

export type SampleFields = Readonly<Record<string, unknown>>;

/** State of an object at the time of an event: the fields that differ from the sample object. */
export interface SampleMoment {
  readonly now?: SampleFields;
  /** Old values of a change. */
  readonly previous?: SampleFields;
}

interface SampleScenario {
  /** Fields of the sample object, by contract name or event type. */
  readonly objects?: Readonly<Record<string, SampleFields>>;
  /** State of the object at the event, by event type. */
  readonly moments?: Readonly<Record<string, SampleMoment>>;
}

/** Returns the samples of one feature. */
export type Samples = (setting: SampleSetting) => SampleScenario;

/** Returns the samples of all features. */
export type AllSamples = (setting: SampleSetting) => Required<SampleScenario>;

/** Returns a sample id. @param nth number of the object among those with the same prefix */
export const sampleId = (prefix: string, nth = 1): string => `${prefix}_01m7wd7tg0000sampe0000000${nth}`;

export const ana = { id: sampleId('usr'), name: 'Ana Kovač' };
export const ben = { id: sampleId('usr', 2), name: 'Ben Okafor' };
export const engineering = { id: '019b0000-0000-7000-8000-000000000001', key: 'ENG', name: 'Engineering' };
export const sampleProject = { id: sampleId('prj'), name: 'Editor 2.5' };
export const sampleCycle = { id: sampleId('cyc'), number: 7, name: 'Cycle 7' };
export const sampleIssue = { id: sampleId('iss'), identifier: 'ENG-42' };
export const sampleLabel = { id: sampleId('lbl'), name: 'bug' };
export const sampleState = { id: sampleId('wfs', 2), name: 'In Progress', type: 'started' } as const;

/** @param days from now */
export const timeAfter = (nowMs: number, days: number): string =>
  new Date(nowMs + days * dayMs).toISOString();
/** @param days from now */
export const dayAfter = (nowMs: number, days: number): string => timeAfter(nowMs, days).slice(0, 10);
