// Focus and selection of the rows of a list, by keyboard and mouse.
import { useCallback, useMemo, useState, type KeyboardEvent } from 'react';
import type { GridRow } from './grid.tsx';
import type { ListedIssue } from '../list/list-data.ts';

export interface Selection {
  readonly focused: number;
  readonly ids: ReadonlySet<string>;
  readonly issues: readonly ListedIssue[];
  focus(index: number): void;
  /** @param extend true to select all rows from the one that was last focused or selected without it */
  select(index: number, extend: boolean): void;
  selectAll(): void;
  /** Selects these issues instead of others. */
  replace(ids: readonly string[]): void;
  clear(): void;
  move(by: number, extend?: boolean): void;
}

const idsOf = (rows: readonly GridRow[], a: number, b: number): readonly string[] =>
  rows
    .slice(Math.min(a, b), Math.max(a, b) + 1)
    .flatMap((row) => (row.kind === 'issue' ? [row.issue.id] : []));

interface Extension {
  /** Row at which the range starts. */
  readonly anchor: number;
  /** Row at which the range ended so far. */
  readonly from: number;
  readonly to: number;
}

/** Returns the selection after the range from the anchor ends at another row. */
export function extended(
  rows: readonly GridRow[],
  ids: ReadonlySet<string>,
  { anchor, from, to }: Extension,
): ReadonlySet<string> {
  const next = new Set(ids);
  for (const id of idsOf(rows, anchor, from)) next.delete(id);
  for (const id of idsOf(rows, anchor, to)) next.add(id);
  return next;
}

export function useSelection(rows: readonly GridRow[]): Selection {
  const [place, setPlace] = useState({ focused: 0, anchor: 0 });
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = Math.max(0, rows.length - 1);
  const at = Math.min(place.focused, last);
  const anchor = Math.min(place.anchor, last);
  const issues = useMemo(() => {
    if (ids.size === 0) return [];
    // An issue with several labels has several rows.
    const chosen = rows.flatMap((row) =>
      row.kind === 'issue' && ids.has(row.issue.id) ? [[row.issue.id, row.issue] as const] : [],
    );
    return [...new Map(chosen).values()];
  }, [rows, ids]);
  const select = useCallback(
    (index: number, extend: boolean) => {
      setPlace({ focused: index, anchor: extend ? anchor : index });
      setIds((before) => {
        if (extend) return extended(rows, before, { anchor, from: at, to: index });
        const [id] = idsOf(rows, index, index);
        return id === undefined ? before : before.symmetricDifference(new Set([id]));
      });
    },
    [rows, anchor, at],
  );
  const focus = useCallback((index: number) => setPlace({ focused: index, anchor: index }), []);
  const clear = useCallback(() => setIds(new Set()), []);
  return {
    focused: at,
    ids,
    issues,
    focus,
    select,
    selectAll: () => setIds(new Set(idsOf(rows, 0, rows.length))),
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
