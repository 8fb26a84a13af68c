// `tatami webhooks listen`: forwards events to an address of this machine as they happen, signed as real deliveries are. It dials
// out to the server's stream, so it needs no tunnel and leaves nothing behind; any number of them run side by side.
import { resolve } from 'node:path';
import { printable, quoted } from '../../../platform/lib/text/printable.ts';
import { streamEvents, type StreamedEvent } from '../../../../sdk/client/stream.ts';
import type { EventEnvelope } from '../../../kernel/events/event.ts';
import { payloadOfEvent } from '../../../features/webhooks/offline.ts';
import { wholeNumber } from '../lib/flags.ts';
import { exitCodes, printResult, say } from '../lib/output.ts';
import { connect, remoteOf } from '../lib/remote.ts';
import { outcome } from '../operations/views/deliveries.ts';
import {
  createForwarder,
  type Forwarded,
  checkSecret,
  localSecret,
  writeEnv,
  type SecretOptions,
} from './local.ts';

/** What is printed of a forwarded event; a sample has no sequence. */
type ForwardedOutput = Omit<Forwarded, 'worked'> & { sequence: number | null };

export interface ListenOptions extends SecretOptions {
  forwardTo: string;
  events: string;
  after?: string;
  writeEnv?: string;
}

/** @param folder where the path of `--write-env` begins */
export async function listen(options: ListenOptions, folder: string): Promise<void> {
  checkSecret(options);
  const after =
    options.after === undefined
      ? undefined
      : wholeNumber('--after', options.after, 0, Number.MAX_SAFE_INTEGER);
  const stopped = stopSignal();
  const secret = await localSecret(connect(options), options);
  const forwarder = await createForwarder('--forward-to', options.forwardTo, secret);
  if (options.writeEnv !== undefined) writeEnv(resolve(folder, options.writeEnv), secret);
  const { server, token } = remoteOf(options);
  const counts = { forwarded: 0, failed: 0 };
  let readUpTo: number | null = null;
  let isReady = false;

  const ready = (): void => {
    if (isReady) return say('Reconnected; no events were missed.');
    isReady = true;
    const shown = { ready: true, forwardTo: options.forwardTo, secret };
    printResult(shown, options, () => readyLine(options, secret));
  };

  const stream = streamEvents({
    server,
    token,
    types: patterns(options.events),
    ...(after === undefined ? {} : { after }),
    samples: true,
    signal: stopped,
    onOpen: ready,
    onHistoryChanged: ({ after }) =>
      say(
        `The server was restored to an earlier state: events after ${after} have changed. Discard what your program stored from those events.`,
      ),
    onWait: (waitMs, { message }) =>
      say(`${printable(message)} Reconnecting in ${Math.max(1, Math.round(waitMs / 1000))} s.`),
  });
  for await (const event of stream) {
    const forwarded = await forwarder.forward(messageOf(event, server), stopped);
    if (forwarded === null) break;
    const { worked, ...result } = forwarded;
    counts.forwarded++;
    if (!worked) counts.failed++;
    readUpTo = event.sequence ?? readUpTo;
    printResult({ ...result, sequence: event.sequence }, options, (shown) => line(shown, worked, options));
  }
  forwarder.close();
  say(
    `Stopped: ${counts.forwarded} forwarded, ${counts.failed} of them failed.${readUpTo === null ? '' : ` Continue with --after ${readUpTo}.`}`,
  );
}

/** The first Ctrl-C or SIGTERM ends the command in its own time. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => {
    process.exitCode = exitCodes.interrupted;
    stop.abort();
  });
  process.once('SIGTERM', () => stop.abort());
  return stop.signal;
}

function messageOf({ type, payload }: StreamedEvent, server: string) {
  const event = JSON.parse(payload) as EventEnvelope;
  return { eventId: event.id, type, payload: payloadOfEvent(event, server) };
}

function readyLine(options: ListenOptions, secret: string): string {
  const kept =
    options.secret !== undefined
      ? 'as given'
      : options.writeEnv === undefined
        ? 'the same at every start; save it with --write-env .env.local'
        : `the same at every start; saved in ${options.writeEnv}`;
  return `Ready. Signing secret ${secret} (${kept})`;
}

/** `14:02:11  issue.created  evt_…  → 200  31 ms`, and after a failure the command that repeats it. */
function line(shown: ForwardedOutput, worked: boolean, options: ListenOptions): string {
  const time = new Date(shown.at).toTimeString().slice(0, 8);
  const again = worked ? '' : `   ${repeatCommand(shown, options)}`;
  return `${time}  ${shown.eventType}  ${shown.eventId}  ${outcome(shown)}${again}`;
}

function repeatCommand(
  { eventId, eventType, url, sequence }: ForwardedOutput,
  options: ListenOptions,
): string {
  const words =
    sequence === null
      ? ['trigger', eventType]
      : [
          'forward',
          eventId,
          '--to',
          url,
          ...(options.secret === undefined ? [] : ['--secret', options.secret]),
        ];
  const server = options.server === undefined ? [] : ['--server', options.server];
  return ['tatami', 'webhooks', ...words, ...server].map(quoted).join(' ');
}

/** `issue.*,comment.added`. */
function patterns(text: string): string[] {
  return text
    .split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
}
