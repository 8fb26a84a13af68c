// What is held in memory of each workspace: its directory, who listens to its events, where its webhooks go. One cache for
// all of it: a section is loaded when it is first asked for, then moved along by each committed batch, in the order of the log.
import { LRUCache } from 'lru-cache';
import type { Scope } from '../store/store.ts';
import type { Change } from './change.ts';

const workspacesMax = 1_000;

export interface Section<T> {
  /** The kinds whose changes concern it. */
  readonly kinds: ReadonlySet<string>;
  load(scope: Scope): Promise<T>;
  /** The value once those changes are committed; undefined: it is to be loaded again. */
  move(value: T, changes: readonly Change[]): T | undefined;
}

interface Cached<T> {
  of(scope: Scope): T | Promise<T>;
}

export interface WorkspaceCache {
  section<T extends object>(section: Section<T>): Cached<T>;
  /** To be called with every committed batch. */
  moveAlong(workspaceId: string, changes: readonly Change[]): void;
}

/** A workspace as long as anything of it is held. */
type Held = Readonly<Record<never, never>>;

/** What a section holds of one workspace; `moves` counts the batches that concerned it. */
interface Slot<T> {
  value: T | undefined;
  moves: number;
}

export function createWorkspaceCache(): WorkspaceCache {
  const workspaces = new LRUCache<string, Held>({ max: workspacesMax });
  /** Those that are being loaded, however many others are asked for meanwhile: they must hear of every batch. */
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
      // Of a workspace that nobody asked for, whoever asks later reads what is committed.
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
    /** Again, where a batch fell between the reads: they may hold a part of it only. */
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
