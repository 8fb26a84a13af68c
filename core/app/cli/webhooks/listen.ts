// `tatami webhooks listen`: forwards events to an address of this machine as they happen, signed as real deliveries are. It dials
// out to the server's stream, so it needs no tunnel and leaves nothing behind; any number of them run side by side.
import { resolve } from 'node:path';
import { quoted } from '../../../platform/lib/text/printable.ts';
import type { Call } from '../../../../sdk/client/call.ts';
import { streamEvents, type StreamedEvent } from '../../../../sdk/client/stream.ts';
import type { EventEnvelope } from '../../../kernel/events/event.ts';
import { payloadOfEvent } from '../../../features/webhooks/offline.ts';
import { commaSeparated, usage, wholeNumber } from '../lib/flags.ts';
import { stopSignal } from '../lib/interrupts.ts';
import { CommandError, exitCodes, printResult, say } from '../lib/output.ts';
import { connect, remoteOf, tellReconnect } from '../lib/remote.ts';
import { getDelivery, outcome } from '../operations/views/deliveries.ts';
import {
  createForwarder,
  type Forwarded,
  checkSecret,
  localSecret,
  writeEnv,
  type LocalMessage,
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
    types: commaSeparated(options.events),
    ...(after === undefined ? {} : { after }),
    samples: true,
    signal: stopped,
    onOpen: ready,
    onHistoryChanged: ({ after }) =>
      say(
        `The server was restored to an earlier state: events after ${after} have changed. Discard what your program stored from those events.`,
      ),
    onWait: tellReconnect,
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

function messageOf({ payload }: StreamedEvent, server: string): LocalMessage {
  return sentMessageOf(JSON.parse(payload) as EventEnvelope, server);
}

const sentMessageOf = (event: EventEnvelope, server: string): LocalMessage => ({
  eventId: event.id,
  type: event.type,
  payload: payloadOfEvent(event, server),
});

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

export interface ForwardOptions extends SecretOptions {
  to: string;
}

/** `tatami webhooks forward DELIVERY|EVENT --to URL`: sends one event, as `listen` does. */
export async function forward(what: string, options: ForwardOptions): Promise<void> {
  if (!/^(dlv|evt)_/.test(what)) throw usage(`Pass a delivery (dlv_…) or an event (evt_…), not "${what}".`);
  checkSecret(options);
  const call = connect(options);
  const forwarder = await createForwarder('--to', options.to, await localSecret(call, options));
  const forwarded = await forwarder.forward(await pastMessageOf(call, what, remoteOf(options).server));
  forwarder.close();
  if (forwarded === null) throw new CommandError('Interrupted.', exitCodes.interrupted);
  const { worked, ...result } = forwarded;
  printResult(
    result,
    options,
    (shown) => `replayed as ${shown.deliveryId} (same ${shown.eventId}, new signature) ${outcome(shown)}`,
  );
  if (!worked) process.exitCode = exitCodes.failed;
}

/** Returns the message of a past event. */
async function pastMessageOf(call: Call, what: string, server: string): Promise<LocalMessage> {
  if (what.startsWith('dlv_')) {
    const { eventId, eventType, payload } = await getDelivery(call, what);
    return { eventId, type: eventType, payload };
  }
  const event = await call<EventEnvelope>('GET', `/events/${encodeURIComponent(what)}`);
  return sentMessageOf(event, server);
}
