// Entry point of the writer thread: one engine for each open store of the process, serving one request at a time.
import { parentPort } from 'node:worker_threads';
import { faultOf } from '../engine/engine-errors.ts';
import { StoreError } from '../store.ts';
import { openEngine, type Engine, openHeadWriter } from './engine.ts';
import {
  faultToWire,
  fromThreadText,
  type FromThread,
  type WireBatch,
  type WriterReply,
  type WriterRequest,
} from './wire.ts';

const loop = parentPort;
if (!loop) throw new Error('The writer must run in a worker thread.');

/** Engine by store; a StoreError if the file could not be opened, which the first commit returns. */
const engines = new Map<number, Engine | StoreError>();

loop.on('message', (message: string) => {
  const { store, ask, batches } = fromThreadText(message);
  if (ask.do === 'open') return void engines.set(store, open(ask));
  const engine = engines.get(store);
  if (!engine) throw new Error(`The writer received \`${ask.do}\` for a store that is not open.`);
  if (ask.do === 'close') engines.delete(store);
  const answered = engine instanceof StoreError ? refusal(ask, engine) : answerOf(engine, ask, batches);
  void Promise.resolve(answered).then((answer) =>
    loop.postMessage(JSON.stringify({ store, answer } satisfies FromThread)),
  );
});

type Question = Exclude<WriterRequest, { do: 'open' }>;

/** Response for a file that could not be opened. */
function refusal(ask: Question, fault: StoreError): WriterReply {
  return ask.do === 'commit' ? faultToWire(fault, true) : null;
}

function answerOf(
  engine: Engine,
  ask: Question,
  batches: readonly WireBatch[],
): WriterReply | Promise<WriterReply> {
  switch (ask.do) {
    case 'commit':
      return engine.commit({ statements: ask.statements, batches });
    case 'checkpoint':
      engine.checkpoint(ask.nowMs);
      return null;
    case 'verify':
      return { ok: 'verified', damage: engine.verify(ask.all) };
    case 'take':
      engine.take(ask.order, ask.nowMs);
      return null;
    case 'reclaim':
      return { ok: 'reclaimed', space: engine.reclaim(ask.pages) };
    case 'close':
      return engine
        .close(ask.isWhole, ask.nowMs)
        .then((isCheckpointed) => ({ ok: 'closed', isCheckpointed }));
  }
}

function open({
  path,
  logHead,
  head,
  walArchive,
}: Extract<WriterRequest, { do: 'open' }>): Engine | StoreError {
  try {
    return openEngine({ path, head, walArchive, headWriter: openHeadWriter(logHead, head) });
  } catch (error) {
    return faultOf(error);
  }
}
