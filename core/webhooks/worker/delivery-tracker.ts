// Tracks which deliveries in memory wait for their attempt, are being attempted, or must not be attempted.
// The size is bounded by the queue, because only its deliveries are tracked.

export interface DeliveryTracker {
  /** Registers a delivery in memory until `forget`. */
  take(id: string, endpointId: string): void;
  forget(id: string): void;
  /** Marks the attempt as running until `rest`. */
  begin(id: string): void;
  rest(id: string): void;
  isCanceled(id: string): boolean;
  /** Marks a delivery as canceled; if it waits, its attempt is not made. */
  noteCanceled(id: string): void;
  /** Marks all waiting deliveries of a disabled endpoint as canceled. */
  noteOff(endpointId: string): void;
  active(): ReadonlySet<string>;
}

export function createDeliveryTracker(): DeliveryTracker {
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
