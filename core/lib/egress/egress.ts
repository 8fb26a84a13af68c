/**
 * The one outgoing HTTP door of the core, because a URL that a tenant chose must not steer requests into the network the
 * server stands in (server-side request forgery), be it a webhook's or a plugin's. A host is resolved once per request, every answer is
 * checked, and exactly a checked address is dialled. Redirects are not followed, proxies in the environment not used.
 */
import dns from 'node:dns/promises';
import os from 'node:os';
import { LRUCache } from 'lru-cache';
import {
  type AddressPolicy,
  judgeAddress,
  parseAllowList,
  type Permitted,
  type Verdict,
} from './addresses.ts';
import { type Connect, connectChecked, createPool } from './dial.ts';
import { EgressError } from './error.ts';
import type { Answer } from './answer-reader.ts';
import { startEnding, type Ending } from './ending.ts';
import { exchange, type StartTimer } from './exchange.ts';
import { requestBytes } from './request.ts';
import { parseTarget, type Target } from './target.ts';

export type Resolve = (host: string) => Promise<readonly { address: string; family: number }[]>;

export interface EgressOptions {
  /** CIDRs the operator opens beyond public addresses; plain http is possible only there. */
  allow: readonly string[];
  /** Our own listening port, refused on every address of this machine even where the allow-list covers it. */
  ownPort: () => number | undefined;
  resolve: Resolve;
  /** Further trusted roots (PEM), beside those the runtime ships. */
  extraRoots?: readonly string[];
  connect?: Connect;
  localAddresses?: () => readonly string[];
  /** A monotonic clock. */
  nowMs?: () => number;
  startTimer?: StartTimer;
}

export interface EgressRequest {
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  headers: Record<string, string>;
  /** At most 1 MiB. */
  body?: Uint8Array | string;
  /** For DNS, TCP and TLS together. */
  connectTimeoutMs: number;
  totalTimeoutMs: number;
  responseBytesMax: number;
  signal?: AbortSignal;
}

export interface EgressResponse extends Answer {
  latencyMs: number;
  /** The address that was dialled. */
  address: string;
}

export interface Egress {
  /** Any status is a response, 3xx included. @throws EgressError */
  send: (request: EgressRequest) => Promise<EgressResponse>;
  /**
   * What registration should refuse early: an odd URL, an address that `send` would refuse, http without the allow-list. A
   * name that does not resolve at the moment passes when it is https. @throws EgressError
   */
  checkUrl: (url: string) => Promise<void>;
  /** Drops pooled connections; requests in flight fail. */
  close: () => void;
}

/** Of several addresses of one host we try a few, as a host with an unreachable IPv6 address must still be reached. */
const ADDRESSES_TRIED_MAX = 4;
/** URLs and addresses whose reading is remembered: both follow from the text and the allow-list alone. */
const KNOWN_MAX = 1_000;
/** Registration must not hang on a slow name server. */
const CHECK_TIMEOUT_MS = 5_000;

type Judge = (address: string, port: number) => Verdict;

/** @throws Error when the allow-list holds something that is no CIDR. */
export function createEgress(options: EgressOptions): Egress {
  const policy: AddressPolicy = {
    allow: parseAllowList(options.allow),
    ownPort: options.ownPort,
    localAddresses: options.localAddresses ?? listInterfaceAddresses,
  };
  const nowMs = options.nowMs ?? (() => performance.now());
  const startTimer = options.startTimer ?? startRealTimer;
  const pool = createPool({
    connect: options.connect ?? connectChecked,
    extraRoots: options.extraRoots ?? [],
  });

  const verdicts = new LRUCache<string, Verdict>({ max: KNOWN_MAX });
  const targets = new LRUCache<string, Target>({ max: KNOWN_MAX });

  const targetOf = (url: string): Target => {
    const known = targets.get(url);
    if (known) return known;
    const target = parseTarget(url);
    targets.set(url, target);
    return target;
  };

  /** But for our own port, which addresses are ours may change, the port has no say: a verdict stands for all of them. */
  const judge: Judge = (address, port) => {
    if (port === policy.ownPort()) return judgeAddress(address, port, policy);
    const known = verdicts.get(address);
    if (known) return known;
    const verdict = judgeAddress(address, port, policy);
    verdicts.set(address, verdict);
    return verdict;
  };

  const findPermitted = (target: Target): Permitted[] | Promise<Permitted[]> =>
    target.isLiteral
      ? judgeAll(target, [{ address: target.host }], judge)
      : resolveName(options.resolve, target.host).then((answers) => judgeAll(target, answers, judge));

  async function sendWithin(request: EgressRequest, ending: Ending): Promise<EgressResponse> {
    const startedAtMs = nowMs();
    const target = targetOf(request.url);
    const { method, headers, body } = request;
    const bytes = requestBytes({ method, target, headers, body });
    const found = findPermitted(target);
    const permitted = Array.isArray(found)
      ? found
      : await untilEnded(within(found, request.connectTimeoutMs, startTimer, target.host), ending);
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
    throw new EgressError('dns', `${target.host} has no address.`);
  }

  return {
    send: async (request) => {
      const ending = startEnding(startTimer, request.totalTimeoutMs, request.signal);
      try {
        return await sendWithin(request, ending);
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
    close: pool.close,
  };
}

/** The system's resolver, hosts file included, in its order (RFC 6724). */
export const resolveWithSystem: Resolve = (host) => dns.lookup(host, { all: true, verbatim: true });

async function resolveName(resolve: Resolve, host: string): Promise<readonly { address: string }[]> {
  let answers: readonly { address: string }[];
  try {
    answers = await resolve(host);
  } catch (cause) {
    throw new EgressError('dns', `${host} cannot be resolved.`, { cause });
  }
  if (answers.length === 0) throw new EgressError('dns', `${host} has no address.`);
  return answers;
}

/** One refused answer refuses the host: which of them gets dialled must not be up to whoever runs its DNS. */
function judgeAll(target: Target, answers: readonly { address: string }[], judge: Judge): Permitted[] {
  return answers.map(({ address }) => {
    const verdict = judge(address, target.port);
    if ('refused' in verdict) {
      // The address itself stays out of the message: the reader may not be entitled to what internal DNS says.
      throw new EgressError('refused_address', `${target.host} leads to ${verdict.refused}.`, {
        cause: new Error(`refused address: ${address}`),
      });
    }
    if (!target.secure && !verdict.opened) {
      throw new EgressError('bad_url', 'The URL must be https; http is possible only inside --egress-allow.');
    }
    return verdict;
  });
}

function isConnectFailure(error: unknown): boolean {
  return (
    error instanceof EgressError && !error.sent && (error.code === 'connect' || error.code === 'timeout')
  );
}

async function within<T>(
  work: Promise<T>,
  limitMs: number,
  startTimer: StartTimer,
  host: string,
): Promise<T> {
  let stop = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    stop = startTimer(
      () => reject(new EgressError('timeout', `DNS did not answer for ${host} in ${limitMs} ms.`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}

function untilEnded<T>(work: Promise<T>, ending: Ending): Promise<T> {
  return new Promise((resolve, reject) => {
    if (ending.reason) return reject(ending.reason);
    ending.listener = reject;
    const over =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        ending.listener = null;
        settle(value);
      };
    work.then(over(resolve), over(reject));
  });
}

function listInterfaceAddresses(): string[] {
  return Object.values(os.networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address),
  );
}

function startRealTimer(fire: () => void, afterMs: number): () => void {
  const timer = setTimeout(fire, afterMs);
  return () => clearTimeout(timer);
}
