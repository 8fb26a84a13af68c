// What a story is made of, who and what is in it, and its times.
import { dayMs } from '../../lib/time.ts';

export interface SampleSetting {
  readonly nowMs: number;
  readonly baseUrl: string;
}

export type Values = Readonly<Record<string, unknown>>;

/** What happened to an object: its fields then, where they differ from how the story has it. */
export interface Moment {
  readonly now?: Values;
  /** Of a change: the old values. */
  readonly previous?: Values;
}

export interface Story {
  /** By the name of the contract, or the type of the event. */
  readonly objects: Readonly<Record<string, Values>>;
  /** By the type of the event. */
  readonly moments: Readonly<Record<string, Moment>>;
}

/** An id of the story. @param nth which of its kind */
export const idOf = (prefix: string, nth = 1): string => `${prefix}_01m7wd7tg0000sampe0000000${nth}`;
export const ana = { id: idOf('usr'), name: 'Ana Kovač' };
export const ben = { id: idOf('usr', 2), name: 'Ben Okafor' };
export const engineering = { id: '019b0000-0000-7000-8000-000000000001', key: 'ENG', name: 'Engineering' };
export const editor = { id: idOf('prj'), name: 'Editor 2.5' };

/** @param days from now */
export const timeOf = (nowMs: number, days: number): string => new Date(nowMs + days * dayMs).toISOString();
/** @param days from now */
export const dayOf = (nowMs: number, days: number): string => timeOf(nowMs, days).slice(0, 10);
