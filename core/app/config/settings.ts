// Settings that belong to no feature, each with its default, its unit and one sentence for `serve --help`,
// and the readers of all settings by name: flags take precedence over the environment, which takes
// precedence over defaults.
import { statSync, type Stats } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { flagOf } from '../../platform/lib/text/words.ts';
import { featureSettings } from '../../features/generated/settings.ts';
import type { GivenValue } from '../../kernel/settings.ts';

interface Key {
  readonly env: string;
  readonly fallback: string;
  readonly text: string;
}

export const coreSettings = {
  dataDir: {
    env: 'TATAMI_DATA_DIR',
    fallback: './data',
    text: 'Data directory: database, master key and snapshots.',
  },
  port: { env: 'TATAMI_PORT', fallback: '4700', text: 'TCP port to listen on; 0 picks a free one.' },
  host: { env: 'TATAMI_HOST', fallback: '127.0.0.1', text: 'Address to listen on.' },
  keepAlive: {
    env: 'TATAMI_KEEP_ALIVE',
    fallback: '75',
    text: 'Keep-alive timeout of idle connections in seconds; set it above that of your proxy; 0 closes each after its response.',
  },
  baseUrl: {
    env: 'TATAMI_BASE_URL',
    fallback: '',
    text: 'Public URL without a trailing slash; default: the address listened on.',
  },
  egressAllow: {
    env: 'TATAMI_EGRESS_ALLOW',
    fallback: '',
    text: 'Private networks that webhooks may reach, comma-separated CIDRs.',
  },
  trustedProxy: {
    env: 'TATAMI_TRUSTED_PROXY',
    fallback: '',
    text: 'Reverse proxies, comma-separated CIDRs; their X-Forwarded-For gives the client address of requests without a token.',
  },
  corsOrigins: {
    env: 'TATAMI_CORS_ORIGINS',
    fallback: '*',
    text: 'Origins that may call the API from a browser, comma-separated, such as https://app.example.com; `*` allows all, `off` none.',
  },
  rateLimit: {
    env: 'TATAMI_RATE_LIMIT',
    fallback: 'on',
    text: 'Rate limits, `on` or `off`; `off` disables all of them, and responses still have the headers.',
  },
  rateRead: {
    env: 'TATAMI_RATE_READ',
    fallback: '600',
    text: 'Reads per minute per token and route; 0 for unlimited.',
  },
  rateWrite: {
    env: 'TATAMI_RATE_WRITE',
    fallback: '240',
    text: 'Writes per minute per token and route; 0 for unlimited.',
  },
  rateSearch: {
    env: 'TATAMI_RATE_SEARCH',
    fallback: '60',
    text: 'Searches per minute per token and route; 0 for unlimited.',
  },
  rateMember: {
    env: 'TATAMI_RATE_MEMBER',
    fallback: '',
    text: 'Requests per minute per member, across all keys, sessions and apps; default half of the limit per workspace, 0 for unlimited.',
  },
  rateWorkspace: {
    env: 'TATAMI_RATE_WORKSPACE',
    fallback: '3000',
    text: 'Requests per minute per workspace, across all tokens; 0 for unlimited.',
  },
  diskReserve: {
    env: 'TATAMI_DISK_RESERVE',
    fallback: '512',
    text: 'Free disk space in megabytes below which readiness and alerts warn (at most a tenth of the disk); 0 never warns.',
  },
  fileSize: {
    env: 'TATAMI_FILE_SIZE',
    fallback: '25',
    text: 'Maximum size of a file attached to an issue, in megabytes.',
  },
  fileQuota: {
    env: 'TATAMI_FILE_QUOTA',
    fallback: '5120',
    text: 'Maximum total size of the files of a workspace, in megabytes.',
  },
  metricsPort: {
    env: 'TATAMI_METRICS_PORT',
    fallback: '',
    text: 'TCP port of /metrics for Prometheus; 0 picks a free one; default: no metrics.',
  },
  metricsHost: {
    env: 'TATAMI_METRICS_HOST',
    fallback: '127.0.0.1',
    text: 'Listen address of /metrics; no key is required.',
  },
  readBudget: {
    env: 'TATAMI_READ_BUDGET',
    fallback: '2000',
    text: 'Maximum CPU time of one list or search, in milliseconds; 0 for unlimited.',
  },
  keepRuns: {
    env: 'TATAMI_KEEP_RUNS',
    fallback: '14',
    text: 'Retention of plugin runs after their end, in days; `forever` for no limit.',
  },
  keepRecordings: {
    env: 'TATAMI_KEEP_RECORDINGS',
    fallback: '14',
    text: 'Retention of recordings of plugin runs after the end of the run, in days; `forever` for no limit.',
  },
  keepDeliveries: {
    env: 'TATAMI_KEEP_DELIVERIES',
    fallback: '30',
    text: 'Retention of deliveries, attempts, replays and missed events of plugins after their end, in days; `forever` for no limit.',
  },
  keepDeleted: {
    env: 'TATAMI_KEEP_DELETED',
    fallback: '90',
    text: 'Retention of deleted, removed or revoked objects, in days, in which they can be restored or looked up; `forever` for no limit.',
  },
  keepEvents: {
    env: 'TATAMI_KEEP_EVENTS',
    fallback: 'forever',
    text: 'Days after which event data moves from the database to files in `archive/`, where it stays readable; `forever` disables the move.',
  },
  keepSnapshots: {
    env: 'TATAMI_KEEP_SNAPSHOTS',
    fallback: '90',
    text: 'Retention of pre-upgrade snapshots, in days; the newest one is never deleted. `forever` for no limit.',
  },
  keepUndo: {
    env: 'TATAMI_KEEP_UNDO',
    fallback: '30',
    text: 'Time in which changes by plugin runs and undos can be undone, in days; `forever` for no limit.',
  },
  sandboxJail: {
    env: 'TATAMI_SANDBOX_JAIL',
    fallback: 'auto',
    text: '`strict` refuses to start if the kernel cannot jail plugins fully; `auto` jails them as far as possible; `off` disables the jail.',
  },
  sandboxSplit: {
    env: 'TATAMI_SANDBOX_SPLIT',
    fallback: 'none',
    text: 'Isolation of sandbox processes: one per `workspace`, one per `install`, or `none` for one shared by all.',
  },
  nodePath: {
    env: 'TATAMI_NODE',
    fallback: '',
    text: 'Path of a Node 24 for the sandbox; default: the one installed with Tatami.',
  },
  copyTo: {
    env: 'TATAMI_COPY_TO',
    fallback: '',
    text: 'Directory or s3://bucket/prefix of the continuous copy; default: none.',
  },
  copyEvery: {
    env: 'TATAMI_COPY_EVERY',
    fallback: '5',
    text: 'Interval of the continuous copy, in seconds. If the disk is lost, at most about this many seconds of writes are lost.',
  },
  copyKeep: {
    env: 'TATAMI_COPY_KEEP',
    fallback: '168',
    text: 'Retention of the continuous copy, in hours: how far back a restore can go.',
  },
  backupDir: {
    env: 'TATAMI_BACKUP_DIR',
    fallback: '',
    text: 'Directory of full backups, preferably on another disk; default: no backups.',
  },
  backupSchedule: {
    env: 'TATAMI_BACKUP_SCHEDULE',
    fallback: '0 3 * * *',
    text: 'Schedule of backups: five cron fields, UTC.',
  },
  backupKeep: {
    env: 'TATAMI_BACKUP_KEEP',
    fallback: 'last=3,daily=7,weekly=4,monthly=6',
    text: 'Retention of backups: the last ones, and the newest of each of the last days, weeks and months that have one.',
  },
  smtpUrl: {
    env: 'TATAMI_SMTP_URL',
    fallback: '',
    text: 'SMTP server for mail, such as smtps://user:password@mail.example.com; default: no mail.',
  },
  mailFrom: {
    env: 'TATAMI_MAIL_FROM',
    fallback: '',
    text: 'Sender address of mail, such as "Tatami <tatami@example.com>"; required to send mail.',
  },
  logLevel: {
    env: 'TATAMI_LOG_LEVEL',
    fallback: 'info',
    text: 'Minimum level logged: debug, info, warn or error.',
  },
} as const satisfies Record<string, Key>;

const keys = { ...coreSettings, ...featureSettings };
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
