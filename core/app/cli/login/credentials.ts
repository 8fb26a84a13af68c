// Stores logins in one file in the configuration folder, readable only by its user. The file is replaced atomically, so that a concurrent
// reader sees the old or the new version. Writers hold the lock (lock.ts).
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfigDir } from '../../config/config.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { CommandError } from '../lib/output.ts';
import type { TokenEndpointResponse } from 'openid-client';
import { systemClock } from '../../../platform/lib/time/clock.ts';

/** Tokens of a login, as the token endpoint issues them (RFC 6749 §5.1). */
export interface LoginTokens {
  readonly scopes: readonly string[];
  readonly accessToken: string;
  /** Valid once: each use returns another. */
  readonly refreshToken: string;
  /** Expiry of the access token, ISO 8601 in UTC. */
  readonly expiresAt: string;
}

/** A member of a workspace, for whom commands act at a server. */
export interface Login extends LoginTokens {
  /** Base URL without a trailing slash. */
  readonly server: string;
  readonly workspace: { readonly id: string; readonly name: string };
  readonly member: { readonly id: string; readonly name: string };
}

const version = 1;
const others = 0o077;

export const lockFile = (): string => join(readConfigDir(), 'credentials.lock');
const credentialsFile = (): string => join(readConfigDir(), 'credentials.json');

/** Returns all logins; commands use the first. @throws CommandError if others can read the file, or it is invalid */
export function readLogins(): Login[] {
  const file = credentialsFile();
  const text = readOwn(file);
  if (text === null) return [];
  const logins = parse(text);
  if (logins === null)
    throw new CommandError(
      `${file} has no logins that this version can read. Remove it, and log in again with \`tatami login\`.`,
    );
  return logins;
}

/** Only for who holds the lock. */
export async function writeLogins(logins: readonly Login[]): Promise<void> {
  const [{ makePrivateDir }, { writeWholeFile }] = await Promise.all([
    import('../../../platform/store/files/private.ts'),
    import('../../../platform/store/files/installation.ts'),
  ]);
  makePrivateDir(readConfigDir());
  writeWholeFile(credentialsFile(), `${JSON.stringify({ version, logins }, null, 2)}\n`);
}

/** Returns true if two logins are for the same workspace, which has at most one. */
export function isSameWorkspace(one: Login, other: Login): boolean {
  return one.server === other.server && one.workspace.id === other.workspace.id;
}

/** The address of a server as logins name it. */
export function serverName(address: string): string {
  return new URL(address).href.replace(/\/+$/, '');
}

/** Null where there is none. What is looked at is what is read: the file that was opened, not what has its name by then. */
function readOwn(file: string): string | null {
  const fd = open(file);
  if (fd === null) return null;
  try {
    const { mode, uid } = fstatSync(fd);
    if (uid !== process.geteuid?.())
      throw new CommandError(
        `${file} belongs to another user, so its logins are not used. Move it away, or run this command as its owner.`,
      );
    if ((mode & others) !== 0)
      throw new CommandError(
        `${file} is open to other users (mode ${(mode & 0o777).toString(8)}), so its logins are not used. Run \`chmod 600 ${quoted(file)}\`. If other users may have read it, end its logins with \`tatami logout --all\`.`,
      );
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function open(file: string): number | null {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    const why = code === 'ELOOP' ? 'is a symbolic link' : `cannot be read (${String(code)})`;
    throw new CommandError(
      `${file} ${why}. Replace it with a regular file that only you can read.`,
      undefined,
      {
        cause: error,
      },
    );
  }
}

function parse(text: string): Login[] | null {
  try {
    const found = JSON.parse(text) as { version?: unknown; logins?: unknown };
    const { logins } = found;
    return found.version === version && Array.isArray(logins) && logins.every(isLogin) ? logins : null;
  } catch {
    return null;
  }
}

function isLogin(value: unknown): value is Login {
  const { workspace, member, scopes, ...rest } = value as Record<keyof Login, unknown>;
  return (
    [workspace, member].every(isNamed) &&
    Array.isArray(scopes) &&
    [rest.server, rest.accessToken, rest.refreshToken, rest.expiresAt].every(
      (part) => typeof part === 'string',
    ) &&
    URL.canParse(String(rest.server))
  );
}

function isNamed(value: unknown): boolean {
  const { id, name } = value as Record<string, unknown>;
  return typeof id === 'string' && typeof name === 'string';
}

/** Shorter than the lifetime of any token, and longer than a request takes. */
const renewBeforeMs = 60_000;

/** Returns true if the access token does not expire soon. */
export function isFresh({ expiresAt }: LoginTokens): boolean {
  return Date.parse(expiresAt) - systemClock.nowMs() > renewBeforeMs;
}

/** @param before tokens of the login, which stay where the response has none. @throws CommandError */
export function tokensOf(answer: TokenEndpointResponse, before?: LoginTokens): LoginTokens {
  const {
    access_token: accessToken,
    refresh_token: refreshToken = before?.refreshToken,
    expires_in,
    scope,
  } = answer;
  if (refreshToken === undefined || expires_in === undefined)
    throw new CommandError(
      'The server issued a token that cannot be renewed. Check that it runs a supported version of Tatami.',
    );
  return {
    accessToken,
    refreshToken,
    expiresAt: new Date(systemClock.nowMs() + expires_in * 1000).toISOString(),
    scopes: scope?.split(' ') ?? before?.scopes ?? [],
  };
}
