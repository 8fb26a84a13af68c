// Concurrency limit per endpoint: further attempts wait for a slot. The work queue bounds how many deliveries of an
// endpoint are in memory.

/** Maximum number of attempts in flight per endpoint; 1 while the endpoint is probed. */
const concurrentMax = 8;

interface EndpointQueue {
  inFlight: number;
  readonly waiting: ((admitted: boolean) => void)[];
}

export interface EndpointQueues {
  /**
   * Waits for a slot, to be returned with `leave`. Resolves to false, without a slot, once the queues are
   * closed.
   */
  enter(endpointId: string): Promise<boolean>;
  leave(endpointId: string): void;
  /** Admits waiting attempts to newly available slots. Call when an endpoint is no longer probed. */
  admit(endpointId: string): void;
  /** Admits no further attempts; waiting ones get false. */
  close(): void;
}

/** @param isProbing returns true if an endpoint failed so often that it gets one delivery at a time */
export function createEndpointQueues(isProbing: (endpointId: string) => boolean): EndpointQueues {
  /** Queues of endpoints with an attempt in flight, so at most as many as the work queue holds deliveries. */
  const queues = new Map<string, EndpointQueue>();
  let closed = false;
  const queueOf = (endpointId: string): EndpointQueue => {
    const known = queues.get(endpointId);
    if (known) return known;
    const created: EndpointQueue = { inFlight: 0, waiting: [] };
    queues.set(endpointId, created);
    return created;
  };
  const fill = (endpointId: string, queue: EndpointQueue): void => {
    const slots = isProbing(endpointId) ? 1 : concurrentMax;
    while (queue.inFlight < slots) {
      const next = queue.waiting.shift();
      if (!next) break;
      queue.inFlight++;
      next(true);
    }
    if (queue.inFlight === 0) queues.delete(endpointId);
  };
  return {
    enter(endpointId) {
      if (closed) return Promise.resolve(false);
      const queue = queueOf(endpointId);
      return new Promise((resolve) => {
        queue.waiting.push(resolve);
        fill(endpointId, queue);
      });
    },
    leave(endpointId) {
      const queue = queueOf(endpointId);
      queue.inFlight--;
      fill(endpointId, queue);
    },
    admit(endpointId) {
      const queue = queues.get(endpointId);
      if (queue) fill(endpointId, queue);
    },
    close() {
      closed = true;
      for (const queue of queues.values()) for (const send of queue.waiting.splice(0)) send(false);
    },
  };
}
