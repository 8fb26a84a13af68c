// Gives each sidecar its own control group if the core may create one: inside or next to the core's own group, in version 2
// (cgroups.7, `memory` and `pids` delegated) or version 1. A control group also counts what process limits do not: page tables,
// sockets, threads.
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { threadsMax } from './core-side.ts';

export interface ControlGroup {
  /** Moves a process with all its threads into the group. @throws Error if the kernel refuses */
  adopt(pid: number): Promise<void>;
  /** Returns true if the kernel has killed a process of the group for lack of memory. */
  outOfMemory(): boolean;
  /** Call after the processes of the group have exited; retries, because the kernel releases them a moment later. */
  remove(): Promise<void>;
}

/** Higher than the limits of the process, so that those take effect first. */
export const groupBytesMax = 768 * 1024 * 1024;

const removalTries = 20;
const removalMs = 10;

/** Prefix of group names; the process ids of the core and of the sidecar follow. */
const namePrefix = 'tatami-sidecar-';

/** A directory of a hierarchy, the limits to write by file, and the file that counts out-of-memory kills. */
interface CgroupHierarchy {
  parent: string;
  limits: readonly (readonly [file: string, value: string])[];
  kills?: string;
}

/** Directories in which groups can be created: one in version 2, two in version 1, none if the core may not create any. */
export type CgroupHierarchies = readonly CgroupHierarchy[];

/** @param memberships text of /proc/self/cgroup @param mounts text of /proc/self/mountinfo */
export function findHierarchies(
  memberships = read('/proc/self/cgroup'),
  mounts = read('/proc/self/mountinfo'),
): CgroupHierarchies {
  const folders = foldersOf(memberships, mounts);
  return (
    hierarchiesOfVersion2(folders.get('')) ??
    hierarchiesOfVersion1(folders.get('memory'), folders.get('pids')) ??
    []
  );
}

/** Returns the directory of this process per controller; version 2, which has all controllers, has the key ''. */
function foldersOf(memberships: string, mounts: string): Map<string, string> {
  const folders = new Map<string, string>();
  for (const line of memberships.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    for (const name of controllers.split(',')) {
      const folder = folderOf(mounts, name, path);
      if (folder !== undefined) folders.set(name, folder);
    }
  }
  return folders;
}

function hierarchiesOfVersion2(own: string | undefined): CgroupHierarchies | undefined {
  if (own === undefined) return undefined;
  const parent = [own, dirname(own)].find(delegates);
  if (parent === undefined) return undefined;
  return [
    {
      parent,
      limits: [
        ['memory.max', String(groupBytesMax)],
        ['memory.swap.max', '0'],
        ['pids.max', String(threadsMax)],
      ],
      kills: 'memory.events',
    },
  ];
}

function hierarchiesOfVersion1(
  memory: string | undefined,
  pids: string | undefined,
): CgroupHierarchies | undefined {
  if (!memory || !pids || !writable(memory) || !writable(pids)) return undefined;
  const bytes = String(groupBytesMax);
  return [
    {
      parent: memory,
      limits: [
        ['memory.limit_in_bytes', bytes],
        ['memory.memsw.limit_in_bytes', bytes],
      ],
      kills: 'memory.oom_control',
    },
    { parent: pids, limits: [['pids.max', String(threadsMax)]] },
  ];
}

/** @throws Error if the kernel refuses; the partly created group is then removed */
export async function createControlGroup(hierarchies: CgroupHierarchies, pid: number): Promise<ControlGroup> {
  const name = `${namePrefix}${process.pid}-${pid}`;
  const group = groupAt(hierarchies, name);
  try {
    for (const { parent, limits } of hierarchies) {
      const folder = join(parent, name);
      mkdirSync(folder);
      for (const [file, value] of limits)
        if (existsSync(join(folder, file))) await writeFile(join(folder, file), value);
    }
    return group;
  } catch (error) {
    await group.remove();
    throw error;
  }
}

function groupAt(hierarchies: CgroupHierarchies, name: string): ControlGroup {
  return {
    async adopt(pid) {
      for (const { parent } of hierarchies) await writeFile(join(parent, name, 'cgroup.procs'), String(pid));
    },
    outOfMemory: () =>
      hierarchies.some(
        ({ parent, kills }) => kills && /^oom_kill [1-9]/m.test(read(join(parent, name, kills))),
      ),
    async remove() {
      for (let tries = 0; tries < removalTries; tries++) {
        const left = hierarchies.filter(({ parent }) => !removed(join(parent, name)));
        if (left.length === 0) return;
        await new Promise((resolve) => setTimeout(resolve, removalMs));
      }
    },
  };
}

/** Removes the groups of cores that were killed before they could remove them. */
export function sweep(hierarchies: CgroupHierarchies): void {
  for (const { parent } of hierarchies)
    for (const name of readdirSync(parent)) {
      const owner = name.startsWith(namePrefix) ? Number.parseInt(name.slice(namePrefix.length), 10) : 0;
      if (owner > 0 && !existsSync(`/proc/${owner}`)) removed(join(parent, name));
    }
}

/** Returns true if the group is gone. The kernel refuses to remove a group that still has a process. */
function removed(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}

/** Returns the directory of the group `path` in the mounted hierarchy `name`; `name` is empty for version 2. */
function folderOf(mounts: string, name: string, path: string): string | undefined {
  for (const line of mounts.split('\n')) {
    const [fields = '', filesystem = ''] = line.split(' - ');
    const [, , , root = '', mountPoint = ''] = fields.split(' ');
    const [type, , options = ''] = filesystem.split(' ');
    const fits = name === '' ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(name);
    if (!fits) continue;
    const inside = root === '/' ? path : path.startsWith(root) ? path.slice(root.length) : '';
    return join(mountPoint, inside);
  }
  return undefined;
}

/** Returns true if child groups of `folder` can be limited; controllers cannot be delegated by a group that has processes itself. */
function delegates(folder: string): boolean {
  const controllers = read(join(folder, 'cgroup.subtree_control')).trim().split(' ');
  return ['memory', 'pids'].every((name) => controllers.includes(name)) && writable(folder);
}

function writable(folder: string): boolean {
  try {
    accessSync(join(folder, 'cgroup.procs'), constants.W_OK);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
