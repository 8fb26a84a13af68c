// Shared fixtures of the sample data: setting, people, ids and times.
import { dayMs } from '../../../platform/lib/time/time.ts';

export interface SampleSetting {
  readonly nowMs: number;
  readonly baseUrl: string;
}

export type SampleFields = Readonly<Record<string, unknown>>;

/** State of an object at the time of an event: the fields that differ from the fixture. */
export interface SampleMoment {
  readonly now?: SampleFields;
  /** Old values of a change. */
  readonly previous?: SampleFields;
}

export interface SampleScenario {
  /** Fields of the sample object, by contract name or event type. */
  readonly objects: Readonly<Record<string, SampleFields>>;
  /** State of the object at the event, by event type. */
  readonly moments: Readonly<Record<string, SampleMoment>>;
}

/** Returns a fixture id. @param nth number of the object among those with the same prefix */
export const idOf = (prefix: string, nth = 1): string => `${prefix}_01m7wd7tg0000sampe0000000${nth}`;
export const ana = { id: idOf('usr'), name: 'Ana Kovač' };
export const ben = { id: idOf('usr', 2), name: 'Ben Okafor' };
export const engineering = { id: '019b0000-0000-7000-8000-000000000001', key: 'ENG', name: 'Engineering' };
export const editor = { id: idOf('prj'), name: 'Editor 2.5' };

/** @param days from now */
export const timeOf = (nowMs: number, days: number): string => new Date(nowMs + days * dayMs).toISOString();
/** @param days from now */
export const dayOf = (nowMs: number, days: number): string => timeOf(nowMs, days).slice(0, 10);
