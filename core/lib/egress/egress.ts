/**
 * HTTP client for all outgoing requests of the core. It guards against server-side request forgery through URLs of webhooks and
 * plugins: a host is resolved once per request, every resolved address is checked, and only a checked address is connected to.
 * Redirects are not followed, and proxies from the environment are not used.
 */
import dns from 'node:dns/promises';
import os from 'node:os';
import { LRUCache } from 'lru-cache';
import { parseAllowList } from './addresses.ts';
import { type Connect, connectChecked, createPool } from './dial.ts';
import { startEnding, within } from './ending.ts';
import { EgressError } from './error.ts';
import type { RawResponse } from './answer-reader.ts';
import type { StartTimer } from './exchange.ts';
import { createFindPermitted } from './permitted.ts';
import { reach, sendTo } from './send.ts';
import { parseTarget, type Target } from './target.ts';

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

export interface Egress {
  /** Resolves for any status, including 3xx. @throws EgressError */
  send: (request: EgressRequest) => Promise<EgressResponse>;
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
