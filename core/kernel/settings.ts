// Settings of features: a flag of `tatami serve`, a variable, a default and a sentence, with the check of the value.
// `settings.ts` of a feature exports them under the names of their flags, and the configuration finds them there.

export interface Setting<T = unknown> {
  /** Variable, such as `TATAMI_RECORD_RUNS`. */
  readonly env: string;
  readonly fallback: string;
  /** One sentence for `serve --help`, with the unit. */
  readonly text: string;
  /** Returns the value, or fails if the text is invalid. */
  read(given: GivenValue): T;
}

/** Text of one setting, with readers whose errors name the flag or variable. */
export interface GivenValue {
  readonly value: string;
  /** Base of relative paths. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @param wanted noun phrase that completes "must be …" */
  fail(wanted: string): never;
  /** Returns a whole number from 0 to `max`. */
  integer(max: number): number;
  /** Returns null for `forever`. */
  days(): number | null;
  choice<T extends string>(allowed: readonly T[]): T;
  /** Returns the entries of a comma-separated list. */
  list(): string[];
  /** Returns an absolute path; a missing directory is accepted. */
  directory(): string;
}

export interface SettingValues {
  of<T>(setting: Setting<T>): T;
}

export const defineSetting = <T>(setting: Setting<T>): Setting<T> => setting;
