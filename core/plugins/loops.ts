// Cuts loops of plugins that cause each other's events, before the next run of one starts. docs/spec/plugins.md › Loops.
import type { EventRow } from '../events/event.ts';
import type { Scope, Store } from '../store/store.ts';
import { depthMax, runsPerRootMax, sameInPathMax } from './limits.ts';
import { runsOfRoot } from './runs/rows.ts';

export interface Cut {
  readonly code: 'loop_depth' | 'loop_path' | 'loop_runs';
  readonly message: string;
}

/**
 * Why an install gets no run for this event; null when it does.
 * @param planned runs that come from the same root and are not stored yet
 */
export async function findCut(
  store: Store,
  scope: Scope,
  event: Pick<EventRow, 'cause' | 'subjectId' | 'entityId'>,
  installId: string,
  planned: () => number,
): Promise<Cut | null> {
  const { depth, path, rootEventId } = event.cause;
  if (depth > depthMax)
    return {
      code: 'loop_depth',
      message: `Plugins caused each other ${depth} times in a row: ${path.join(' → ')}.`,
    };
  const step = stepOf(installId, event);
  if (path.filter((earlier) => earlier === step).length >= sameInPathMax)
    return {
      code: 'loop_path',
      message: `This plugin met the same object ${sameInPathMax} times in one chain: ${path.join(' → ')}.`,
    };
  if (depth === 0 || rootEventId === null) return null;
  if ((await runsOfRoot(store, scope, rootEventId)) + planned() < runsPerRootMax) return null;
  return {
    code: 'loop_runs',
    message: `${runsPerRootMax} runs came from the event ${rootEventId}; this one is not started.`,
  };
}

/** One step of a chain: an install meeting an object. */
export function stepOf(installId: string, event: Pick<EventRow, 'subjectId' | 'entityId'>): string {
  return `${installId}:${event.subjectId ?? event.entityId}`;
}
