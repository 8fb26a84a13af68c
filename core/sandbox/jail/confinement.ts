// Where a sidecar's process is put before it starts: under a user of its own when the core is root, and in namespaces
// of its own where the kernel gives them. The namespaces are made by `unshare` of util-linux, because a PID namespace
// needs a fork and a user namespace a process of one thread, and Bun can be neither; it stays behind as a parent of 1
// MB, which dies with its child and the other way round.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { limitTool } from './core-side.ts';
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
  /** The files whose modes alone keep root from giving each sidecar a user id of its own. */
  closedFiles: string[];
}

/** Files that a sidecar's process opens by descriptor. */
export interface SidecarFiles {
  programs: readonly string[];
  libraries: readonly string[];
}

export const noConfinement: Confinement = {
  prefix: [],
  namespaces: [],
  ownUser: false,
  powerless: false,
  closedFiles: [],
};

/** Both of util-linux. Without the first, `unshare` would outlive a core that is killed, and the sidecar with it. */
const setprivPath = '/usr/bin/setpriv';
const unsharePath = '/usr/bin/unshare';
const toolsNeeded = [setprivPath, unsharePath];
const dieWithParent = [setprivPath, '--pdeathsig', 'KILL'];
const namespacesWanted = ['pid', 'net', 'ipc', 'uts'];
/** Unused by convention (systemd, UIDS-GIDS.md): neither people, services nor containers are given ids from here. */
const userIdsFrom = 1_900_000_000;
const userIds = 200_000_000;

/** Tries what this kernel and this user give. */
export async function findConfinement(files: SidecarFiles): Promise<Confinement> {
  if (process.platform !== 'linux') return noConfinement;
  const self = process.getuid?.() ?? 0;
  const couldHaveUser = self === 0 && (await runs([limitTool, '--version'], true));
  const closedFiles = couldHaveUser ? closedTo(files) : [];
  const ownUser = couldHaveUser && closedFiles.length === 0;
  const powerless = self !== 0 || ownUser || closedTo(files, self).length === 0;
  // Root needs no user namespace, and one without a map of ids would take its files away.
  const namespaces = self === 0 && !ownUser ? namespacesWanted : ['user', ...namespacesWanted];
  const found = { ...noConfinement, ownUser, powerless, closedFiles };
  return (await canUnshare(namespaces, ownUser))
    ? { ...found, prefix: prefixOf(namespaces), namespaces }
    : found;
}

async function canUnshare(namespaces: readonly string[], ownUser: boolean): Promise<boolean> {
  if (!toolsNeeded.every((tool) => existsSync(tool)) || childrenOf(process.pid) === undefined) return false;
  return runs([...prefixOf(namespaces), unsharePath, '--version'], ownUser);
}

function prefixOf(namespaces: readonly string[]): string[] {
  const made = namespaces.map((name) => `--${name}`);
  return [...dieWithParent, unsharePath, ...made, '--fork', '--kill-child'];
}

/** Options of `Bun.spawn` for the user of one sidecar. */
export function userOf(confinement: Confinement): User | undefined {
  if (!confinement.ownUser) return undefined;
  const [chance = 0] = crypto.getRandomValues(new Uint32Array(1));
  const id = userIdsFrom + (chance % userIds);
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
    const user = userOf({ ...noConfinement, ownUser });
    return (
      (await Bun.spawn(command, { ...user, cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'ignore'] })
        .exited) === 0
    );
  } catch {
    return false;
  }
}

/**
 * Files whose mode refuses a user who is in no group that matters. Folders have no say: the core opens the files.
 * @param uid of that user; absent: one who owns none of them
 */
function closedTo({ programs, libraries }: SidecarFiles, uid?: number): string[] {
  const closed = (path: string, bits: number): boolean => {
    const { mode, uid: owner } = statSync(path);
    return ((owner === uid ? mode >> 6 : mode) & bits) !== bits;
  };
  const [readAndExecute, read] = [0o5, 0o4];
  return [
    ...programs.filter((path) => closed(path, readAndExecute)),
    ...libraries.filter((path) => closed(path, read)),
  ];
}
