// Room per endpoint: so many attempts at once, a bounded number waiting in memory, the rest held back in the database. One
// hanging endpoint then costs the others nothing but its own few slots.

/** Attempts in flight at one endpoint; one while it is being probed. */
const concurrentMax = 8;
/** Deliveries of one endpoint in memory, waiting or in flight. */
const heldMax = 200;

interface Lane {
  inFlight: number;
  held: number;
  probing: boolean;
  /** Whether the database may hold deliveries back for this endpoint. */
  heldBack: boolean;
  waiting: (() => void)[];
}

export interface Lanes {
  /** Counts a delivery as held in memory; false when there is no room, and it must be held back. */
  hold(endpointId: string): boolean;
  /** Waits for a slot. Every `enter` is followed by one `leave`. */
  enter(endpointId: string): Promise<void>;
  leave(endpointId: string): void;
  /** One delivery less in memory. */
  drop(endpointId: string): void;
  /** Deliveries are held back in the database from now on; to be said once they are. */
  noteHeldBack(endpointId: string): void;
  noteNoneHeldBack(endpointId: string): void;
  /** How many held back deliveries there is room for now; 0 when there are none. */
  room(endpointId: string): number;
  setProbing(endpointId: string, probing: boolean): void;
}

export function createLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  const of = (endpointId: string): Lane => {
    const known = lanes.get(endpointId);
    if (known) return known;
    const made: Lane = { inFlight: 0, held: 0, probing: false, heldBack: false, waiting: [] };
    lanes.set(endpointId, made);
    return made;
  };
  const admit = (lane: Lane): void => {
    const slots = lane.probing ? 1 : concurrentMax;
    while (lane.inFlight < slots) {
      const next = lane.waiting.shift();
      if (!next) return;
      lane.inFlight++;
      next();
    }
  };
  return {
    hold(endpointId) {
      const lane = of(endpointId);
      if (lane.held >= heldMax) return false;
      lane.held++;
      return true;
    },
    enter(endpointId) {
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
      if (lane.held === 0 && !lane.probing && !lane.heldBack) lanes.delete(endpointId);
    },
    room(endpointId) {
      const lane = of(endpointId);
      return lane.heldBack && lane.held <= heldMax / 2 ? heldMax - lane.held : 0;
    },
    noteHeldBack: (endpointId) => void (of(endpointId).heldBack = true),
    noteNoneHeldBack: (endpointId) => void (of(endpointId).heldBack = false),
    setProbing(endpointId, probing) {
      const lane = of(endpointId);
      lane.probing = probing;
      admit(lane);
    },
  };
}
