// In-memory cache of each workspace: its directory, the subscribers of its events, its webhook endpoints. A section is loaded on first
// use, then updated by each committed batch, in the order of the log.
import { LRUCache } from 'lru-cache';
import type { Scope } from '../../platform/store/store.ts';
import type { Change } from './change.ts';

const workspacesMax = 1_000;

export interface Section<T> {
  /** Entities whose changes affect the section. */
  readonly kinds: ReadonlySet<string>;
  load(scope: Scope): Promise<T>;
  /** Returns the value after the commit of those changes; undefined to load it again. */
  move(value: T, changes: readonly Change[]): T | undefined;
}

interface Cached<T> {
  of(scope: Scope): T | Promise<T>;
}

export interface WorkspaceCache {
  section<T extends object>(section: Section<T>): Cached<T>;
  /** Updates the cached sections. Must be called with every committed batch. */
  moveAlong(workspaceId: string, changes: readonly Change[]): void;
}

/** Weak key of the slots of a workspace, which are released with it. */
type CachedWorkspace = Readonly<Record<never, never>>;

/** Section of one workspace; `moves` counts the batches that affected it. */
interface Slot<T> {
  value: T | undefined;
  moves: number;
}

export function createWorkspaceCache(): WorkspaceCache {
  const workspaces = new LRUCache<string, CachedWorkspace>({ max: workspacesMax });
  /** Workspaces that are being loaded. They must receive every batch, even if the cache evicts them meanwhile. */
  const loading = new Map<string, { readonly workspace: CachedWorkspace; loads: number }>();
  const movers: ((workspace: CachedWorkspace, changes: readonly Change[]) => void)[] = [];

  const workspaceOf = (workspaceId: string): CachedWorkspace => {
    const known = workspaces.get(workspaceId);
    if (known) return known;
    const workspace = loading.get(workspaceId)?.workspace ?? {};
    workspaces.set(workspaceId, workspace);
    return workspace;
  };

  const whileLoading = async <T>(
    workspaceId: string,
    load: (workspace: CachedWorkspace) => Promise<T>,
  ): Promise<T> => {
    const entry = loading.get(workspaceId) ?? { workspace: workspaceOf(workspaceId), loads: 0 };
    entry.loads++;
    loading.set(workspaceId, entry);
    try {
      return await load(entry.workspace);
    } finally {
      if (--entry.loads === 0) loading.delete(workspaceId);
    }
  };

  return {
    section(section) {
      const slots = createSlots(section);
      movers.push(slots.move);
      return {
        of: (scope) =>
          slots.at(workspaceOf(scope.workspaceId)).value ??
          whileLoading(scope.workspaceId, (workspace) => slots.load(scope, workspace)),
      };
    },
    moveAlong(workspaceId, changes) {
      // A workspace that is not cached needs no update: a later load reads the committed state.
      const workspace = workspaces.peek(workspaceId) ?? loading.get(workspaceId)?.workspace;
      if (workspace) for (const move of movers) move(workspace, changes);
    },
  };
}

function createSlots<T extends object>(section: Section<T>) {
  const slots = new WeakMap<CachedWorkspace, Slot<T>>();
  const at = (workspace: CachedWorkspace): Slot<T> => {
    const known = slots.get(workspace);
    if (known) return known;
    const slot: Slot<T> = { value: undefined, moves: 0 };
    slots.set(workspace, slot);
    return slot;
  };
  return {
    at,
    /** Loads again if a batch was committed during the load, which may have read only part of it. */
    async load(scope: Scope, workspace: CachedWorkspace): Promise<T> {
      const slot = at(workspace);
      for (;;) {
        const before = slot.moves;
        const value = await section.load(scope);
        if (slot.moves === before) return (slot.value = value);
      }
    },
    move(workspace: CachedWorkspace, changes: readonly Change[]): void {
      if (!changes.some(({ kind }) => section.kinds.has(kind))) return;
      const slot = at(workspace);
      slot.moves++;
      slot.value = slot.value && section.move(slot.value, changes);
    },
  };
}
