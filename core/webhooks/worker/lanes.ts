// Slots per endpoint: so many attempts at once, the others wait. How many deliveries of an endpoint are in memory at all is
// the work queue's matter.

/** Attempts in flight at one endpoint; one while it is being probed. */
const concurrentMax = 8;

interface Lane {
  inFlight: number;
  probing: boolean;
  waiting: ((admitted: boolean) => void)[];
}

export interface Lanes {
  /** Waits for a slot, to be left again; false, without one, once the lanes are closed. */
  enter(endpointId: string): Promise<boolean>;
  leave(endpointId: string): void;
  setProbing(endpointId: string, probing: boolean): void;
  /** Lets nobody in any more, and sends away who waits. */
  close(): void;
}

export function createLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  let closed = false;
  const of = (endpointId: string): Lane => {
    const known = lanes.get(endpointId);
    if (known) return known;
    const made: Lane = { inFlight: 0, probing: false, waiting: [] };
    lanes.set(endpointId, made);
    return made;
  };
  const admit = (endpointId: string, lane: Lane): void => {
    const slots = lane.probing ? 1 : concurrentMax;
    while (lane.inFlight < slots) {
      const next = lane.waiting.shift();
      if (!next) break;
      lane.inFlight++;
      next(true);
    }
    if (lane.inFlight === 0 && !lane.probing) lanes.delete(endpointId);
  };
  return {
    enter(endpointId) {
      if (closed) return Promise.resolve(false);
      const lane = of(endpointId);
      return new Promise((resolve) => {
        lane.waiting.push(resolve);
        admit(endpointId, lane);
      });
    },
    leave(endpointId) {
      const lane = of(endpointId);
      lane.inFlight--;
      admit(endpointId, lane);
    },
    setProbing(endpointId, probing) {
      const lane = of(endpointId);
      lane.probing = probing;
      admit(endpointId, lane);
    },
    close() {
      closed = true;
      for (const lane of lanes.values()) for (const send of lane.waiting.splice(0)) send(false);
    },
  };
}
