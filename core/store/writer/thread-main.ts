// What the writer thread runs: an engine for each open store of the process, which answers one question after the other.
import { parentPort } from 'node:worker_threads';
import { faultOf } from '../engine-errors.ts';
import { StoreError } from '../store.ts';
import { openEngine, type Engine } from './engine.ts';
import { openHeadKeeper } from './head-keeper.ts';
import { faultToWire, type Answer, type Ask, type FromThread, type ToThread } from './wire.ts';

const loop = parentPort;
if (!loop) throw new Error('The writer runs in a thread.');

/** Where a file could not be opened, why: whoever commits is told. */
const engines = new Map<number, Engine | StoreError>();

loop.on('message', (asked: string) => {
  const { store, ask } = JSON.parse(asked) as ToThread;
  if (ask.do === 'open') return void engines.set(store, open(ask));
  const engine = engines.get(store);
  if (!engine) throw new Error(`The writer was asked to ${ask.do} in a store that is not open.`);
  const answer = (said: Answer = null): void => {
    loop.postMessage(JSON.stringify({ store, answer: said } satisfies FromThread));
  };
  switch (ask.do) {
    case 'commit':
      return answer(engine instanceof StoreError ? faultToWire(engine, true) : engine.commit(ask));
    case 'checkpoint':
      if (!(engine instanceof StoreError)) engine.checkpoint(ask.nowMs);
      return answer();
    case 'verify':
      return answer({
        ok: 'verified',
        damage: engine instanceof StoreError ? null : engine.verify(ask.all),
      });
    case 'take':
      if (!(engine instanceof StoreError)) engine.take(ask.order, ask.nowMs);
      return answer();
    case 'reclaim':
      return answer({
        ok: 'reclaimed',
        space: engine instanceof StoreError ? null : engine.reclaim(ask.pages),
      });
    case 'close':
      engines.delete(store);
      if (engine instanceof StoreError) return answer();
      void engine.close(ask.isWhole, ask.nowMs).then((isFolded) => answer({ ok: 'closed', isFolded }));
  }
});

function open({ path, logHead, head, spool }: Extract<Ask, { do: 'open' }>): Engine | StoreError {
  try {
    return openEngine({ path, head, spool, keeper: openHeadKeeper(logHead, head) });
  } catch (error) {
    return faultOf(error);
  }
}
