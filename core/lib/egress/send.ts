/** Sends one request to the permitted addresses of its target, in order, until one accepts a connection. */
import type { EgressRequest, EgressResponse } from './egress.ts';
import { untilEnded, within, type ExchangeEnding } from './ending.ts';
import { EgressError } from './error.ts';
import type { Pool } from './dial.ts';
import { connected, exchange, type StartTimer } from './exchange.ts';
import type { FindPermitted } from './permitted.ts';
import { requestBytes } from './request.ts';
import type { Target } from './target.ts';

interface Way {
  readonly pool: Pool;
  readonly findPermitted: FindPermitted;
  readonly startTimer: StartTimer;
  readonly nowMs: () => number;
}

/** Number of addresses tried per host, because a host with an unreachable IPv6 address must still be reached. */
const ADDRESSES_TRIED_MAX = 4;

/** @throws EgressError */
export async function sendTo(
  { pool, findPermitted, startTimer, nowMs }: Way,
  target: Target,
  request: EgressRequest,
  ending: ExchangeEnding,
): Promise<EgressResponse> {
  const startedAtMs = nowMs();
  const { method, headers, body } = request;
  const bytes = requestBytes({ method, target, headers, body });
  const lookup = findPermitted(target);
  const permitted = Array.isArray(lookup)
    ? lookup
    : await untilEnded(within(lookup, request.connectTimeoutMs, startTimer, target.host), ending);
  const tried = permitted.slice(0, ADDRESSES_TRIED_MAX);
  for (const [index, { address }] of tried.entries()) {
    const leftMs = Math.max(1, request.connectTimeoutMs - (nowMs() - startedAtMs));
    const connectTimeoutMs = Math.ceil(leftMs / (tried.length - index));
    try {
      const answer = await exchange(pool, startTimer, {
        target,
        address,
        bytes,
        ending,
        connectTimeoutMs,
        isHead: method === 'HEAD',
        responseBytesMax: request.responseBytesMax,
      });
      return { ...answer, address, latencyMs: nowMs() - startedAtMs };
    } catch (error) {
      const isLast = index === tried.length - 1;
      if (isLast || ending.reason || !isConnectFailure(error)) throw error;
    }
  }
  throw new EgressError('dns', `${target.host} has no address. Check the host name.`);
}

/** Connects to the first permitted address without sending a request. @throws EgressError */
export async function reach(
  { pool, findPermitted }: Way,
  target: Target,
  ending: ExchangeEnding,
): Promise<void> {
  const [first] = await untilEnded(Promise.resolve(findPermitted(target)), ending);
  if (!first) throw new EgressError('dns', `${target.host} has no address. Check the host name.`);
  await connected(pool, target, first.address, ending);
}

function isConnectFailure(error: unknown): boolean {
  return (
    error instanceof EgressError && !error.sent && (error.code === 'connect' || error.code === 'timeout')
  );
}
