// Concurrency limit per endpoint: further attempts wait for a slot. The work queue bounds how many deliveries of an
// endpoint are in memory.

/** Attempts in flight per endpoint; one while it is probed. */
const concurrentMax = 8;

interface Lane {
  inFlight: number;
  readonly waiting: ((admitted: boolean) => void)[];
}

export interface Lanes {
  /** Waits for a slot, to be returned with `leave`. Resolves to false, without a slot, once the lanes are closed. */
  enter(endpointId: string): Promise<boolean>;
  leave(endpointId: string): void;
  /** Admits waiting attempts to newly available slots. Call when an endpoint is no longer probed. */
  admit(endpointId: string): void;
  /** Admits no further attempts; waiting ones get false. */
  close(): void;
}

/** @param isProbing returns true if an endpoint failed so often that it gets one delivery at a time */
export function createLanes(isProbing: (endpointId: string) => boolean): Lanes {
  /** One lane per endpoint with an attempt in flight, so at most as many as the work queue holds deliveries. */
  const lanes = new Map<string, Lane>();
  let closed = false;
  const laneOf = (endpointId: string): Lane => {
    const known = lanes.get(endpointId);
    if (known) return known;
    const made: Lane = { inFlight: 0, waiting: [] };
    lanes.set(endpointId, made);
    return made;
  };
  const fill = (endpointId: string, lane: Lane): void => {
    const slots = isProbing(endpointId) ? 1 : concurrentMax;
    while (lane.inFlight < slots) {
      const next = lane.waiting.shift();
      if (!next) break;
      lane.inFlight++;
      next(true);
    }
    if (lane.inFlight === 0) lanes.delete(endpointId);
  };
  return {
    enter(endpointId) {
      if (closed) return Promise.resolve(false);
      const lane = laneOf(endpointId);
      return new Promise((resolve) => {
        lane.waiting.push(resolve);
        fill(endpointId, lane);
      });
    },
    leave(endpointId) {
      const lane = laneOf(endpointId);
      lane.inFlight--;
      fill(endpointId, lane);
    },
    admit(endpointId) {
      const lane = lanes.get(endpointId);
      if (lane) fill(endpointId, lane);
    },
    close() {
      closed = true;
      for (const lane of lanes.values()) for (const send of lane.waiting.splice(0)) send(false);
    },
  };
}
