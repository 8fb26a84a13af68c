// The one door: what a request passes on its way to a route, whether it comes from the socket or from a plugin.
import type { Committer } from '../changes/commit.ts';
import type { Config } from '../config.ts';
import type { Directory, Services } from '../context.ts';
import { createBodies } from '../http/body.ts';
import { createIdempotencyKeys } from '../http/idempotency.ts';
import { createKernel, type Kernel } from '../http/kernel.ts';
import { createOutflow, type Outflow } from '../http/outflow.ts';
import { createInProcessCalls, type InProcessCalls } from '../http/principal.ts';
import { createRateLimiter } from '../http/rate-limit.ts';
import { createAuthenticate } from '../identity/api-keys/authenticate.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scope } from '../store/store.ts';
import type { Socket } from './socket.ts';

export interface Door {
  readonly kernel: Kernel;
  /** Attaches identities to requests that are made inside the process. */
  readonly inProcess: InProcessCalls;
  /** Sends large answers, and counts what waits to be read. */
  readonly outflow: Outflow;
}

export function createDoor(options: {
  config: Config;
  clock: Clock;
  services: Services;
  committer: Committer;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  socket: Socket;
}): Door {
  const { config, clock, services, committer, directoryOf, socket } = options;
  const { store, sealing, turns, nowMs } = services;
  const inProcess = createInProcessCalls();
  const outflow = createOutflow(clock);
  const limits = { perMinute: config.rates, workspacePerMinute: config.rates.workspace };
  const kernel = createKernel({
    services,
    committer,
    limiter: createRateLimiter(limits, nowMs),
    bodies: createBodies(turns),
    outflow,
    idempotency: createIdempotencyKeys({ store, sealing, nowMs }),
    authenticate: createAuthenticate({ store, committer, nowMs }),
    inProcess,
    directoryOf,
    holdOpen: socket.holdOpen,
    peerOf: socket.peerOf,
  });
  return { kernel, inProcess, outflow };
}
