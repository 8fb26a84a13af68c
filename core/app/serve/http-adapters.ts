// Assembles request handling: the kernel and its adapters for HTTP and in-process callers.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Config } from '../config/config.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import type { RequestAdapters } from '../../kernel/http/app.ts';
import { createBodies, createUploads } from '../../kernel/http/request/body.ts';
import { createCoder } from '../../kernel/http/request/coding.ts';
import { createCrossOrigin } from '../../kernel/http/request/cross-origin.ts';
import { createIdempotencyKeys } from '../../kernel/http/idempotency.ts';
import { createKernel } from '../../kernel/http/kernel.ts';
import { withIds } from '../../kernel/resource/names/named-input.ts';
import { createOutflow, type Outflow } from '../../kernel/http/response/outflow.ts';
import { createRateLimiter } from '../../kernel/http/limits/rate-limit.ts';
import type { Authenticate } from '../../kernel/http/principal.ts';
import { createRequests } from '../../kernel/http/requests.ts';
import { createContentionQueues } from '../../kernel/http/limits/admission.ts';
import { createValues } from '../../kernel/http/values.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { createFairPool } from '../../platform/lib/fairness/fair-queue.ts';
import { errorPage } from '../pages/pages.ts';
import { createPropose } from '../../features/proposals/index.ts';
import type { Scope } from '../../platform/store/store.ts';
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
