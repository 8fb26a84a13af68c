// The continuous copy: archives and sends new commits every few seconds, so that the loss of the disk loses
// only seconds of data. A failure of the copy or its destination never delays a write: it is retried and
// reported, and if the chain of segments breaks, a new chain starts with a base.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../lib/time/clock.ts';
import { errorForLog, type Problems } from '../../lib/errors/failures.ts';
import type { Log } from '../../lib/log.ts';
import type { FileEngine } from '../../store/engine/file-engine.ts';
import { lastHeader, readEnd } from '../../store/wal-archive/segments.ts';
import { createBases, type Bases, prune } from './bases.ts';
import {
  type Destination,
  chainHeadName,
  chainName,
  chainRoot,
  manifestName,
  parseName,
  decodeObject,
  encodeObject,
  type BaseManifest,
} from './destination/destination.ts';
import { createFilesSender, type FilesSender } from './files.ts';
import { createLag, type CopyLag } from './lag.ts';
import { createOutbox, walArchiveBytesMax, type Outbox, DamagedSegmentError } from './destination/outbox.ts';
import { dirname, join } from 'node:path';
import { createKnownFolder } from './inspect.ts';

const pruneEveryMs = 3_600_000;
const retryMs = { first: 1_000, last: 60_000 };

export interface CopierOptions {
  readonly store: FileEngine;
  /** Path of the database file. */
  readonly database: string;
  readonly walArchive: string;
  /** Folder of the event archive. */
  readonly archive: string;
  readonly destination: Destination;
  readonly installation: { readonly name: string; readonly generation: string };
  readonly clock: Clock;
  readonly log: Log;
  readonly problems: Problems;
  readonly version: string;
  readonly everyMs: number;
  /** Retention of the copy: points in time within this period remain restorable. */
  readonly retentionMs: number;
}

interface CopyStatus {
  readonly destination: string;
  /** Age in milliseconds of the oldest commit that cannot be restored from the copy. */
  readonly lagMs: number;
  /** Bytes of archived segments that are not sent yet. */
  readonly waitingBytes: number;
  readonly chain: string | null;
  readonly base: { readonly done: number; readonly of: number } | null;
  readonly lastError: string | null;
}

export interface Copier {
  start(): void;
  status(): CopyStatus;
  /** Archives and sends everything committed so far. */
  round(): Promise<void>;
  /** Sends the remaining segments, for at most `withinMs`. Must be called after the store was closed. */
  finish(withinMs: number): Promise<void>;
}

interface Copying extends CopierOptions {
  readonly outbox: Outbox;
  readonly bases: Bases;
  readonly lag: CopyLag;
  /** Chain that is known to exist in the destination. */
  chain: string | null;
  prunedMs: number | null;
}

/** @param database path of the database; the marker file is in the same folder */
function guarded(destination: Destination, database: string): Destination {
  const { folder } = destination;
  if (folder === null) return destination;
  const known = createKnownFolder(join(dirname(database), 'copied-to'), folder);
  return {
    ...destination,
    async put(name, bytes) {
      await known.check();
      await destination.put(name, bytes);
      known.remember();
    },
    /** Checks the folder, because the list of an unmounted disk is empty, which would start a new chain. */
    async list(prefix) {
      await known.check();
      return destination.list(prefix);
    },
  };
}

export function createCopier(settings: CopierOptions): Copier {
  const options = { ...settings, destination: guarded(settings.destination, settings.database) };
  const { store, walArchive, destination, installation, clock, log, problems, everyMs } = options;
  const lag = createLag({ clock, problems, title: destination.title, everyMs });
  const failed = (error: unknown): void => {
    lag.failed(error instanceof Error ? error.message : String(error));
    log('warn', 'the continuous copy failed; it will be retried', { error: errorForLog(error) });
  };
  const files = createFiles(options);
  const copying: Copying = {
    ...options,
    outbox: createOutbox({ destination, walArchive, installation: installation.name, files }),
    bases: createCopyBases(options, failed),
    lag,
    chain: null,
    prunedMs: null,
  };
  const sending = createSending(copying, failed);
  let cancel: (() => void) | null = null;
  let stopped = false;

  const take = async (): Promise<number> => {
    const takenMs = clock.monotonicMs();
    await store.take('next');
    await giveUpWhatIsTooMuch(copying);
    return takenMs;
  };
  const schedule = (delayMs: number): void => {
    cancel = clock.after(delayMs, () => {
      void take().then(sending.sendIfIdle).catch(failed);
      lag.report(stateOf(copying), files.fault());
      if (!stopped) schedule(everyMs);
    });
  };

  return {
    start: () => schedule(0),
    round: async () => sending.send(await take()),
    status: () => ({
      destination: destination.title,
      lagMs: lag.lagMs(),
      waitingBytes: copying.outbox.waitingBytes(),
      chain: copying.chain,
      base: copying.bases.underWay(),
      lastError: lag.lastError() ?? files.fault(),
    }),
    async finish(withinMs) {
      stopped = true;
      cancel?.();
      const ended = Promise.all([copying.bases.stop(), sending.finish()]).catch(failed);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, withinMs);
      await Promise.race([ended, late]);
      clearTimeout(timer);
      copying.bases.close();
    },
  };
}

function createFiles({ destination, archive, installation, log }: CopierOptions): FilesSender {
  return createFilesSender({
    destination,
    folder: archive,
    installation: installation.name,
    onUnreadable: (name, error) =>
      log('error', 'an event archive file cannot be read, and is not in the continuous copy', {
        name,
        error: errorForLog(error),
      }),
  });
}

function createCopyBases(
  { database, destination, walArchive, clock, log }: CopierOptions,
  onFailed: (error: unknown) => void,
): Bases {
  return createBases({
    database,
    destination,
    walArchive,
    nowMs: clock.nowMs,
    onFailed,
    onDone: ({ chain, bytes }) => log('info', 'a base of the continuous copy was taken', { chain, bytes }),
  });
}

/** Runs one transfer at a time, with increasing delays after failures. */
function createSending(copying: Copying, failed: (error: unknown) => void) {
  const { clock, outbox } = copying;
  let running: Promise<void> | null = null;
  let delayMs = 0;
  let notBeforeMs = 0;

  const attempt = async (takenMs: number): Promise<void> => {
    try {
      await sendAll(copying);
      delayMs = 0;
      if (copying.bases.has()) copying.lag.safeUntil(takenMs);
    } catch (error) {
      delayMs = Math.min(Math.max(delayMs * 2, retryMs.first), retryMs.last);
      notBeforeMs = clock.monotonicMs() + delayMs;
      failed(error);
    }
  };
  const begin = (takenMs: number): Promise<void> =>
    (running = attempt(takenMs).finally(() => void (running = null)));

  return {
    /** Does nothing while a transfer runs, or before the delay after a failure has passed. @param takenMs see `send` */
    sendIfIdle(takenMs: number): void {
      if (!running && clock.monotonicMs() >= notBeforeMs) void begin(takenMs);
    },
    /** @param takenMs time up to which all commits are archived */
    async send(takenMs: number): Promise<void> {
      while (running) await running;
      await begin(takenMs);
    },
    /** Waits for the running transfer, then sends the segments archived since. */
    async finish(): Promise<void> {
      await running;
      await knowChain(copying);
      await outbox.send();
    },
  };
}

async function sendAll(copying: Copying): Promise<void> {
  const { outbox, bases, walArchive, store } = copying;
  await knowChain(copying);
  try {
    bases.sent(await outbox.send());
  } catch (error) {
    if (!(error instanceof DamagedSegmentError)) throw error;
    await store.take({ end: error.message });
    outbox.drop();
  }
  const ended = readEnd(walArchive);
  if (ended !== null || lastHeader(walArchive) === null) await beginChain(copying, ended);
  bases.takeIfDue();
  await pruneIfDue(copying);
}

/** On first use of a chain: checks that the destination has it, and loads its bases. */
async function knowChain(copying: Copying): Promise<void> {
  const { walArchive, destination, installation, store, bases, log } = copying;
  const chain = lastHeader(walArchive)?.chain;
  if (chain === undefined || copying.chain === chain) return;
  const root = chainRoot(installation.name, chain);
  const names = await destination.list(root);
  if (!names.includes(chainHeadName(root))) {
    await store.take({ end: 'the chain is not in the destination' });
    copying.outbox.drop();
    return;
  }
  const numbers = names.flatMap((name) => {
    const parsed = parseName(name);
    return parsed?.is === 'base' ? [parsed] : [];
  });
  const finished = numbers.filter(({ part }) => part === 'manifest').map(({ base }) => base);
  bases.use({
    chain,
    root,
    last: await lastManifest(destination, root, finished),
    next: Math.max(0, ...numbers.map(({ base }) => base)) + 1,
  });
  copying.chain = chain;
  log('info', 'the continuous copy continues its chain', { destination: destination.title, chain });
}

async function lastManifest(
  destination: Destination,
  root: string,
  numbers: readonly number[],
): Promise<BaseManifest | null> {
  if (numbers.length === 0) return null;
  const bytes = await destination.get(manifestName(root, Math.max(...numbers)));
  return (await decodeObject('manifest', bytes)).head;
}

async function beginChain(copying: Copying, ended: string | null): Promise<void> {
  const { destination, installation, clock, store, bases, log, version } = copying;
  const beganMs = clock.nowMs();
  const chain = chainName(beganMs, installation.generation, randomBytes(4).toString('hex'));
  const root = chainRoot(installation.name, chain);
  const { name, generation } = installation;
  const head = { kind: 'chain', chain, installation: name, generation, beganMs, version } as const;
  await destination.put(chainHeadName(root), await encodeObject(head));
  await store.take({ begin: chain });
  bases.use({ chain, root, last: null, next: 1 });
  copying.chain = chain;
  bases.sent(await copying.outbox.send());
  log('info', 'the continuous copy starts a chain with a new base', {
    destination: destination.title,
    chain,
    ...(ended === null ? {} : { because: ended }),
  });
}

/** A destination that is unreachable for long must not fill the local disk with unsent segments. */
async function giveUpWhatIsTooMuch({ outbox, store, log }: Copying): Promise<void> {
  if (outbox.waitingBytes() <= walArchiveBytesMax) return;
  await store.take({ end: 'the unsent segments exceeded their disk quota' });
  outbox.drop();
  log('warn', 'the continuous copy dropped its unsent segments; it will take a new base');
}

async function pruneIfDue(copying: Copying): Promise<void> {
  const { clock, destination, installation, chain, bases, retentionMs, log, store, outbox } = copying;
  const nowMs = clock.monotonicMs();
  if (chain === null || (copying.prunedMs !== null && nowMs - copying.prunedMs < pruneEveryMs)) return;
  copying.prunedMs = nowMs;
  const { removed, isBroken } = await prune({
    destination,
    chain,
    installation: installation.name,
    underWay: bases.underWay()?.base ?? null,
    fromMs: clock.nowMs() - retentionMs,
  });
  if (removed > 0) log('info', 'the continuous copy removed expired objects', { objects: removed });
  if (!isBroken) return;
  log('warn', 'objects of the continuous copy are missing or damaged; it will take a new base', { chain });
  await store.take({ end: 'objects are missing or damaged in the destination' });
  outbox.drop();
}

function stateOf({ bases, outbox }: Copying): string {
  const base = bases.underWay();
  if (base && !bases.has()) return `the first base is being copied (${base.done} of ${base.of} parts).`;
  return `${Math.round(outbox.waitingBytes() / 1024)} KiB are not sent yet.`;
}
