// Reads settings as text by name: flags take precedence over the environment, which takes precedence over defaults.
import { statSync, type Stats } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { flagOf } from '../../platform/lib/text/words.ts';
import { featureSettings } from '../../features/generated/settings.ts';
import type { GivenValue } from '../../kernel/settings.ts';
import { keys as keysOfCore } from './settings.ts';

const keys = { ...keysOfCore, ...featureSettings };
export type ConfigKey = keyof typeof keys;
export type Flags = Partial<Record<ConfigKey, string>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** Invalid value of a setting; the message names the flag or variable. */
export class ConfigError extends Error {}

/** Returns readers for single settings. Their errors name the flag or variable. */
export function createReading(flags: Flags, env: Environment, folder: string) {
  const value = (key: ConfigKey): string => flags[key] ?? env[keys[key].env] ?? keys[key].fallback;
  const nameOf = (key: ConfigKey): string => (flags[key] === undefined ? keys[key].env : flagOf(key));
  const fail = (key: ConfigKey, wanted: string): never => {
    throw new ConfigError(`${nameOf(key)} must be ${wanted}, not "${value(key)}".`);
  };
  const integer = (key: ConfigKey, max: number): number => {
    const text = value(key);
    return /^\d{1,9}$/.test(text) && Number(text) <= max
      ? Number(text)
      : fail(key, `a whole number from 0 to ${max}`);
  };
  /** A missing directory is accepted; the caller creates it. */
  const directory = (key: ConfigKey): string => {
    const path = resolve(folder, value(key));
    return isKnown(path, (stats) => !stats.isDirectory()) ? fail(key, 'a directory') : path;
  };
  const days = (key: ConfigKey): number | null => (value(key) === 'forever' ? null : integer(key, 36_500));
  const choice = <T extends string>(key: ConfigKey, allowed: readonly T[]): T =>
    allowed.find((option) => option === value(key)) ?? fail(key, `one of ${allowed.join(', ')}`);
  const list = (key: ConfigKey): string[] =>
    value(key)
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
  return {
    value,
    nameOf,
    fail,
    integer,
    directory,
    host: (key: ConfigKey): string =>
      isHost(value(key)) ? value(key) : fail(key, 'an IP address or a host name'),
    days,
    choice,
    list,
    /** Returns the readers of one setting. */
    given: (key: ConfigKey): GivenValue => ({
      value: value(key),
      folder,
      env,
      fail: (wanted) => fail(key, wanted),
      integer: (max) => integer(key, max),
      days: () => days(key),
      choice: (allowed) => choice(key, allowed),
      list: () => list(key),
      directory: () => directory(key),
      isKnown,
    }),
  };
}

export type ConfigReading = ReturnType<typeof createReading>;

/** Returns false if the path does not exist or this user may not access it. */
export function isKnown(path: string, is: (stats: Stats) => boolean): boolean {
  try {
    return is(statSync(path));
  } catch {
    return false;
  }
}

/**
 * Returns true for IP addresses and host names. A text of digits and dots alone is an IPv4 address or a
 * mistake, never a host name.
 */
const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (/^[a-z\d_]([\w.-]*[a-z\d_])?$/i.test(text) && !/^[\d.]+$/.test(text));
