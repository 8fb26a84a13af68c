// Registry of open event streams by workspace. Limits their number and shares one hub per workspace.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { mayConnect, tooManyConnections, type FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { LoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import type { EventType } from '../catalogue.ts';
import type { EventEnvelope } from '../event.ts';
import type { FreshEvents } from '../consumers/fresh.ts';
import { lastSequence } from '../log/log.ts';
import { createHub, type Hub } from './hub.ts';
import { EventStream, type StreamReader } from './stream.ts';

export interface Streams {
  /**
   * Opens a stream after a sequence; null starts it with new events.
   * @throws ApiError rate_limited if too many streams are open
   */
  open(scope: Scope, after: number | null, reader: StreamReader): Promise<ReadableStream<Uint8Array>>;
  /** Returns the number of streams that would receive a sample. */
  listeners(workspaceId: string, type: EventType): number;
  broadcast(workspaceId: string, sample: EventEnvelope): void;
  /** Rechecks the access of every stream after a permission was revoked; streams without access end. */
  askAgain(): void;
  /** Ends all streams. */
  stop(): void;
}

interface StreamGroup {
  readonly hub: Promise<Hub>;
  readonly streams: Set<EventStream>;
}

interface StreamsOptions {
  readonly store: Store;
  /** Log generation. */
  readonly generation: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly fairQueue: LoopQueue;
  readonly fresh: FreshEvents;
  /** Counts the bytes of pieces that no socket has accepted yet. */
  readonly unsent: FairQuota;
}

export function createStreams(options: StreamsOptions): Streams {
  const { store } = options;
  /** By workspace; only workspaces with an open stream. */
  const groups = new Map<string, StreamGroup>();
  let stopped = false;

  const groupOf = ({ workspaceId }: Scope): StreamGroup => {
    const known = groups.get(workspaceId);
    if (known) return known;
    const group: StreamGroup = { hub: openHub(options, workspaceId), streams: new Set() };
    groups.set(workspaceId, group);
    return group;
  };

  options.fresh.onAdded((workspaceId) => {
    // A hub that failed to open is reported to the caller of `open`.
    groups.get(workspaceId)?.hub.then(
      (hub) => hub.wake(),
      () => undefined,
    );
  });

  return {
    async open(scope, after, reader) {
      if (stopped) throw new ApiError('unavailable', 'The server is shutting down. Reconnect.');
      const group = groupOf(scope);
      if (!mayConnect(readersOf(group), reader)) throw tooManyConnections('streams');
      const onEnd = (stream: EventStream): void => {
        group.streams.delete(stream);
        if (group.streams.size === 0) groups.delete(scope.workspaceId);
      };
      const stream = new EventStream(reader, { ...options, scope, onEnd });
      group.streams.add(stream);
      try {
        const hub = await group.hub;
        const end = await lastSequence(store, scope);
        // Events committed between the hub's start and this read are picked up here.
        hub.wake();
        return stream.readFrom(hub, Math.min(after ?? end, end));
      } catch (error) {
        stream.end();
        throw error;
      }
    },
    listeners: (workspaceId, type) =>
      [...(groups.get(workspaceId)?.streams ?? [])].filter((stream) => stream.matchesSample(type)).length,
    broadcast(workspaceId, sample) {
      for (const stream of groups.get(workspaceId)?.streams ?? []) stream.offer(sample);
    },
    askAgain() {
      for (const { streams } of groups.values()) for (const stream of streams) stream.ask();
    },
    stop() {
      stopped = true;
      for (const { streams } of groups.values()) for (const stream of [...streams]) stream.end();
    },
  };
}

async function openHub(options: StreamsOptions, workspaceId: string): Promise<Hub> {
  const { store, log } = options;
  const end = await lastSequence(store, scopeOf(workspaceId));
  const onError = (error: unknown): void =>
    log('error', 'event stream read failed', { workspaceId, error: errorForLog(error) });
  return createHub({ ...options, workspaceId, end, onError });
}

function* readersOf({ streams }: StreamGroup): Iterable<StreamReader> {
  for (const { reader } of streams) yield reader;
}
