// Clients whose id is the https URL of a metadata document (draft-ietf-oauth-client-id-metadata-document).
// Anonymous requests can make this server fetch any URL. Fetches therefore use the egress guard, reach only
// public addresses even if webhooks may reach others, run once per document at a time, and are rate limited.
import { LRUCache } from 'lru-cache';
import type { RequestSender, EgressResponse } from '../../../platform/lib/egress/egress.ts';
import { EgressError } from '../../../platform/lib/egress/error.ts';
import { RecentMap } from '../../../platform/lib/fairness/recent-map.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import { strangerOf } from '../../../platform/lib/billing-account.ts';
import { minuteMs } from '../../../platform/lib/time/time.ts';
import { ClientRefused, type OAuthClient, readMetadata } from './client.ts';

const idLengthMax = 1_000;
/** Maximum size of a document, as the draft recommends. */
const documentBytesMax = 5 * 1024;
const timeoutMs = 5_000;
const cacheMinMs = 5 * minuteMs;
const cacheMaxMs = 24 * 60 * minuteMs;
/** Cache time of a failed fetch. */
const failedForMs = minuteMs;
const documentsMax = 1_000;
/** Maximum number of concurrent fetches. A client address can use a quarter of them. */
const fetchesAtOnceMax = 16;
/**
 * Maximum number of fetches per minute and host, so that callers cannot attack a host through this server. A
 * client address can use a quarter of them.
 */
const fetchesOfHostMax = 30;
/**
 * Far above the number of hosts that can be fetched from in a minute, so that no counter is evicted too
 * early.
 */
const hostsMax = 100_000;

interface CachedClient {
  readonly client: OAuthClient | ClientRefused;
  readonly untilMs: number;
}

export interface Documents {
  /**
   * @param peer client address that the fetch counts against
   * @returns null for an id that is not a document URL
   * @throws ClientRefused for a document that cannot be fetched or is invalid
   */
  find(clientId: string, peer?: string): Promise<OAuthClient | null>;
}

export function createDocuments({
  egress,
  nowMs,
}: {
  egress: RequestSender;
  nowMs: () => number;
}): Documents {
  const known = new LRUCache<string, CachedClient>({ max: documentsMax });
  // Separate caches, so that failed fetches do not evict documents.
  const failed = new LRUCache<string, CachedClient>({ max: documentsMax });
  const slots = new FairQuota(fetchesAtOnceMax);
  const fetching = new Map<string, Promise<OAuthClient>>();
  const hostBuckets = new RecentMap<{ readonly slots: FairQuota; readonly untilMs: number }>({
    ageMs: minuteMs,
    max: hostsMax,
  });

  const fresh = (one: CachedClient | undefined): CachedClient['client'] | null =>
    one && nowMs() < one.untilMs ? one.client : null;

  /**
   * Counts a fetch against the limits.
   * @returns a function that releases the fetch slot
   * @throws ClientRefused if a limit is reached
   */
  const takeSlot = (host: string, peer: string): (() => void) => {
    const now = nowMs();
    const open = hostBuckets.get(host, now);
    const bucket =
      open && now < open.untilMs ? open : { slots: new FairQuota(fetchesOfHostMax), untilMs: now + minuteMs };
    const fetcher = strangerOf(peer);
    if (!slots.hasCapacityFor(fetcher, 1) || !bucket.slots.hasCapacityFor(fetcher, 1))
      throw refused('Too many client metadata documents are being fetched. Try again in a minute.');
    bucket.slots.reserve(fetcher, 1);
    hostBuckets.set(host, bucket, now);
    return slots.reserve(fetcher, 1);
  };

  const fetchClient = async (clientId: string, release: () => void): Promise<OAuthClient> => {
    try {
      const answer = await fetchDocument(egress, clientId);
      const client = clientOf(clientId, answer);
      known.set(clientId, { client, untilMs: nowMs() + cacheMs(answer) });
      return client;
    } catch (error) {
      if (error instanceof ClientRefused)
        failed.set(clientId, { client: error, untilMs: nowMs() + failedForMs });
      throw error;
    } finally {
      release();
      fetching.delete(clientId);
    }
  };

  return {
    async find(clientId, peer = '') {
      if (!isDocumentId(clientId)) return null;
      const hit = fresh(known.get(clientId)) ?? fresh(failed.get(clientId));
      if (hit instanceof ClientRefused) throw hit;
      if (hit) return hit;
      const underWay = fetching.get(clientId);
      if (underWay) return underWay;
      const fetched = fetchClient(clientId, takeSlot(new URL(clientId).host, peer));
      fetching.set(clientId, fetched);
      return fetched;
    },
  };
}

/** Returns true for an https URL without user or fragment, in the normal form that all parsers read alike. */
export function isDocumentId(clientId: string): boolean {
  if (clientId.length > idLengthMax || !clientId.startsWith('https://')) return false;
  const url = URL.parse(clientId);
  return (
    url !== null && url.href === clientId && url.username === '' && url.password === '' && url.hash === ''
  );
}

/** @throws ClientRefused */
async function fetchDocument(egress: RequestSender, url: string): Promise<EgressResponse> {
  try {
    return await egress.send({
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      connectTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
      responseBytesMax: documentBytesMax,
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw refused(`The client metadata document could not be fetched. ${error.message}`, error);
  }
}

/** @throws ClientRefused */
function clientOf(id: string, { status, headers, body, truncated }: EgressResponse): OAuthClient {
  if (status !== 200)
    throw refused(`The client metadata URL returned status ${status}. Return 200 without a redirect.`);
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    throw refused('The client metadata document is not JSON. Send it as application/json.');
  if (truncated)
    throw refused(
      `The client metadata document is larger than ${documentBytesMax} bytes. Shorten the document.`,
    );
  const metadata = parse(body);
  if (metadata.client_id !== id)
    throw refused('The client_id in the client metadata document differs from its URL. Make them equal.');
  if ('client_secret' in metadata || 'client_secret_expires_at' in metadata)
    throw refused('The client metadata document contains a client_secret, but is public. Remove the secret.');
  const said = readMetadata(metadata, { methods: ['none'], nameElse: new URL(id).host });
  return { id, kind: 'document', ...said, registeredIn: null };
}

/** @throws ClientRefused */
function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw refused('The client metadata document is not valid JSON. Correct its syntax.', cause);
  }
  throw refused('The client metadata document must be a JSON object.');
}

/**
 * Returns the cache time from `Cache-Control: max-age` (RFC 9111 §5.2.2), limited to `cacheMinMs` and
 * `cacheMaxMs`.
 */
function cacheMs({ headers }: EgressResponse): number {
  const seconds = /(?:^|[,\s])max-age=(\d{1,9})/i.exec(headers['cache-control'] ?? '')?.[1];
  return Math.max(cacheMinMs, Math.min(cacheMaxMs, Number(seconds ?? 0) * 1000));
}

function refused(message: string, cause?: unknown): ClientRefused {
  return new ClientRefused('invalid_client_metadata', message, cause);
}
