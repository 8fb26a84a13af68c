// Stored form of the changes of a run, which has each cause once and is compressed with zstd.
import type { Entity } from '../../../kernel/changes/change.ts';
import type { Cause } from '../../../kernel/events/event.ts';

/** Names an object by model and id. */
export interface ObjectName {
  readonly kind: string;
  readonly id: string;
}

export interface StoredChange extends ObjectName {
  readonly before: Entity | null;
  readonly after: Entity;
  readonly cause: Cause;
}

export const keyOf = ({ kind, id }: ObjectName): string => `${kind} ${id}`;

const level = 1;

/** Returns stored changes without some of them. @param stored content of the row */
export function changesWithout(
  stored: Uint8Array | ArrayBuffer,
  isGone: (change: StoredChange) => boolean,
): Uint8Array {
  return packChanges(unpackChanges(stored).filter((change) => !isGone(change)));
}

export function packChanges(changes: readonly StoredChange[]): Uint8Array {
  const causes: Cause[] = [];
  const listed = changes.map(({ kind, id, before, after, cause }) => {
    if (!causes.includes(cause)) causes.push(cause);
    return [kind, id, before, after, causes.indexOf(cause)];
  });
  return Bun.zstdCompressSync(Buffer.from(JSON.stringify({ causes, changes: listed })), { level });
}

export function unpackChanges(stored: Uint8Array | ArrayBuffer): StoredChange[] {
  const { causes, changes } = JSON.parse(Bun.zstdDecompressSync(stored).toString()) as {
    causes: Cause[];
    changes: [kind: string, id: string, before: Entity | null, after: Entity, cause: number][];
  };
  return changes.map(([kind, id, before, after, cause]) => ({
    kind,
    id,
    before,
    after,
    cause: causes[cause]!,
  }));
}
