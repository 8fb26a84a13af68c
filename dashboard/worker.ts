// Shared worker with the event stream of a workspace, so that any number of tabs needs one connection. HTTP/1.1 allows
// a browser six connections to a server.
import { readFeed, type FeedMessage } from './data/feed-reader.ts';
import type { SessionSource } from './data/session.ts';

interface SharedWorkerScope {
  onconnect: ((event: { readonly ports: readonly MessagePort[] }) => void) | null;
}

const ports = new Set<MessagePort>();
let last: FeedMessage | null = null;
let reading: Promise<void> | null = null;

function publish(message: FeedMessage): void {
  if (message.kind !== 'event') last = message;
  for (const port of ports) port.postMessage(message);
}

function start(source: SessionSource): void {
  const { signal } = new AbortController();
  reading ??= readFeed({ source, after: null, signal, publish }).finally(() => (reading = null));
}

(globalThis as unknown as SharedWorkerScope).onconnect = ({ ports: [port] }) => {
  port!.onmessage = ({ data }: MessageEvent<SessionSource | 'closed'>) => {
    if (data === 'closed') return void ports.delete(port!);
    ports.add(port!);
    // The session may have ended and begun again in another tab.
    if (reading && last) port!.postMessage(last);
    start(data);
  };
};
