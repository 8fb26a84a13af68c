// Which deliveries in memory wait for their attempt, which are being attempted, and which are not to be attempted any more. It names
// only deliveries that the queue holds, and is bounded with them.

export interface Held {
  /** A delivery came into memory; `forget` ends that. */
  take(id: string, endpointId: string): void;
  forget(id: string): void;
  /** Its attempt begins, and ends with `rest`. */
  begin(id: string): void;
  rest(id: string): void;
  isCanceled(id: string): boolean;
  /** It was canceled: where it waits, its attempt is not made. */
  noteCanceled(id: string): void;
  /** Its endpoint went off: of all that wait for it, no attempt is made. */
  noteOff(endpointId: string): void;
  active(): ReadonlySet<string>;
}

export function createHeld(): Held {
  const endpointOf = new Map<string, string>();
  const active = new Set<string>();
  const canceled = new Set<string>();
  const noteCanceled = (id: string): void => {
    if (!active.has(id)) canceled.add(id);
  };
  return {
    take: (id, endpointId) => void endpointOf.set(id, endpointId),
    forget(id) {
      endpointOf.delete(id);
      canceled.delete(id);
    },
    begin: (id) => void active.add(id),
    rest: (id) => void active.delete(id),
    isCanceled: (id) => canceled.has(id),
    noteCanceled,
    noteOff(endpointId) {
      for (const [id, of] of endpointOf) if (of === endpointId) noteCanceled(id);
    },
    active: () => active,
  };
}
