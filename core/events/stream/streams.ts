// Server-sent streams of a workspace's events. Each stream is pulled: it renders its next piece when the socket has taken the
// one before, so that a slow reader costs one piece of memory, and the log is the buffer. See docs/decisions/0008.
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import type { Shares } from '../../lib/fairness/shares.ts';
import type { LoopTurns } from '../../lib/fairness/loop-turns.ts';
import type { Scope, Store } from '../../store/store.ts';
import type { EventType } from '../catalogue.ts';
import type { EventEnvelope } from '../event.ts';
import { lastSequence } from '../log.ts';
import { heartbeatFrame, openingFrame, placeFrame, sampleFrame } from './frame.ts';
import { createHub, type Hub, type Piece } from './hub.ts';

const heartbeatMs = 15_000;
/** A socket that takes nothing for this long is closed; its reader goes on where it stopped. */
const stuckMs = 30_000;
/** Room that a piece must have before it is made (bytes); it may turn out larger by one event. */
const pieceBytes = 64 * 1024;
/** Who has too much unsent is asked again after this long. */
const crowdedMs = 250;
/** After so many events that a reader does not get, it is told its place. */
const silentEvents = 1_000;
/** Samples that wait for a reader; more are dropped, as are those of nobody. */
const samplesMax = 20;
const perWorkspaceMax = 100;
const perTokenMax = 20;

/** What a stream needs to know of its reader. */
export interface Reader {
  readonly tokenId: string;
  /** Whether its token is still good. */
  isAdmitted(): Promise<boolean>;
  /** Closes its connection, though it takes nothing. */
  hangUp(): void;
  wants(type: EventType): boolean;
  readonly samples: boolean;
}

export interface Streams {
  /**
   * From the event after a sequence on; null: what happens from now on.
   * @throws ApiError rate_limited when too many are open
   */
  open(scope: Scope, after: number | null, reader: Reader): Promise<ReadableStream<Uint8Array>>;
  /** How many would get a sample. */
  listeners(workspaceId: string, type: EventType): number;
  broadcast(workspaceId: string, sample: EventEnvelope): void;
  /** Ends all of them. */
  stop(): void;
}

interface Open {
  readonly reader: Reader;
  readonly samples: string[];
  /** Looks for something to send. */
  nudge(): void;
  end(): void;
}

interface Room {
  readonly hub: Promise<Hub>;
  readonly streams: Set<Open>;
}

const encoder = new TextEncoder();

export function createStreams(options: {
  store: Store;
  clock: Clock;
  log: Log;
  turns: LoopTurns;
  /** Pieces that no socket has taken yet count here. */
  unsent: Shares;
}): Streams {
  const { store, clock, log, turns, unsent } = options;
  const rooms = new Map<string, Room>();
  let stopped = false;

  const roomOf = (scope: Scope): Room => {
    const known = rooms.get(scope.workspaceId);
    if (known) return known;
    const hub = lastSequence(store, scope).then((end) =>
      createHub({
        store,
        turns,
        workspaceId: scope.workspaceId,
        end,
        onError: (error) =>
          log('error', 'the event stream could not read', {
            workspaceId: scope.workspaceId,
            error: errorForLog(error),
          }),
      }),
    );
    const room: Room = { hub, streams: new Set() };
    rooms.set(scope.workspaceId, room);
    return room;
  };

  const leave = (workspaceId: string, stream: Open): void => {
    const room = rooms.get(workspaceId);
    room?.streams.delete(stream);
    if (room?.streams.size === 0) rooms.delete(workspaceId);
  };

  const requireRoom = ({ streams }: Room, tokenId: string): void => {
    const ofToken = [...streams].filter(({ reader }) => reader.tokenId === tokenId).length;
    if (streams.size < perWorkspaceMax && ofToken < perTokenMax) return;
    throw new ApiError(
      'rate_limited',
      `Too many streams are open: ${perTokenMax} of one token, ${perWorkspaceMax} of one workspace. Close some first.`,
    );
  };

  store.onEvents((workspaceIds) => {
    for (const id of workspaceIds)
      // A hub that could not be made is told to whoever opens a stream.
      rooms.get(id)?.hub.then(
        (hub) => hub.wake(),
        () => undefined,
      );
  });

  return {
    async open(scope, after, reader) {
      if (stopped) throw new ApiError('unavailable', 'The server is stopping. Connect again.');
      const room = roomOf(scope);
      requireRoom(room, reader.tokenId);
      const samples: string[] = [];
      let ended = false;
      let close = (): void => undefined;
      let stopWaiting = (): void => undefined;
      let cancelStuck = (): void => undefined;
      let taken = (): void => undefined;
      const stream: Open = {
        reader,
        samples,
        nudge: () => stopWaiting(),
        end() {
          if (ended) return;
          ended = true;
          leave(scope.workspaceId, stream);
          cancelStuck();
          taken();
          stopWaiting();
          close();
        },
      };
      room.streams.add(stream);
      let hub: Hub;
      let position: number;
      try {
        hub = await room.hub;
        const end = await lastSequence(store, scope);
        position = Math.min(after ?? end, end);
        // What was committed between the hub's own look and this one is read by its next.
        hub.wake();
      } catch (error) {
        stream.end();
        throw error;
      }
      let opened = false;
      let silent = 0;

      const take = ({ frames, through }: Piece): string => {
        silent = frames.length > 0 ? through - frames.at(-1)!.sequence : silent + through - position;
        position = through;
        return frames.map((frame) => frame.text).join('');
      };

      /** Until this reader, and others of its workspace, have taken enough of what they were sent. */
      const untilRoom = async (): Promise<void> => {
        while (!ended && !unsent.hasRoomFor(scope, pieceBytes))
          await new Promise<void>((resolve) => void clock.after(crowdedMs, resolve));
      };

      /** Until more may be there, or the heartbeat is due. @returns whether it is */
      const wait = (): Promise<boolean> =>
        new Promise((resolve) => {
          const done = (isDue: boolean): void => {
            forget();
            cancelHeartbeat();
            stopWaiting = () => undefined;
            resolve(isDue);
          };
          const forget = hub.onMore(() => done(false));
          const cancelHeartbeat = clock.after(heartbeatMs, () => done(true));
          stopWaiting = () => done(false);
          // What came before this was said has been told to nobody.
          if (ended || samples.length > 0 || hub.hasAfter(position)) done(false);
        });

      const next = async (): Promise<string> => {
        if (!opened) {
          opened = true;
          return openingFrame(position);
        }
        for (let isDue = false; !ended;) {
          if (!(await reader.isAdmitted())) break;
          const samplesText = samples.splice(0).join('');
          if (samplesText !== '') return samplesText;
          await untilRoom();
          const piece = await hub.after(scope, position, reader.wants);
          const isEnd = piece.through === position;
          const text = take(piece);
          if (text !== '') return text;
          if (silent >= silentEvents || (isDue && silent > 0)) {
            silent = 0;
            return placeFrame(position);
          }
          if (isDue) return heartbeatFrame;
          if (isEnd && !ended) isDue = await wait();
        }
        stream.end();
        return '';
      };

      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            close = () => {
              try {
                controller.close();
              } catch {
                // Its reader has gone already.
              }
              reader.hangUp();
            };
          },
          async pull(controller) {
            cancelStuck();
            taken();
            try {
              const bytes = encoder.encode(await next());
              if (ended) return;
              taken = unsent.hold(scope, bytes.length);
              controller.enqueue(bytes);
              cancelStuck = clock.after(stuckMs, () => {
                log('info', 'a stream reader was cut off', { workspaceId: scope.workspaceId });
                stream.end();
              });
            } catch (error) {
              log('error', 'an event stream broke off', {
                workspaceId: scope.workspaceId,
                error: errorForLog(error),
              });
              stream.end();
            }
          },
          cancel() {
            close = () => undefined;
            stream.end();
          },
        },
        { highWaterMark: 0 },
      );
    },
    listeners: (workspaceId, type) =>
      [...(rooms.get(workspaceId)?.streams ?? [])].filter(
        ({ reader }) => reader.samples && reader.wants(type),
      ).length,
    broadcast(workspaceId, sample) {
      for (const { reader, samples, nudge } of rooms.get(workspaceId)?.streams ?? [])
        if (reader.samples && reader.wants(sample.type) && samples.length < samplesMax) {
          samples.push(sampleFrame(sample));
          nudge();
        }
    },
    stop() {
      stopped = true;
      for (const { streams } of rooms.values()) for (const stream of [...streams]) stream.end();
    },
  };
}
