/**
 * Where a sidecar's process is put before it starts: under a user of its own when the core is root, and in namespaces of its own where
 * the kernel gives them. The namespaces are made by `unshare` of util-linux, because a PID namespace needs a fork and a user namespace
 * a process of one thread, and Bun can be neither; it stays behind as a parent of 1 MB, which dies with its child and the other way
 * round.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LIMIT_TOOL } from './core-side.ts';
import type { User } from './core-side.ts';

export interface Confinement {
  /** Goes before the command of a sidecar. */
  prefix: string[];
  /** The namespaces it makes. */
  namespaces: string[];
  /** Each sidecar gets a user id that nothing else has. */
  ownUser: boolean;
  /** Its files can be read without a capability to read everything. */
  powerless: boolean;
}

export const NO_CONFINEMENT: Confinement = { prefix: [], namespaces: [], ownUser: false, powerless: false };

/** Both of util-linux. Without the first, `unshare` would outlive a core that is killed, and the sidecar with it. */
const TIE = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'];
const UNSHARE = '/usr/bin/unshare';
const NAMESPACES = ['pid', 'net', 'ipc', 'uts'];
/** Unused by convention (systemd, UIDS-GIDS.md): neither people, services nor containers are given ids from here. */
const USER_IDS_FROM = 1_900_000_000;
const USER_IDS = 200_000_000;

/** What this kernel and this user give, found out by trying. @param files that the sidecar's user must be able to read */
export async function findConfinement(files: readonly string[]): Promise<Confinement> {
  if (process.platform !== 'linux') return NO_CONFINEMENT;
  const self = process.getuid?.() ?? 0;
  const ownUser =
    self === 0 && files.every((path) => reachable(path)) && (await runs([LIMIT_TOOL, '--version'], true));
  const powerless = self !== 0 || ownUser || files.every((path) => reachable(path, self));
  if (![TIE[0] ?? '', UNSHARE].every((tool) => existsSync(tool)) || childrenOf(process.pid) === undefined)
    return { ...NO_CONFINEMENT, ownUser, powerless };
  // Root needs no user namespace, and one without a map of ids would take its files away.
  const namespaces = self === 0 && !ownUser ? NAMESPACES : ['user', ...NAMESPACES];
  const prefix = [...TIE, UNSHARE, ...namespaces.map((name) => `--${name}`), '--fork', '--kill-child'];
  return (await runs([...prefix, UNSHARE, '--version'], ownUser))
    ? { prefix, namespaces, ownUser, powerless }
    : { ...NO_CONFINEMENT, ownUser, powerless };
}

/** Options of `Bun.spawn` for the user of one sidecar. */
export function userOf(confinement: Confinement): User | undefined {
  if (!confinement.ownUser) return undefined;
  const [chance = 0] = crypto.getRandomValues(new Uint32Array(1));
  const id = USER_IDS_FROM + (chance % USER_IDS);
  return { uid: id, gid: id };
}

/** Behind `unshare` the sidecar is its only child; undefined where the kernel does not say. */
export function childrenOf(pid: number): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return undefined;
  }
}

async function runs(command: string[], ownUser: boolean): Promise<boolean> {
  try {
    const user = userOf({ ...NO_CONFINEMENT, ownUser });
    return (
      (await Bun.spawn(command, { ...user, cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'ignore'] })
        .exited) === 0
    );
  } catch {
    return false;
  }
}

/** A user who is in no group that matters may read this file; without a user, one who owns nothing of it. */
function reachable(path: string, uid?: number): boolean {
  const READ = 0o4;
  const SEARCH = 0o1;
  const allows = (one: string, bit: number): boolean => {
    const { mode, uid: owner } = statSync(one);
    return ((owner === uid ? mode >> 6 : mode) & bit) !== 0;
  };
  if (!allows(path, READ)) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!allows(folder, SEARCH)) return false;
    if (folder === dirname(folder)) return true;
  }
}
