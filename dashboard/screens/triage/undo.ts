// Undo of decisions, by the button of their message and by key.
import type { Client, Issue } from '@tatami/sdk/client';
import { useRef } from 'react';
import { useWrite } from '../../data/writes.ts';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/triage.ts';
import { idsOf, labelChange } from './labels.ts';

interface Decision {
  /** Id of the issue. */
  readonly id: string;
  /** Shown once it is decided. */
  readonly done: string;
  /** Takes the decision back. @returns what is shown then @throws ApiCallError */
  undo(client: Client): Promise<string>;
}

export type OfferUndo = (decision: Decision) => void;

/** @param onUndone receives the id of the issue @returns a function that reports a decision, with a button to undo it */
export function useUndo(onUndone: (id: string) => void): OfferUndo {
  const write = useWrite();
  const undoable = useRef<Decision[]>([]);
  const undo = async (decision: Decision): Promise<void> => {
    const at = undoable.current.indexOf(decision);
    // The button and the key can both ask for it.
    if (at < 0) return;
    undoable.current.splice(at, 1);
    const undone = await write((client) => decision.undo(client));
    if (undone === null) return void undoable.current.push(decision);
    onUndone(decision.id);
    notify(undone);
  };
  const undoLast = (): void => {
    const last = undoable.current.at(-1);
    if (last) void undo(last);
  };
  useShortcuts([{ keys: 'u', label: text.undoLast, run: undoLast }]);
  return (decision) => {
    undoable.current.push(decision);
    notify(decision.done, { label: common.undo, run: () => void undo(decision) });
  };
}

/** Moves an issue back to its team, where it gets another identifier, with the values that a move clears. */
export async function moveBack(client: Client, issue: Issue): Promise<Issue> {
  const { id, team, state, cycle } = issue;
  const moved = await client.issues.move(id, { team: team.key, stateId: state.id });
  const lost = {
    ...labelChange(idsOf(moved.labels), idsOf(issue.labels)),
    ...(cycle && { cycleId: cycle.id }),
  };
  if (Object.keys(lost).length > 0) await client.issues.update(id, lost);
  return moved;
}
