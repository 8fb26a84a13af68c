// Configuration: flags over TATAMI_* environment over defaults. The only reader of process.env; every key has a default, a
// unit and one sentence.
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parseCidr, type Cidr } from './lib/cidr.ts';
import type { LogLevel } from './lib/log.ts';

interface Key {
  readonly env: string;
  readonly fallback: string;
  readonly text: string;
}

const keys = {
  dataDir: {
    env: 'TATAMI_DATA_DIR',
    fallback: './data',
    text: 'Directory of the database, the master key and snapshots.',
  },
  port: { env: 'TATAMI_PORT', fallback: '4700', text: 'TCP port to listen on; 0 picks a free one.' },
  host: { env: 'TATAMI_HOST', fallback: '127.0.0.1', text: 'Address to listen on.' },
  baseUrl: {
    env: 'TATAMI_BASE_URL',
    fallback: '',
    text: 'Public address, without a trailing slash; by default the one listened on.',
  },
  egressAllow: {
    env: 'TATAMI_EGRESS_ALLOW',
    fallback: '',
    text: 'CIDRs of private networks that webhooks may reach, comma-separated.',
  },
  trustedProxy: {
    env: 'TATAMI_TRUSTED_PROXY',
    fallback: '',
    text: 'CIDRs of your reverse proxies, comma-separated: their X-Forwarded-For says who a request without a token comes from.',
  },
  rateLimit: {
    env: 'TATAMI_RATE_LIMIT',
    fallback: 'on',
    text: '`off` switches all rate limits off; the headers stay.',
  },
  rateRead: {
    env: 'TATAMI_RATE_READ',
    fallback: '600',
    text: 'Reads a minute per token and route; 0 is unlimited.',
  },
  rateWrite: {
    env: 'TATAMI_RATE_WRITE',
    fallback: '240',
    text: 'Writes a minute per token and route; 0 is unlimited.',
  },
  rateSearch: {
    env: 'TATAMI_RATE_SEARCH',
    fallback: '60',
    text: 'Searches a minute per token and route; 0 is unlimited.',
  },
  rateWorkspace: {
    env: 'TATAMI_RATE_WORKSPACE',
    fallback: '3000',
    text: 'Requests a minute per workspace, all tokens together; 0 is unlimited.',
  },
  readBudget: {
    env: 'TATAMI_READ_BUDGET',
    fallback: '2000',
    text: 'Milliseconds of processor time that one list or search may take; 0 is unlimited.',
  },
  keepRuns: {
    env: 'TATAMI_KEEP_RUNS',
    fallback: '14',
    text: 'Days that plugin runs are kept after they ended; `forever` keeps them.',
  },
  keepDeliveries: {
    env: 'TATAMI_KEEP_DELIVERIES',
    fallback: '30',
    text: 'Days that deliveries, their attempts, replays and what plugins missed are kept after they ended; `forever` keeps them.',
  },
  keepDeleted: {
    env: 'TATAMI_KEEP_DELETED',
    fallback: '90',
    text: 'Days that what was deleted, removed or revoked can still be restored or looked up; `forever` keeps it.',
  },
  keepEvents: {
    env: 'TATAMI_KEEP_EVENTS',
    fallback: 'forever',
    text: 'Days that what events say stays in the database; then it moves to files in `archive/`, where it is still read. `forever` leaves it.',
  },
  keepSnapshots: {
    env: 'TATAMI_KEEP_SNAPSHOTS',
    fallback: '90',
    text: 'Days that snapshots from before an upgrade are kept, beside the newest one; `forever` keeps them.',
  },
  sandboxJail: {
    env: 'TATAMI_SANDBOX_JAIL',
    fallback: 'auto',
    text: '`strict` refuses to start where the kernel cannot jail plugins fully; `off` runs them without the jail.',
  },
  sandboxSplit: {
    env: 'TATAMI_SANDBOX_SPLIT',
    fallback: 'none',
    text: "`workspace` or `install` gives each its own sandbox process, so that one taken over is not the others'; `none` shares one.",
  },
  nodePath: {
    env: 'TATAMI_NODE',
    fallback: '',
    text: 'Path of a Node 24 for the sandbox; by default the one installed with Tatami.',
  },
  logLevel: {
    env: 'TATAMI_LOG_LEVEL',
    fallback: 'info',
    text: 'Least level logged: debug, info, warn or error.',
  },
} as const satisfies Record<string, Key>;

type ConfigKey = keyof typeof keys;
export type Flags = Partial<Record<ConfigKey, string>>;

export interface Config {
  readonly dataDir: string;
  readonly port: number;
  readonly host: string;
  /** Null: derived from the socket. */
  readonly baseUrl: string | null;
  readonly egressAllow: readonly string[];
  readonly trustedProxy: readonly Cidr[];
  readonly rates: {
    readonly read: number;
    readonly write: number;
    readonly search: number;
    readonly workspace: number;
  };
  /** Of one list or search: processor time in milliseconds; 0 is unlimited. */
  readonly readBudgetMs: number;
  /** Days; null is for ever. */
  readonly kept: {
    readonly runs: number | null;
    readonly deliveries: number | null;
    readonly deleted: number | null;
    readonly events: number | null;
    readonly snapshots: number | null;
  };
  readonly sandboxJail: 'auto' | 'strict' | 'off';
  readonly sandboxSplit: 'none' | 'workspace' | 'install';
  readonly nodePath: string | null;
  readonly logLevel: LogLevel;
}

/** A value that cannot be used; the message names the flag or variable. */
export class ConfigError extends Error {}

/** @param folder where relative paths begin */
export function readConfig(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder: string = process.cwd(),
): Config {
  const value = (key: ConfigKey): string => flags[key] ?? env[keys[key].env] ?? keys[key].fallback;
  const fail = (key: ConfigKey, wanted: string): never => {
    const source =
      flags[key] === undefined
        ? keys[key].env
        : `--${key.replaceAll(/[A-Z]/g, (upper) => `-${upper.toLowerCase()}`)}`;
    throw new ConfigError(`${source} must be ${wanted}, not "${value(key)}".`);
  };
  const integer = (key: ConfigKey, max: number): number => {
    const text = value(key);
    return /^\d{1,9}$/.test(text) && Number(text) <= max
      ? Number(text)
      : fail(key, `a whole number from 0 to ${max}`);
  };
  const days = (key: ConfigKey): number | null => (value(key) === 'forever' ? null : integer(key, 36_500));
  const choice = <T extends string>(key: ConfigKey, allowed: readonly T[]): T =>
    allowed.find((option) => option === value(key)) ?? fail(key, `one of ${allowed.join(', ')}`);
  const off = choice('rateLimit', ['on', 'off']) === 'off';
  const rate = (key: ConfigKey): number => (off ? 0 : integer(key, 100_000_000));
  const list = (key: ConfigKey): string[] =>
    value(key)
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
  const baseUrl = value('baseUrl').replace(/\/+$/, '');
  if (baseUrl !== '' && !/^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/.test(baseUrl))
    fail('baseUrl', 'an http or https address');
  return {
    dataDir: resolve(folder, value('dataDir')),
    port: integer('port', 65535),
    host: value('host'),
    baseUrl: baseUrl === '' ? null : baseUrl,
    egressAllow: list('egressAllow'),
    trustedProxy: list('trustedProxy').map(
      (entry) => parseCidr(entry) ?? fail('trustedProxy', 'CIDRs such as 10.0.0.0/8 or 127.0.0.1/32'),
    ),
    rates: {
      read: rate('rateRead'),
      write: rate('rateWrite'),
      search: rate('rateSearch'),
      workspace: rate('rateWorkspace'),
    },
    readBudgetMs: integer('readBudget', 600_000),
    kept: readKept(days),
    sandboxJail: choice('sandboxJail', ['auto', 'strict', 'off']),
    nodePath: value('nodePath') === '' ? null : resolve(folder, value('nodePath')),
    sandboxSplit: choice('sandboxSplit', ['none', 'workspace', 'install']),
    logLevel: choice('logLevel', ['debug', 'info', 'warn', 'error']),
  };
}

function readKept(days: (key: ConfigKey) => number | null): Config['kept'] {
  return {
    runs: days('keepRuns'),
    deliveries: days('keepDeliveries'),
    deleted: days('keepDeleted'),
    events: days('keepEvents'),
    snapshots: days('keepSnapshots'),
  };
}

/**
 * Where a client command finds its server: flags over TATAMI_SERVER and TATAMI_TOKEN. `named` is the variable that named a
 * server other than the usual one.
 * @throws ConfigError
 */
export function readRemote(
  flags: { server?: string; token?: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): { server: string; token: string | null; named: string | null } {
  const usual = 'http://127.0.0.1:4700';
  const server = flags.server ?? (env.TATAMI_SERVER || usual);
  if (!/^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/.test(server))
    throw new ConfigError(
      `${flags.server === undefined ? 'TATAMI_SERVER' : '--server'} must be an address such as http://127.0.0.1:4700, not "${server}".`,
    );
  return {
    server,
    token: (flags.token ?? env.TATAMI_TOKEN ?? '').trim() || null,
    named: flags.server === undefined && server !== usual ? 'TATAMI_SERVER' : null,
  };
}

/** Where a client command keeps what is to be found again on the next run (XDG Base Directory Specification). */
export function readStateDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { XDG_STATE_HOME: state = '' } = env;
  // The specification has relative paths ignored.
  return join(isAbsolute(state) ? state : join(homedir(), '.local/state'), 'tatami');
}

/**
 * The environment as this process was given it, without what Bun added from the .env files of `folder`; null where that can no
 * longer be told apart.
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

/** The reference of all keys, as it is printed and documented. */
export function configReference(): { flag: string; env: string; fallback: string; text: string }[] {
  return Object.entries(keys).map(([name, key]) => ({
    flag: `--${name.replaceAll(/[A-Z]/g, (upper) => `-${upper.toLowerCase()}`)}`,
    ...key,
  }));
}
