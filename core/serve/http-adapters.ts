// Assembles request handling: the kernel and its adapters for HTTP and in-process callers.
import type { Committer } from '../changes/commit.ts';
import type { Config } from '../config.ts';
import type { Directory, Services } from '../context.ts';
import type { RequestAdapters } from '../http/app.ts';
import { createBodies } from '../http/body.ts';
import { createCoder } from '../http/coding.ts';
import { createCrossOrigin } from '../http/cross-origin.ts';
import { createIdempotencyKeys } from '../http/idempotency.ts';
import { createKernel } from '../http/kernel.ts';
import { withIds } from '../resource/named-input.ts';
import { createOutflow, type Outflow } from '../http/outflow.ts';
import { createRateLimiter } from '../http/rate-limit.ts';
import type { Authenticate } from '../http/principal.ts';
import { createRequests } from '../http/requests.ts';
import { createContentionQueues } from '../http/contention-queues.ts';
import { createUploads } from '../http/upload.ts';
import { createValues } from '../http/values.ts';
import type { Clock } from '../lib/clock.ts';
import { createFairPool } from '../lib/fairness/fair-pool.ts';
import { errorPage } from '../pages/pages.ts';
import { createPropose } from '../proposals/propose.ts';
import type { Scope } from '../store/store.ts';
import type { Socket } from './socket.ts';

/** Number of bodies that threads compress or decompress concurrently. */
const codingConcurrency = 2;

export interface HttpAdapters extends RequestAdapters {
  /** Sends large responses, and counts bytes not yet read by clients. */
  readonly outflow: Outflow;
}

export function createHttpAdapters(options: {
  config: Config;
  clock: Clock;
  services: Services;
  committer: Committer;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  socket: Socket;
  authenticate: Authenticate;
}): HttpAdapters {
  const { config, clock, services, committer, directoryOf, socket, authenticate } = options;
  const { store, ids, sealing, fairQueue, ledger, nowMs } = services;
  const { peerOf } = socket;
  const outflow = createOutflow(clock);
  const fairPool = createFairPool(codingConcurrency, (billingAccount, ms) =>
    ledger.charge(billingAccount, 'cpuMs', ms),
  );
  const coder = createCoder(fairPool);
  const bodies = createBodies(fairQueue, coder);
  const { rates } = config;
  const limits = {
    perMinute: rates,
    memberPerMinute: rates.member,
    workspacePerMinute: rates.workspace,
  };
  const limiter = createRateLimiter(limits, clock.monotonicMs);
  return {
    kernel: createKernel({
      services,
      committer,
      idempotency: createIdempotencyKeys({ store, sealing, nowMs }),
      directoryOf,
      contentionQueues: createContentionQueues(),
      propose: createPropose(committer),
      withIds,
    }),
    requests: createRequests({
      services,
      bodies,
      uploads: createUploads(clock, socket.holdOpen),
      errorPage,
      limiter,
      outflow,
      coder,
      authenticate,
      holdOpen: socket.holdOpen,
      peerOf,
    }),
    values: createValues({ limiter, bodies }),
    crossOrigin: createCrossOrigin({ origins: config.corsOrigins, limiter, ids, peerOf }),
    outflow,
  };
}
