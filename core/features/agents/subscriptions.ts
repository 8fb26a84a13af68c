// Streams that notify an agent of changes to subscribed resources. Notifications are checked against the
// current rights of the agent. A slow reader costs only the memory of a set of changed URIs.
import type { Committer } from '../../kernel/changes/commit.ts';
import { renderData, type EventRow } from '../../kernel/events/event.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { ExemptConnection } from '../../kernel/http/response/outflow.ts';
import { memberOf, type Principal } from '../../kernel/http/principal.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { deciding } from '../people/index.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { mayConnect, tooManyConnections } from '../../platform/lib/fairness/fair-quota.ts';
import { mayReadEvent } from '../../kernel/rights/rights.ts';
import { behind } from './resources.ts';

const urisMax = 100;
const eventsMax = 1_000;
const heartbeatMs = 15_000;
/** Maximum number of heartbeats without a read; one more disconnects the reader. */
const stuckBeats = 2;

interface Reader {
  readonly principal: Principal;
  /** Returns the current principal of the token; null after its revocation. */
  identify(): Promise<Principal | null>;
  holdOpen(): ExemptConnection;
}

/** Event bus with the interface of the SDK. */
interface Bus {
  publish(): void;
  subscribe(listener: (event: { kind: 'resource_updated'; uri: string }) => void): () => void;
}

export interface McpSubscription {
  readonly bus: Bus;
  /** Aborted when the subscription ends. */
  readonly signal: AbortSignal;
  /** Wraps the response stream of the SDK. */
  body(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>;
  end(): void;
}

export interface McpSubscriptions {
  /** @throws ApiError rate_limited for too many open subscriptions; validation_failed */
  open(reader: Reader, uris: readonly string[]): McpSubscription;
  stop(): void;
}

interface WatchedResource {
  readonly uri: string;
  /** Content of the resource: one object, by its id or identifier, or a list of issues. */
  readonly of: { readonly kind: 'issue' | 'project' | 'board'; readonly name: string } | 'issues';
}

const objectTypes = { 'issues.get': 'issue', 'projects.get': 'project', 'boards.cards': 'board' } as const;

/** @returns null for an unknown URI */
function watched(uri: string): WatchedResource | null {
  const request = behind(uri);
  if (!request) return null;
  if (request.operation === 'issues.list') return { uri, of: 'issues' };
  const kind = objectTypes[request.operation as keyof typeof objectTypes];
  return { uri, of: { kind, name: request.params?.id ?? '' } };
}

function isTouched({ of }: WatchedResource, event: EventRow): boolean {
  const { entityType, entityId } = event;
  if (of === 'issues') return entityType === 'issue';
  // The cards of a board derive from issues, so every issue event can change the board.
  if (of.kind === 'board' && entityType === 'issue') return true;
  if (of.kind !== entityType) return false;
  if (of.name === entityId) return true;
  const { identifier } = renderData(event) as { identifier?: string | null };
  return of.kind === 'issue' && identifier === of.name.toUpperCase();
}

export function createSubscriptions(options: {
  fresh: FreshEvents;
  clock: Clock;
  committer: Committer;
}): McpSubscriptions {
  const { fresh, clock, committer } = options;
  const open = new Set<Stream>();
  fresh.onAdded((workspaceId) => {
    for (const stream of open) if (stream.workspaceId === workspaceId) stream.look();
  });
  committer.onCommit((workspaceId, changes) => {
    if (!changes.some(({ kind }) => deciding.has(kind))) return;
    for (const stream of open) if (stream.workspaceId === workspaceId) stream.look();
  });
  return {
    open(reader, uris) {
      const { tokenId, scope } = reader.principal;
      const there = [...open].filter(({ workspaceId }) => workspaceId === scope.workspaceId);
      if (!mayConnect(there, { tokenId, memberId: memberOf(reader.principal) }))
        throw tooManyConnections('subscriptions');
      if (uris.length > urisMax)
        throw new ApiError(
          'validation_failed',
          `A subscription can contain at most ${urisMax} resources. Use several subscriptions.`,
        );
      const stream = new Stream(
        reader,
        uris.flatMap((uri) => watched(uri) ?? []),
        {
          fresh,
          clock,
          onEnd: () => void open.delete(stream),
        },
      );
      open.add(stream);
      return stream;
    },
    stop() {
      for (const stream of [...open]) stream.end();
    },
  };
}

interface Setting {
  readonly fresh: FreshEvents;
  readonly clock: Clock;
  onEnd(): void;
}

const heartbeat = new TextEncoder().encode(': still here\n\n');

class Stream implements McpSubscription {
  readonly workspaceId: string;
  readonly tokenId: string;
  readonly memberId: string;
  readonly bus: Bus;
  readonly #ended = new AbortController();
  readonly #reader: Reader;
  readonly #watched: readonly WatchedResource[];
  readonly #setting: Setting;
  /** Changed URIs that were not sent yet. */
  readonly #changed = new Set<string>();
  #position: number;
  #tell: ((event: { kind: 'resource_updated'; uri: string }) => void) | null = null;
  /** True if the socket has accepted all data. */
  #isTaking = false;
  #silentBeats = 0;
  #looking: Promise<void> = Promise.resolve();
  #cancelBeat = (): void => undefined;
  #beatOut = (): void => undefined;
  #hangUp = (): void => undefined;

  constructor(reader: Reader, watched: readonly WatchedResource[], setting: Setting) {
    const { scope, tokenId } = reader.principal;
    this.workspaceId = scope.workspaceId;
    this.tokenId = tokenId;
    this.memberId = memberOf(reader.principal);
    this.#reader = reader;
    this.#watched = watched;
    this.#setting = setting;
    this.#position = setting.fresh.newest(this.workspaceId);
    this.bus = {
      publish: () => undefined,
      subscribe: (listener) => {
        this.#tell = listener;
        return () => void (this.#tell = null);
      },
    };
    this.#beat();
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Checks for new events and changed rights. */
  look(): void {
    this.#looking = this.#looking.then(() => this.#look()).catch(() => this.end());
  }

  async #look(): Promise<void> {
    if (this.signal.aborted) return;
    const principal = await this.#reader.identify();
    if (!principal) return this.end();
    const { fresh } = this.#setting;
    const newest = fresh.newest(this.workspaceId);
    if (newest > this.#position)
      this.#note(principal, fresh.after(this.workspaceId, this.#position, eventsMax));
    this.#position = Math.max(this.#position, newest);
    this.#flush();
  }

  /** @param events null if the events are no longer in memory; every resource then counts as changed */
  #note(principal: Principal, events: ReturnType<FreshEvents['after']>): void {
    for (const one of this.#watched) {
      const isChanged =
        events === null ||
        events.some(
          (event) =>
            isTouched(one, event) && mayReadEvent(principal, { type: event.type, data: renderData(event) }),
        );
      if (isChanged) this.#changed.add(one.uri);
    }
  }

  #flush(): void {
    if (!this.#isTaking || !this.#tell) return;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const uri of changed) this.#tell({ kind: 'resource_updated', uri });
  }

  body(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const source = stream.getReader();
    const connection = this.#reader.holdOpen();
    this.#hangUp = connection.hangUp;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#beatOut = () => controller.enqueue(heartbeat);
        },
        pull: async (controller) => {
          this.#silentBeats = 0;
          this.#isTaking = true;
          this.#flush();
          const { done, value } = await source.read();
          this.#isTaking = false;
          if (!done) return controller.enqueue(value);
          this.end();
          controller.close();
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    );
  }

  #beat(): void {
    this.#cancelBeat = this.#setting.clock.after(heartbeatMs, () => {
      this.look();
      if (this.#isTaking) this.#beatOut();
      else if (++this.#silentBeats > stuckBeats) return this.end();
      this.#beat();
    });
  }

  end(): void {
    if (this.signal.aborted) return;
    this.#cancelBeat();
    this.#setting.onEnd();
    this.#ended.abort();
    this.#hangUp();
  }
}
