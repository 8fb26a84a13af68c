// Reads the event stream for all tabs of a browser. A shared worker runs it, or the leading tab where the browser has
// no shared workers.
import { ApiCallError, streamEvents, type TatamiEvent } from '@tatami/sdk/client';
import { SessionTokens, type SessionSource } from './session.ts';

export interface FeedPosition {
  readonly sequence: number;
  readonly generation: string | null;
}

export type FeedMessage =
  /** `sequence` is null for a sample, which is not in the log. */
  | { readonly kind: 'event'; readonly event: TatamiEvent; readonly position: FeedPosition | null }
  /** From here on, every event arrives. */
  | { readonly kind: 'live' }
  | { readonly kind: 'offline' }
  /** The log is another one than before, because the server was restored from a backup. */
  | { readonly kind: 'reset' }
  /** The session has ended, or no longer includes the workspace. */
  | { readonly kind: 'ended' };

interface FeedOptions {
  readonly source: SessionSource;
  /** Position after which to start; null for new events only. */
  readonly after: FeedPosition | null;
  readonly signal: AbortSignal;
  publish(message: FeedMessage): void;
}

/** Reads until the session ends or the signal aborts. Never rejects. */
export async function readFeed({ source, after, signal, publish }: FeedOptions): Promise<void> {
  const tokens = new SessionTokens(source);
  let position = after;
  let used: string | undefined;
  let rejected: string | undefined;
  const token = async (): Promise<string> => (used = await tokens.token(rejected));
  while (!signal.aborted) {
    try {
      for await (const { sequence, generation, event } of streamEvents({
        server: location.origin,
        token,
        signal,
        ...(position && { after: position.sequence, generation: position.generation ?? undefined }),
        onOpen: () => publish({ kind: 'live' }),
        onWait: () => publish({ kind: 'offline' }),
        onHistoryChanged: () => publish({ kind: 'reset' }),
      })) {
        const at = sequence === null ? null : { sequence, generation };
        position = at ?? position;
        publish({ kind: 'event', event, position: at });
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isOver(error, used === rejected)) return publish({ kind: 'ended' });
      publish({ kind: 'offline' });
      // A bearer ends with the server process. Another one is requested for the same session.
      rejected = used;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

const pauseMs = 500;

/** @param isRejectedAgain true if no newer bearer was tried since the last failure: the session itself is refused */
function isOver(error: unknown, isRejectedAgain: boolean): boolean {
  if (!(error instanceof ApiCallError)) return false;
  const isRefused = error.status >= 400 && error.status < 500 && error.status !== 429;
  return isRefused && (error.status !== 401 || isRejectedAgain);
}
