// Connects a tab to the event stream that all tabs of the browser share.
import { readFeed, type FeedMessage, type FeedPosition } from './feed-reader.ts';
import type { SessionSource } from './session.ts';

type Receive = (message: FeedMessage) => void;

/** @returns a function that disconnects the tab */
export function connectFeed(source: SessionSource, workspace: string, receive: Receive): () => void {
  return typeof SharedWorker === 'undefined'
    ? connectByLeader(source, workspace, receive)
    : connectByWorker(source, workspace, receive);
}

function connectByWorker(source: SessionSource, workspace: string, receive: Receive): () => void {
  const url = document.querySelector<HTMLMetaElement>('meta[name=worker]')!.content;
  // The form token differs between sessions, so that a worker never serves another person.
  const name = `${workspace} ${source.formToken.slice(0, 16)}`;
  const { port } = new SharedWorker(url, { type: 'module', name });
  port.onmessage = ({ data }: MessageEvent<FeedMessage>) => receive(data);
  port.postMessage(source);
  const leave = (): void => port.postMessage('closed');
  // A page in the back-forward cache is suspended, and must load again to miss nothing.
  addEventListener('pagehide', leave);
  const reload = ({ persisted }: PageTransitionEvent): void => void (persisted && location.reload());
  addEventListener('pageshow', reload);
  return () => {
    removeEventListener('pagehide', leave);
    removeEventListener('pageshow', reload);
    leave();
  };
}

/** One tab holds a lock and reads the stream for all. The lock passes on when it closes. */
function connectByLeader(source: SessionSource, workspace: string, receive: Receive): () => void {
  const name = `tatami ${workspace} ${source.formToken.slice(0, 16)}`;
  const channel = new BroadcastChannel(name);
  const ended = new AbortController();
  let position: FeedPosition | null = null;
  let last: FeedMessage | null = null;
  const take = (message: FeedMessage): void => {
    if (message.kind === 'event') position = message.position ?? position;
    else last = message;
    receive(message);
  };
  channel.onmessage = ({ data }: MessageEvent<FeedMessage | 'joined'>) => {
    if (data !== 'joined') take(data);
    else if (isLeader && last) channel.postMessage(last);
  };
  let isLeader = false;
  const publish = (message: FeedMessage): void => {
    channel.postMessage(message);
    take(message);
  };
  channel.postMessage('joined');
  navigator.locks
    .request(name, { signal: ended.signal }, async () => {
      isLeader = true;
      await readFeed({ source, after: position, signal: ended.signal, publish });
    })
    .catch(() => undefined);
  return () => {
    ended.abort();
    channel.close();
  };
}
