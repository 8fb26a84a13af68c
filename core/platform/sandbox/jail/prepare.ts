// Detects the jail mechanisms of this machine before sidecars are started: its own user for each sidecar if
// the core is root, and its own namespaces if the kernel allows them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { jailEntry } from '../fleet/spawn.ts';
import { findHierarchies, sweep, type CgroupHierarchies } from './cgroup.ts';
import { limitTool, type User } from './core-side.ts';
import { namespacesWanted } from './level.ts';

export interface JailMeans {
  confinement: Confinement;
  hierarchies: CgroupHierarchies;
  entry: readonly string[];
}

export interface Confinement {
  /** Arguments that precede the command of a sidecar. */
  prefix: string[];
  /** Namespaces that the prefix creates. */
  namespaces: string[];
  /** True if each sidecar gets its own unused user id. */
  ownUser: boolean;
  /** True if the files of a sidecar are readable without capabilities. */
  powerless: boolean;
  /** Files whose modes are the only reason why root cannot give each sidecar its own user id. */
  closedFiles: string[];
}

/** Files that a sidecar executes or loads by descriptor. */
interface SidecarFiles {
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

/** From util-linux. Without setpriv, `unshare` and the sidecar would outlive a core that is killed. */
const setprivPath = '/usr/bin/setpriv';
const unsharePath = '/usr/bin/unshare';
const toolsNeeded = [setprivPath, unsharePath];
const dieWithParent = [setprivPath, '--pdeathsig', 'KILL'];
/** Unused by convention (systemd, UIDS-GIDS.md): no users, services or containers get ids from this range. */
const userIdsFrom = 1_900_000_000;
const userIds = 200_000_000;

export async function prepareJail(files: {
  readonly nodePath: string;
  readonly addonPath: string;
}): Promise<JailMeans> {
  if (process.platform !== 'linux') return { confinement: noConfinement, hierarchies: [], entry: [] };
  const hierarchies = findHierarchies();
  sweep(hierarchies);
  const confinement = await findConfinement({
    programs: [process.execPath, files.nodePath],
    libraries: [files.addonPath],
  });
  return { confinement, hierarchies, entry: await jailEntry() };
}

/** Detects by trial what this kernel and this user allow. */
async function findConfinement(files: SidecarFiles): Promise<Confinement> {
  if (process.platform !== 'linux') return noConfinement;
  const self = process.getuid?.() ?? 0;
  const couldHaveUser = self === 0 && (await runs([limitTool, '--version'], true));
  const closedFiles = couldHaveUser ? closedTo(files) : [];
  const ownUser = couldHaveUser && closedFiles.length === 0;
  const powerless = self !== 0 || ownUser || closedTo(files, self).length === 0;
  // Root needs no user namespace, and without an id map it would lose access to its files.
  const namespaces = self === 0 && !ownUser ? namespacesWanted : ['user', ...namespacesWanted];
  const confinement = { ...noConfinement, ownUser, powerless, closedFiles };
  return (await canUnshare(namespaces, ownUser))
    ? { ...confinement, prefix: prefixOf(namespaces), namespaces }
    : confinement;
}

async function canUnshare(namespaces: readonly string[], ownUser: boolean): Promise<boolean> {
  if (!toolsNeeded.every((tool) => existsSync(tool)) || childrenOf(process.pid) === undefined) return false;
  return runs([...prefixOf(namespaces), unsharePath, '--version'], ownUser);
}

/**
 * `unshare` of util-linux creates the namespaces, because a PID namespace needs a fork and a user namespace
 * needs a single-threaded process, and Bun offers neither. `unshare` stays as a parent process of 1 MB;
 * parent and child die together.
 */
function prefixOf(namespaces: readonly string[]): string[] {
  const unshareFlags = namespaces.map((name) => `--${name}`);
  return [...dieWithParent, unsharePath, ...unshareFlags, '--fork', '--kill-child'];
}

/** Returns the options of `Bun.spawn` that set the user of one sidecar. */
export function userOf(confinement: Confinement): User | undefined {
  if (!confinement.ownUser) return undefined;
  const [chance = 0] = crypto.getRandomValues(new Uint32Array(1));
  const id = userIdsFrom + (chance % userIds);
  return { uid: id, gid: id };
}

/** Returns the child process ids, or undefined if the kernel does not list them. The sidecar is the only child of `unshare`. */
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
 * Returns the files whose mode refuses access to a user without group rights. Directories do not matter: the core opens the files.
 * @param uid id of that user; absent for a user who owns none of the files
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
