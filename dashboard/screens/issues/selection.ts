// Focus and selection of the rows of a list, by keyboard and mouse.
import { useCallback, useMemo, useState, type KeyboardEvent } from 'react';
import type { GridRow } from './grid.tsx';
import type { ListedIssue } from './list-data.ts';

export interface Selection {
  readonly focused: number;
  readonly ids: ReadonlySet<string>;
  readonly issues: readonly ListedIssue[];
  focus(index: number): void;
  /** @param extend true to select all rows from the focused one */
  select(index: number, extend: boolean): void;
  selectAll(): void;
  /** Selects these issues instead of others. */
  replace(ids: readonly string[]): void;
  clear(): void;
  move(by: number, extend?: boolean): void;
}

export function useSelection(rows: readonly GridRow[]): Selection {
  const [focused, focus] = useState(0);
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const at = Math.min(focused, Math.max(0, rows.length - 1));
  const issues = useMemo(() => {
    // An issue with several labels has several rows.
    const chosen = rows.flatMap((row) =>
      row.kind === 'issue' && ids.has(row.issue.id) ? [[row.issue.id, row.issue] as const] : [],
    );
    return [...new Map(chosen).values()];
  }, [rows, ids]);
  const select = useCallback(
    (index: number, extend: boolean) => {
      const [from, to] = extend ? [Math.min(at, index), Math.max(at, index)] : [index, index];
      const reached = rows.slice(from, to + 1).flatMap((row) => (row.kind === 'issue' ? [row.issue.id] : []));
      setIds((before) => {
        const next = new Set(before);
        const isRemoval = !extend && reached.every((id) => before.has(id));
        for (const id of reached)
          if (isRemoval) next.delete(id);
          else next.add(id);
        return next;
      });
      focus(index);
    },
    [rows, at],
  );
  const clear = useCallback(() => setIds(new Set()), []);
  return {
    focused: at,
    ids,
    issues,
    focus,
    select,
    selectAll: () => setIds(new Set(rows.flatMap((row) => (row.kind === 'issue' ? [row.issue.id] : [])))),
    replace: (all) => setIds(new Set(all)),
    clear,
    move(by, extend = false) {
      const to = Math.max(0, Math.min(rows.length - 1, at + by));
      if (extend) select(to, true);
      else focus(to);
    },
  };
}

/** Handles the keys of a focused row that are not shortcuts of the screen. */
export function onGridKey(
  event: KeyboardEvent,
  selection: Selection,
  { open, toggle }: { readonly open: () => void; readonly toggle: () => void },
): void {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: 15,
    PageUp: -15,
    Home: -Infinity,
    End: Infinity,
  };
  const by = moves[event.key];
  if (by !== undefined) selection.move(by, event.shiftKey);
  else if (event.key === 'Enter' && event.target === event.currentTarget.querySelector(':focus')) open();
  else if (event.key === ' ') selection.select(selection.focused, false);
  else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') toggle();
  else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) selection.selectAll();
  else return;
  event.preventDefault();
}
