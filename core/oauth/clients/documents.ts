// Clients whose id is the https address of a document in which they say who they are (draft-ietf-oauth-client-id-metadata-document).
// Anybody can have such an address fetched, signed in or not: it is fetched through the egress door, from public addresses alone
// whatever the operator opened for webhooks, one request for each document at a time, and no more often than bounds allow.
import { LRUCache } from 'lru-cache';
import type { Egress, EgressResponse } from '../../lib/egress/egress.ts';
import { EgressError } from '../../lib/egress/error.ts';
import { RecentMap } from '../../lib/fairness/recent-map.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import { strangerOf } from '../../lib/payer.ts';
import { minuteMs } from '../../lib/time.ts';
import { ClientRefused, type OAuthClient } from './client.ts';
import { readMetadata } from './metadata.ts';

const idLengthMax = 1_000;
/** The draft's own advice. */
const documentBytesMax = 5 * 1024;
const timeoutMs = 5_000;
const keptMinMs = 5 * minuteMs;
const keptMaxMs = 24 * 60 * minuteMs;
/** A document that could not be had is not asked for again so soon; its error is answered meanwhile. */
const failedForMs = minuteMs;
const documentsMax = 1_000;
/** One address has a quarter of them at most, and one that has none finds a free one. */
const fetchesAtOnceMax = 16;
/** In a minute, of one host, so that callers cannot make this server a load for it. One address has a quarter of them at most. */
const fetchesOfHostMax = 30;
/** Many more hosts than can be asked in a minute, so no host is forgotten within its minute. */
const hostsMax = 100_000;

interface Known {
  readonly client: OAuthClient | ClientRefused;
  readonly untilMs: number;
}

export interface Documents {
  /**
   * @param peer for whom it is fetched, where it is not known yet
   * @returns null for an id that is no such address
   * @throws ClientRefused where the document cannot be had, or says what no client may
   */
  find(clientId: string, peer?: string): Promise<OAuthClient | null>;
}

export function createDocuments({
  egress,
  nowMs,
}: {
  egress: Pick<Egress, 'send'>;
  nowMs: () => number;
}): Documents {
  const known = new LRUCache<string, Known>({ max: documentsMax });
  // Separate, so that ids without a document evict no document.
  const failed = new LRUCache<string, Known>({ max: documentsMax });
  const places = new Shares(fetchesAtOnceMax);
  const fetching = new Map<string, Promise<OAuthClient>>();
  const asked = new RecentMap<{ readonly places: Shares; readonly untilMs: number }>({
    ageMs: minuteMs,
    max: hostsMax,
  });

  const fresh = (one: Known | undefined): Known['client'] | null =>
    one && nowMs() < one.untilMs ? one.client : null;

  /** @returns what gives the place back */
  const takePlace = (host: string, peer: string): (() => void) => {
    const now = nowMs();
    const open = asked.get(host, now);
    const bucket =
      open && now < open.untilMs ? open : { places: new Shares(fetchesOfHostMax), untilMs: now + minuteMs };
    const fetcher = strangerOf(peer);
    if (!places.hasRoomFor(fetcher, 1) || !bucket.places.hasRoomFor(fetcher, 1))
      throw refused('Too many documents of clients are being fetched. Try again in a minute.');
    bucket.places.hold(fetcher, 1);
    asked.set(host, bucket, now);
    return places.hold(fetcher, 1);
  };

  const fetchClient = async (clientId: string, release: () => void): Promise<OAuthClient> => {
    try {
      const answer = await fetchDocument(egress, clientId);
      const client = clientOf(clientId, answer);
      known.set(clientId, { client, untilMs: nowMs() + keptMs(answer) });
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
      const fetched = fetchClient(clientId, takePlace(new URL(clientId).host, peer));
      fetching.set(clientId, fetched);
      return fetched;
    },
  };
}

/** Written in the one way that every parser reads alike, without a user or a fragment. */
export function isDocumentId(clientId: string): boolean {
  if (clientId.length > idLengthMax || !clientId.startsWith('https://')) return false;
  const url = URL.parse(clientId);
  return (
    url !== null && url.href === clientId && url.username === '' && url.password === '' && url.hash === ''
  );
}

/** @throws ClientRefused */
async function fetchDocument(egress: Pick<Egress, 'send'>, url: string): Promise<EgressResponse> {
  try {
    return await egress.send({
      ...{ url, method: 'GET', headers: { accept: 'application/json' } },
      ...{ connectTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs, responseBytesMax: documentBytesMax },
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw refused(`The document at the client's address cannot be fetched. ${error.message}`, error);
  }
}

/** @throws ClientRefused */
function clientOf(id: string, { status, headers, body, truncated }: EgressResponse): OAuthClient {
  if (status !== 200)
    throw refused(`The client's address answers ${status}: answer 200 there, without a redirect.`);
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    throw refused("The client's address answers no JSON: send its document as application/json.");
  if (truncated) throw refused(`The client's document is longer than ${documentBytesMax} bytes.`);
  const given = parse(body);
  if (given.client_id !== id)
    throw refused('The client_id in the document is not the address of the document: make them equal.');
  if ('client_secret' in given || 'client_secret_expires_at' in given)
    throw refused('The document holds a client_secret: anybody can read it there. Leave it out.');
  const said = readMetadata(given, { methods: ['none'], nameElse: new URL(id).host });
  return { id, kind: 'document', ...said, registeredIn: null };
}

/** @throws ClientRefused */
function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw refused("The client's document is no JSON.", cause);
  }
  throw refused("The client's document is no JSON object.");
}

/** As its `Cache-Control` says, within our bounds (RFC 9111 §5.2.2). */
function keptMs({ headers }: EgressResponse): number {
  const seconds = /(?:^|[,\s])max-age=(\d{1,9})/i.exec(headers['cache-control'] ?? '')?.[1];
  return Math.max(keptMinMs, Math.min(keptMaxMs, Number(seconds ?? 0) * 1000));
}

function refused(message: string, cause?: unknown): ClientRefused {
  return new ClientRefused('invalid_client_metadata', message, cause);
}
