/**
 * HTTP client for all outgoing requests of the core. It guards against server-side request forgery through URLs of webhooks and
 * plugins: a host is resolved once per request, every resolved address is checked, and only a checked address is connected to.
 * Redirects are not followed, and proxies from the environment are not used.
 */
import dns from 'node:dns/promises';
import os from 'node:os';
import { LRUCache } from 'lru-cache';
import {
  parseAllowList,
  judgeAddress,
  type AddressPolicy,
  type Permitted,
  type Verdict,
} from './addresses.ts';
import { type Connect, connectChecked, createPool, type Pool } from './pool.ts';
import { startEnding, within, untilEnded, type ExchangeEnding } from './ending.ts';
import { EgressError } from './error.ts';
import type { RawResponse } from './answer-reader.ts';
import { type StartTimer, connected, exchange } from './exchange.ts';
import { parseTarget, type Target } from './target.ts';
import { requestBytes } from './request.ts';

export type Resolve = (host: string) => Promise<readonly { address: string; family: number }[]>;

export interface EgressOptions {
  /** CIDRs allowed in addition to public addresses; plain http is possible only to these. */
  allow: readonly string[];
  /** Port of this server, refused on every address of this machine even if the allow-list contains it. */
  ownPort: () => number | undefined;
  resolve: Resolve;
  /** Trusted root certificates (PEM) in addition to those of the runtime. */
  extraRoots?: readonly string[];
  connect?: Connect;
  localAddresses?: () => readonly string[];
  /** Monotonic milliseconds; default `performance.now`. */
  nowMs?: () => number;
  startTimer?: StartTimer;
}

export interface EgressRequest {
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  headers: Record<string, string>;
  /** At most 1 MiB. */
  body?: Uint8Array | string;
  /** Time limit for DNS, TCP and TLS together. */
  connectTimeoutMs: number;
  totalTimeoutMs: number;
  responseBytesMax: number;
  signal?: AbortSignal;
}

export interface EgressResponse extends RawResponse {
  latencyMs: number;
  /** IP address of the peer. */
  address: string;
}

/**
 * Finds the addresses that a request may connect to: those of its DNS answer, in its order, all of them checked. Synchronous for a
 * literal address. @throws EgressError, also by rejection
 */
type FindPermitted = (target: Target) => Permitted[] | Promise<Permitted[]>;

type Judge = (address: string, port: number) => Verdict;

/** Number of cached verdicts, which depend only on the address and the allow-list. */
const KNOWN_VERDICTS_MAX = 1_000;

function createFindPermitted(options: { policy: AddressPolicy; resolve: Resolve }): FindPermitted {
  const { policy, resolve } = options;
  const verdicts = new LRUCache<string, Verdict>({ max: KNOWN_VERDICTS_MAX });

  /** A verdict holds for every port except the server's own, where it depends on the machine's addresses, which may change. */
  const judge: Judge = (address, port) => {
    if (port === policy.ownPort()) return judgeAddress(address, port, policy);
    const known = verdicts.get(address);
    if (known) return known;
    const verdict = judgeAddress(address, port, policy);
    verdicts.set(address, verdict);
    return verdict;
  };

  return (target) =>
    target.isLiteral
      ? judgeAll(target, [{ address: target.host }], judge)
      : resolveName(resolve, target.host).then((answers) => judgeAll(target, answers, judge));
}

async function resolveName(resolve: Resolve, host: string): Promise<readonly { address: string }[]> {
  let answers: readonly { address: string }[];
  try {
    answers = await resolve(host);
  } catch (cause) {
    throw new EgressError('dns', `${host} cannot be resolved. Check the host name.`, { cause });
  }
  if (answers.length === 0) throw new EgressError('dns', `${host} has no address. Check the host name.`);
  return answers;
}

/** Refuses the host if any of its addresses is refused, so that the order of DNS answers cannot decide the outcome. */
function judgeAll(target: Target, answers: readonly { address: string }[], judge: Judge): Permitted[] {
  return answers.map(({ address }) => {
    const verdict = judge(address, target.port);
    if ('refused' in verdict) {
      // The address is not in the message, because the reader may not be entitled to see internal DNS.
      throw new EgressError('refused_address', `${target.host} leads to ${verdict.refused}.`, {
        cause: new Error(`refused address: ${address}`),
      });
    }
    if (!target.secure && !verdict.opened) {
      throw new EgressError(
        'bad_url',
        'The URL must be https; http is allowed only for addresses in --egress-allow.',
      );
    }
    return verdict;
  });
}

interface Way {
  readonly pool: Pool;
  readonly findPermitted: FindPermitted;
  readonly startTimer: StartTimer;
  readonly nowMs: () => number;
}

/** Number of addresses tried per host, because a host with an unreachable IPv6 address must still be reached. */
const ADDRESSES_TRIED_MAX = 4;

/** Tries the permitted addresses of the target in order until one accepts a connection. @throws EgressError */
async function sendTo(
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
async function reach({ pool, findPermitted }: Way, target: Target, ending: ExchangeEnding): Promise<void> {
  const [first] = await untilEnded(Promise.resolve(findPermitted(target)), ending);
  if (!first) throw new EgressError('dns', `${target.host} has no address. Check the host name.`);
  await connected(pool, target, first.address, ending);
}

function isConnectFailure(error: unknown): boolean {
  return (
    error instanceof EgressError && !error.sent && (error.code === 'connect' || error.code === 'timeout')
  );
}

/** The part of the egress that sends requests. */
export interface RequestSender {
  /** Resolves for any status, including 3xx. @throws EgressError */
  send: (request: EgressRequest) => Promise<EgressResponse>;
}

export interface Egress extends RequestSender {
  /**
   * Checks a URL at registration: refuses an ambiguous URL, an address that `send` would refuse, and http outside the allow-list.
   * An https host that currently does not resolve passes. @throws EgressError
   */
  checkUrl: (url: string) => Promise<void>;
  /** Connects without sending a request, with TLS for https. @throws EgressError */
  reach: (url: string, timeoutMs: number) => Promise<void>;
  /** Closes pooled connections; requests in flight fail. */
  close: () => void;
}

/** Number of cached parsed URLs. */
const KNOWN_TARGETS_MAX = 1_000;
/** Limit for registration, which must not hang on a slow name server. */
const CHECK_TIMEOUT_MS = 5_000;

/** @throws Error if the allow-list contains an entry that is not a CIDR */
export function createEgress(options: EgressOptions): Egress {
  const startTimer = options.startTimer ?? startRealTimer;
  const findPermitted = createFindPermitted({
    resolve: options.resolve,
    policy: {
      allow: parseAllowList(options.allow),
      ownPort: options.ownPort,
      localAddresses: options.localAddresses ?? listInterfaceAddresses,
    },
  });
  const pool = createPool({
    connect: options.connect ?? connectChecked,
    extraRoots: options.extraRoots ?? [],
  });
  const way = { pool, findPermitted, startTimer, nowMs: options.nowMs ?? (() => performance.now()) };
  const targets = new LRUCache<string, Target>({ max: KNOWN_TARGETS_MAX });

  const targetOf = (url: string): Target => {
    const known = targets.get(url);
    if (known) return known;
    const target = parseTarget(url);
    targets.set(url, target);
    return target;
  };

  return {
    send: async (request) => {
      const ending = startEnding(startTimer, request.totalTimeoutMs, request.signal);
      try {
        return await sendTo(way, targetOf(request.url), request, ending);
      } finally {
        ending.stop();
      }
    },
    checkUrl: async (url) => {
      const target = parseTarget(url);
      try {
        await within(Promise.resolve(findPermitted(target)), CHECK_TIMEOUT_MS, startTimer, target.host);
      } catch (error) {
        const isUnresolved =
          error instanceof EgressError && (error.code === 'dns' || error.code === 'timeout');
        const mayResolveLater = target.secure && isUnresolved;
        if (!mayResolveLater) throw error;
      }
    },
    reach: async (url, timeoutMs) => {
      const ending = startEnding(startTimer, timeoutMs, undefined);
      try {
        await reach(way, targetOf(url), ending);
      } finally {
        ending.stop();
      }
    },
    close: pool.close,
  };
}

/** The system's resolver, including the hosts file, in its order (RFC 6724). */
export const resolveWithSystem: Resolve = (host) => dns.lookup(host, { all: true, verbatim: true });

function listInterfaceAddresses(): string[] {
  return Object.values(os.networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address),
  );
}

function startRealTimer(fire: () => void, afterMs: number): () => void {
  const timer = setTimeout(fire, afterMs);
  return () => clearTimeout(timer);
}
