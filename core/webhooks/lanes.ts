// Room per endpoint: so many attempts at once, a bounded number waiting in memory, the rest held back in the database. One
// hanging endpoint then costs the others nothing but its own few slots.

/** Attempts in flight at one endpoint; one while it is being probed. */
const concurrentMax = 8;
/** Deliveries of one endpoint in memory, waiting or in flight. */
const heldMax = 200;
/** The same once all endpoints together hold `crowdedAt`, so that a few hanging ones never fill all of the memory. */
const heldMaxCrowded = 16;
const crowdedAt = 1_000;

interface Lane {
  inFlight: number;
  held: number;
  probing: boolean;
  /** Whether the database may hold deliveries back for this endpoint. */
  heldBack: boolean;
  waiting: ((admitted: boolean) => void)[];
}

export interface Lanes {
  /** Counts a delivery as held in memory; false when there is no room, and it must be held back. */
  hold(endpointId: string): boolean;
  /** Counts one that `free` or `room` found room for. */
  take(endpointId: string): void;
  /** How many more deliveries there is room for. */
  free(endpointId: string): number;
  /** Waits for a slot, to be left again; false, without one, once the lanes are closed. */
  enter(endpointId: string): Promise<boolean>;
  leave(endpointId: string): void;
  /** One delivery less in memory. */
  drop(endpointId: string): void;
  /** Deliveries are held back in the database from now on; to be said once they are. */
  noteHeldBack(endpointId: string): void;
  noteNoneHeldBack(endpointId: string): void;
  /** How many held back deliveries there is room for now; 0 when there are none. */
  room(endpointId: string): number;
  setProbing(endpointId: string, probing: boolean): void;
  /** Lets nobody in any more, and sends away who waits. */
  close(): void;
}

export function createLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  let heldByAll = 0;
  let closed = false;
  const of = (endpointId: string): Lane => {
    const known = lanes.get(endpointId);
    if (known) return known;
    const made: Lane = { inFlight: 0, held: 0, probing: false, heldBack: false, waiting: [] };
    lanes.set(endpointId, made);
    return made;
  };
  const forgetIfIdle = (endpointId: string, lane: Lane): void => {
    if (lane.held === 0 && !lane.probing && !lane.heldBack) lanes.delete(endpointId);
  };
  const limit = (): number => (heldByAll < crowdedAt ? heldMax : heldMaxCrowded);
  const admit = (lane: Lane): void => {
    const slots = lane.probing ? 1 : concurrentMax;
    while (lane.inFlight < slots) {
      const next = lane.waiting.shift();
      if (!next) return;
      lane.inFlight++;
      next(true);
    }
  };
  const take = (endpointId: string): void => {
    of(endpointId).held++;
    heldByAll++;
  };
  return {
    take,
    hold(endpointId) {
      if (of(endpointId).held >= limit()) return false;
      take(endpointId);
      return true;
    },
    free: (endpointId) => Math.max(0, limit() - (lanes.get(endpointId)?.held ?? 0)),
    enter(endpointId) {
      if (closed) return Promise.resolve(false);
      const lane = of(endpointId);
      return new Promise((resolve) => {
        lane.waiting.push(resolve);
        admit(lane);
      });
    },
    leave(endpointId) {
      const lane = of(endpointId);
      lane.inFlight--;
      admit(lane);
    },
    drop(endpointId) {
      const lane = of(endpointId);
      lane.held--;
      heldByAll--;
      forgetIfIdle(endpointId, lane);
    },
    room(endpointId) {
      const lane = lanes.get(endpointId);
      return lane?.heldBack && lane.held <= limit() / 2 ? limit() - lane.held : 0;
    },
    noteHeldBack: (endpointId) => void (of(endpointId).heldBack = true),
    noteNoneHeldBack(endpointId) {
      const lane = of(endpointId);
      lane.heldBack = false;
      forgetIfIdle(endpointId, lane);
    },
    setProbing(endpointId, probing) {
      const lane = of(endpointId);
      lane.probing = probing;
      admit(lane);
      forgetIfIdle(endpointId, lane);
    },
    close() {
      closed = true;
      for (const lane of lanes.values()) for (const send of lane.waiting.splice(0)) send(false);
    },
  };
}
