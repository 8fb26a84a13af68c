// In-memory cache of each workspace: its directory, the subscribers of its events, its webhook endpoints. A section is loaded on first
// use, then updated by each committed batch, in the order of the log.
import { LRUCache } from 'lru-cache';
import type { Scope } from '../store/store.ts';
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
  /** Must be called with every committed batch. */
  moveAlong(workspaceId: string, changes: readonly Change[]): void;
}

/** Identity of a workspace in the cache, alive as long as any section of it. */
type Held = Readonly<Record<never, never>>;

/** Section of one workspace; `moves` counts the batches that affected it. */
interface Slot<T> {
  value: T | undefined;
  moves: number;
}

export function createWorkspaceCache(): WorkspaceCache {
  const workspaces = new LRUCache<string, Held>({ max: workspacesMax });
  /** Workspaces that are being loaded. They must receive every batch, even if the cache evicts them meanwhile. */
  const loading = new Map<string, { readonly held: Held; loads: number }>();
  const movers: ((held: Held, changes: readonly Change[]) => void)[] = [];

  const heldOf = (workspaceId: string): Held => {
    const known = workspaces.get(workspaceId);
    if (known) return known;
    const held = loading.get(workspaceId)?.held ?? {};
    workspaces.set(workspaceId, held);
    return held;
  };

  const whileLoading = async <T>(workspaceId: string, load: (held: Held) => Promise<T>): Promise<T> => {
    const entry = loading.get(workspaceId) ?? { held: heldOf(workspaceId), loads: 0 };
    entry.loads++;
    loading.set(workspaceId, entry);
    try {
      return await load(entry.held);
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
          slots.at(heldOf(scope.workspaceId)).value ??
          whileLoading(scope.workspaceId, (held) => slots.load(scope, held)),
      };
    },
    moveAlong(workspaceId, changes) {
      // A workspace that is not cached needs no update: a later load reads the committed state.
      const held = workspaces.peek(workspaceId) ?? loading.get(workspaceId)?.held;
      if (held) for (const move of movers) move(held, changes);
    },
  };
}

function createSlots<T extends object>(section: Section<T>) {
  const slots = new WeakMap<Held, Slot<T>>();
  const at = (held: Held): Slot<T> => {
    const known = slots.get(held);
    if (known) return known;
    const made: Slot<T> = { value: undefined, moves: 0 };
    slots.set(held, made);
    return made;
  };
  return {
    at,
    /** Loads again if a batch was committed during the load, which may have read only part of it. */
    async load(scope: Scope, held: Held): Promise<T> {
      const slot = at(held);
      for (;;) {
        const before = slot.moves;
        const value = await section.load(scope);
        if (slot.moves === before) return (slot.value = value);
      }
    },
    move(held: Held, changes: readonly Change[]): void {
      if (!changes.some(({ kind }) => section.kinds.has(kind))) return;
      const slot = at(held);
      slot.moves++;
      slot.value = slot.value && section.move(slot.value, changes);
    },
  };
}
