// Configuration: flags take precedence over TATAMI_* variables, which take precedence over defaults. No other file reads process.env.
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { S3Settings } from '../../platform/backup/copy/destination/destination.ts';
import { parseRetentionRule } from '../../platform/backup/retention-rule.ts';
import { parseCidr, type Cidr } from '../../platform/lib/address.ts';
import { checkCron } from '../../platform/lib/time/cron.ts';
import type { LogLevel } from '../../platform/lib/log.ts';
import { flagOf } from '../../platform/lib/text/words.ts';
import {
  ConfigError,
  createReading,
  isKnown,
  type ConfigKey,
  type Environment,
  type Flags,
  type ConfigReading,
  coreSettings,
} from './settings.ts';
import { featureSettings } from '../../features/generated/settings.ts';
import type { Setting, SettingValues } from '../../kernel/settings.ts';

export interface Config {
  readonly dataDir: string;
  readonly port: number;
  readonly host: string;
  readonly keepAliveSeconds: number;
  /** Derived from the listening socket if null. */
  readonly baseUrl: string | null;
  readonly egressAllow: readonly string[];
  readonly trustedProxy: readonly Cidr[];
  /** Origins that may call the API from a browser; `*` allows all, an empty list none. */
  readonly corsOrigins: '*' | readonly string[];
  readonly rates: {
    readonly read: number;
    readonly write: number;
    readonly search: number;
    readonly member: number;
    readonly workspace: number;
  };
  /** Maximum CPU time of one list or search, in milliseconds; 0 for unlimited. */
  readonly readBudgetMs: number;
  /** Retention in days; null for unlimited retention. */
  readonly retention: {
    readonly runs: number | null;
    readonly recordings: number | null;
    readonly deliveries: number | null;
    readonly deleted: number | null;
    readonly events: number | null;
    readonly snapshots: number | null;
    readonly undo: number | null;
  };
  /** Maximum sizes of files attached to issues, in bytes. */
  readonly files: { readonly fileBytesMax: number; readonly workspaceBytesMax: number };
  /** Metrics are off if null. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Minimum of free disk space, in megabytes; 0 disables the check. */
  readonly diskReserveMb: number;
  readonly sandboxJail: 'auto' | 'strict' | 'off';
  readonly sandboxSplit: 'none' | 'workspace' | 'install';
  readonly nodePath: string | null;
  /** Values of the settings of features. */
  readonly settings: SettingValues;
  /** The continuous copy is off if null. */
  readonly copy: CopyConfig | null;
  /** Scheduled backups are off if null. */
  readonly backups: {
    readonly folder: string;
    readonly cron: string;
    /** Rule in the format of `parseRetentionRule`. */
    readonly retentionRule: string;
  } | null;
  /** Mail is off if null. */
  readonly mail: { readonly url: string; readonly from: string } | null;
  readonly logLevel: LogLevel;
}

interface CopyConfig {
  /** Absolute path or `s3://bucket/prefix`. */
  readonly to: string;
  readonly everyMs: number;
  readonly retentionMs: number;
  readonly s3: S3Settings;
}

const cidrs = 'CIDRs such as 10.0.0.0/8 or 127.0.0.1/32';

/** @param folder base of relative paths */
export function readConfig(
  flags: Flags,
  env: Environment = process.env,
  folder: string = process.cwd(),
): Config {
  const reading = createReading(flags, env, folder);
  const { value, fail, integer, days, choice, list, host, directory } = reading;
  const baseUrl = value('baseUrl').replace(/\/+$/, '');
  if (baseUrl !== '' && !/^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/.test(baseUrl))
    fail('baseUrl', 'an http or https URL');
  return {
    dataDir: directory('dataDir'),
    port: integer('port', 65535),
    host: host('host'),
    keepAliveSeconds: integer('keepAlive', 240),
    baseUrl: baseUrl === '' ? null : baseUrl,
    egressAllow: list('egressAllow').filter((entry) => parseCidr(entry) ?? fail('egressAllow', cidrs)),
    trustedProxy: list('trustedProxy').map((entry) => parseCidr(entry) ?? fail('trustedProxy', cidrs)),
    corsOrigins: readOrigins(list('corsOrigins'), (wanted) => fail('corsOrigins', wanted)),
    rates: readRates(reading),
    readBudgetMs: integer('readBudget', 600_000),
    retention: readRetention(days),
    files: {
      fileBytesMax: integer('fileSize', 10_240) * 1024 * 1024,
      workspaceBytesMax: integer('fileQuota', 100_000_000) * 1024 * 1024,
    },
    metrics:
      value('metricsPort') === '' ? null : { host: host('metricsHost'), port: integer('metricsPort', 65535) },
    diskReserveMb: integer('diskReserve', 100_000_000),
    sandboxJail: choice('sandboxJail', ['auto', 'strict', 'off']),
    nodePath: readNodePath(reading, folder),
    sandboxSplit: choice('sandboxSplit', ['none', 'workspace', 'install']),
    settings: readFeatureSettings(reading),
    copy: copyConfig(reading, folder, env, {
      dataDir: directory('dataDir'),
      everyMs: (integer('copyEvery', 3_600) || fail('copyEvery', 'a whole number from 1 to 3600')) * 1000,
      retentionMs: integer('copyKeep', 1_000_000) * 3_600_000,
    }),
    backups: readBackups(reading),
    mail: readMail(reading),
    logLevel: choice('logLevel', ['debug', 'info', 'warn', 'error']),
  };
}

/** Reads all settings of features at once, so that an invalid one ends the start. */
function readFeatureSettings({ given }: ConfigReading): SettingValues {
  const values = new Map<Setting, unknown>(
    Object.entries(featureSettings).map(([name, setting]) => [
      setting,
      setting.read(given(name as ConfigKey)),
    ]),
  );
  return { of: <T>(setting: Setting<T>) => values.get(setting) as T };
}

function readNodePath({ value, fail }: ConfigReading, folder: string): string | null {
  if (value('nodePath') === '') return null;
  const path = resolve(folder, value('nodePath'));
  return isKnown(path, (stats) => stats.isFile()) ? path : fail('nodePath', 'the path of an existing file');
}

function readRates({ value, choice, integer }: ConfigReading): Config['rates'] {
  const off = choice('rateLimit', ['on', 'off']) === 'off';
  const rate = (key: ConfigKey): number => (off ? 0 : integer(key, 100_000_000));
  const workspace = rate('rateWorkspace');
  return {
    read: rate('rateRead'),
    write: rate('rateWrite'),
    search: rate('rateSearch'),
    member: value('rateMember') === '' ? Math.ceil(workspace / 2) : rate('rateMember'),
    workspace,
  };
}

function readOrigins(entries: readonly string[], fail: (wanted: string) => never): Config['corsOrigins'] {
  const [first = 'off', ...others] = entries;
  if (others.length === 0 && first === '*') return '*';
  if (others.length === 0 && first === 'off') return [];
  return entries.map((entry) => {
    const origin = entry.replace(/\/$/, '');
    if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#*@]+$/i.test(origin) || !URL.canParse(origin))
      return fail('origins such as https://app.example.com without a path, `*` for all or `off`');
    // URL has no origin for custom schemes; browsers send such origins verbatim.
    return /^https?:/i.test(origin) ? new URL(origin).origin : origin.toLowerCase();
  });
}

function readMail({ value, nameOf, fail }: ConfigReading): Config['mail'] {
  const [url, from] = [value('smtpUrl'), value('mailFrom')];
  if (url === '') return null;
  // The value is not repeated in the message, because it may contain a password.
  if (!/^smtps?:\/\/[^\s/]+\/?$/.test(url) || !URL.canParse(url))
    throw new ConfigError(
      `${nameOf('smtpUrl')} must be a URL such as smtps://user:password@mail.example.com:465.`,
    );
  if (!/^[^\s@]+@[^\s@]+$|<[^\s@<>]+@[^\s@<>]+>$/.test(from))
    fail('mailFrom', 'an address such as tatami@example.com or "Tatami <tatami@example.com>"');
  return { url, from };
}

function readRetention(days: (key: ConfigKey) => number | null): Config['retention'] {
  return {
    runs: days('keepRuns'),
    recordings: days('keepRecordings'),
    deliveries: days('keepDeliveries'),
    deleted: days('keepDeleted'),
    events: days('keepEvents'),
    snapshots: days('keepSnapshots'),
    undo: days('keepUndo'),
  };
}

/**
 * Returns the destination of a continuous copy and the S3 settings; S3 credentials come only from the environment.
 * @param where path or `s3://bucket/prefix`
 * @param folder base of relative paths
 * @param name name of the setting, for messages
 * @throws ConfigError if the address is invalid or credentials are missing
 */
export function readCopyAddress(
  where: string,
  folder: string,
  env: Environment = process.env,
  name = 'A copy in S3',
): { to: string; s3: S3Settings } {
  const s3 = s3Settings(env);
  if (!where.startsWith('s3://')) return { to: resolve(folder, where), s3 };
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]+(\/.*)?$/.test(where))
    throw new ConfigError(`${name} must be an address such as s3://bucket/prefix, not "${where}".`);
  if (s3.accessKeyId === '' || s3.secretAccessKey === '')
    throw new ConfigError(
      `${name} ${where} needs TATAMI_S3_ACCESS_KEY_ID and TATAMI_S3_SECRET_ACCESS_KEY, and TATAMI_S3_ENDPOINT if the service is not Amazon S3.`,
    );
  return { to: where.replace(/\/+$/, ''), s3 };
}

function s3Settings(env: Environment): S3Settings {
  const either = (own: string, usual: string): string => env[`TATAMI_S3_${own}`] || env[`AWS_${usual}`] || '';
  return {
    endpoint: either('ENDPOINT', 'ENDPOINT_URL') || null,
    region: either('REGION', 'REGION') || null,
    accessKeyId: either('ACCESS_KEY_ID', 'ACCESS_KEY_ID'),
    secretAccessKey: either('SECRET_ACCESS_KEY', 'SECRET_ACCESS_KEY'),
  };
}

/** @throws ConfigError if the destination is inside the data directory */
function copyConfig(
  { value, nameOf, fail, directory }: ConfigReading,
  folder: string,
  env: Environment,
  { dataDir, ...times }: { dataDir: string; everyMs: number; retentionMs: number },
): CopyConfig | null {
  if (value('copyTo') === '') return null;
  const { to, s3 } = readCopyAddress(value('copyTo'), folder, env, nameOf('copyTo'));
  if (!to.startsWith('s3://')) directory('copyTo');
  if (`${to}/`.startsWith(`${dataDir}/`))
    fail('copyTo', `a directory outside the data directory ${dataDir}, preferably on another disk`);
  return { to, s3, ...times };
}

function readBackups({ value, fail, directory }: ConfigReading): Config['backups'] {
  const [cron, retentionRule] = [value('backupSchedule'), value('backupKeep')];
  // The own default is not checked, because reading an expression takes 2 ms.
  const wrong = cron === coreSettings.backupSchedule.fallback ? null : checkCron(cron, 'UTC');
  if (wrong !== null) fail('backupSchedule', `five cron fields such as "0 3 * * *" (${wrong})`);
  if (!parseRetentionRule(retentionRule))
    fail('backupKeep', 'a rule such as last=3,daily=7,weekly=4,monthly=6');
  return value('backupDir') === '' ? null : { folder: directory('backupDir'), cron, retentionRule };
}

/**
 * Returns the server and token of a client command: flags take precedence over TATAMI_SERVER and TATAMI_TOKEN. `named` is the
 * variable that names a server other than the default one; `isNamed` is false if the default server is used.
 * @throws ConfigError
 */
export function readRemote(
  flags: { server?: string; token?: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): { server: string; token: string | null; sourceVariable: string | null; isExplicit: boolean } {
  const usual = 'http://127.0.0.1:4700';
  const explicitServer = flags.server ?? (env.TATAMI_SERVER || undefined);
  const server = explicitServer ?? usual;
  if (!/^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/.test(server))
    throw new ConfigError(
      `${flags.server === undefined ? 'TATAMI_SERVER' : '--server'} must be an address such as http://127.0.0.1:4700, not "${server}".`,
    );
  return {
    server,
    token: (flags.token ?? env.TATAMI_TOKEN ?? '').trim() || null,
    sourceVariable: flags.server === undefined && server !== usual ? 'TATAMI_SERVER' : null,
    isExplicit: explicitServer !== undefined,
  };
}

/** Returns the directory of state that client commands keep between runs (XDG Base Directory Specification). */
export function readStateDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { XDG_STATE_HOME: state = '' } = env;
  // The specification requires that relative paths are ignored.
  return join(isAbsolute(state) ? state : join(homedir(), '.local/state'), 'tatami');
}

/** Returns the directory of the credentials of client commands (XDG Base Directory Specification). */
export function readConfigDir(env: Environment = process.env): string {
  const { XDG_CONFIG_HOME: folder = '' } = env;
  return join(isAbsolute(folder) ? folder : join(homedir(), '.config'), 'tatami');
}

/** Returns the command of the editor for texts (POSIX, environ(7)): VISUAL, otherwise EDITOR; null if neither is set. */
export function readEditor(env: Environment = process.env): string | null {
  return env.VISUAL || env.EDITOR || null;
}

/**
 * Returns the programs that open a URL in a browser: the colon-separated list in BROWSER, in order of preference, otherwise the
 * system's default. Empty if there is no display.
 */
export function readBrowsers(env: Environment = process.env): string[] {
  const { BROWSER = '', DISPLAY = '', WAYLAND_DISPLAY = '' } = env;
  const chosen = BROWSER.split(':').filter((program) => program.trim() !== '');
  if (chosen.length > 0) return chosen;
  if (process.platform === 'darwin') return ['open'];
  return DISPLAY + WAYLAND_DISPLAY === '' ? [] : ['xdg-open'];
}

/** Returns the directory to which the executable unpacks files that it runs (XDG Base Directory Specification; for root, the system's). */
export function readCacheDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { TATAMI_CACHE_DIR: chosen = '', XDG_CACHE_HOME: cache = '' } = env;
  if (chosen !== '') {
    if (isAbsolute(chosen)) return chosen;
    throw new ConfigError(`TATAMI_CACHE_DIR must be an absolute path, not "${chosen}".`);
  }
  if (process.geteuid?.() === 0) return '/var/cache/tatami';
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'tatami');
}

/**
 * Returns the environment of this process without the variables that Bun added from .env files in `folder`;
 * null if these cannot be distinguished.
 */
export function readStartEnvironment(folder: string): Record<string, string> | null {
  try {
    const entries = readFileSync('/proc/self/environ', 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(
      entries.map((entry) => /^(.[^=]*)=([^]*)$/.exec(entry)?.slice(1) ?? [entry, '']),
    );
  } catch {
    const { env } = process;
    if (readdirSync(folder).some((name) => name.startsWith('.env'))) return null;
    return Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }
}

/** Returns the URL of a server with this configuration, for links created while it is stopped. */
export function addressOf({ baseUrl, host, port }: Config): string {
  if (baseUrl !== null) return baseUrl;
  // The wildcard address cannot be opened in a browser.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** Returns the reference of all settings, for `serve --help` and the documentation. */
export function configReference(): { flag: string; env: string; fallback: string; text: string }[] {
  return Object.entries({ ...coreSettings, ...featureSettings }).map(([name, { env, fallback, text }]) => ({
    flag: flagOf(name),
    env,
    fallback,
    text,
  }));
}
