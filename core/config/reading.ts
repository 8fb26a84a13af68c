// Reads settings as text: flags over the environment over defaults, each by its name.
import { statSync, type Stats } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { flagOf } from '../lib/words.ts';
import { keys } from './settings.ts';

export type ConfigKey = keyof typeof keys;
export type Flags = Partial<Record<ConfigKey, string>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** A value that cannot be used; the message names the flag or variable. */
export class ConfigError extends Error {}

/** Reads settings one by one. What it throws names the flag or variable. */
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
  /** One that is not there yet is made. */
  const directory = (key: ConfigKey): string => {
    const path = resolve(folder, value(key));
    return isKnown(path, (stats) => !stats.isDirectory()) ? fail(key, 'a directory') : path;
  };
  return {
    value,
    nameOf,
    fail,
    integer,
    directory,
    host: (key: ConfigKey): string =>
      isHost(value(key)) ? value(key) : fail(key, 'an IP address or a host name'),
    days: (key: ConfigKey): number | null => (value(key) === 'forever' ? null : integer(key, 36_500)),
    choice: <T extends string>(key: ConfigKey, allowed: readonly T[]): T =>
      allowed.find((option) => option === value(key)) ?? fail(key, `one of ${allowed.join(', ')}`),
    list: (key: ConfigKey): string[] =>
      value(key)
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
  };
}

export type Reading = ReturnType<typeof createReading>;

/** False where nothing is there, or where this user may not see it. */
export function isKnown(path: string, is: (stats: Stats) => boolean): boolean {
  try {
    return is(statSync(path));
  } catch {
    return false;
  }
}

/** Digits and dots alone are an IPv4 address or a mistake. */
const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (/^[a-z\d_]([\w.-]*[a-z\d_])?$/i.test(text) && !/^[\d.]+$/.test(text));
