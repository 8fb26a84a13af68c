// Virtual grid of issues: only visible rows are in the page. Rows are of equal height.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { GroupRow, IssueRow, type RowPlace } from './row.tsx';
import type { ShownField } from './display.ts';
import type { IssueGroup, IssueListData, ListedIssue } from './list-data.ts';
import type { Grouping } from './search.ts';
import styles from './issues.module.css';

export type GridRow =
  | { readonly kind: 'group'; readonly group: IssueGroup; readonly isCollapsed: boolean }
  | { readonly kind: 'issue'; readonly issue: ListedIssue; readonly id: string }
  /** Rows of a group that are not loaded yet. */
  | { readonly kind: 'more'; readonly group: IssueGroup };

/** Returns the rows of a list, in order. */
export function rowsOf(
  data: IssueListData,
  group: Grouping | undefined,
  collapsed: ReadonlySet<string | null>,
): readonly GridRow[] {
  return data.groups.flatMap((one): readonly GridRow[] => {
    const isCollapsed = collapsed.has(one.key);
    const rows = isCollapsed
      ? []
      : [
          ...one.items.map((issue) => ({ kind: 'issue', issue, id: `${one.key} ${issue.id}` }) as const),
          ...(one.next === null ? [] : [{ kind: 'more', group: one } as const]),
        ];
    return group ? [{ kind: 'group', group: one, isCollapsed }, ...rows] : rows;
  });
}

interface GridProps {
  readonly name: string;
  readonly rows: readonly GridRow[];
  readonly group: Grouping | undefined;
  readonly focused: number;
  readonly selected: ReadonlySet<string>;
  readonly rowHeight: number;
  readonly fields: readonly ShownField[];
  readonly onFocus: (index: number) => void;
  readonly onKey: (event: KeyboardEvent, index: number) => void;
  readonly onToggle: (key: string | null) => void;
  readonly onSelect: (index: number, extend: boolean) => void;
  readonly onMenu: (issue: ListedIssue) => void;
  readonly onMore: (group: IssueGroup) => void;
}

/** Rows above and below the visible ones that are in the page. */
const overscan = 6;

export function Grid(props: GridProps): ReactNode {
  'use no memo';
  const { name, rows, focused, rowHeight, onFocus, onKey } = props;
  const navigate = useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  const shown = virtual.getVirtualItems();
  useLoading(
    props,
    shown.map(({ index }) => index),
  );
  useEffect(() => {
    virtual.scrollToIndex(focused);
    // Moves the focus with the row, but does not take it from elsewhere.
    const hasFocus = scroller.current?.contains(document.activeElement) === true;
    if (hasFocus)
      requestAnimationFrame(() => rowElement(scroller.current, focused)?.focus({ preventScroll: true }));
  }, [virtual, focused]);
  return (
    <div ref={scroller} className={styles.scroller}>
      <div
        role="grid"
        aria-label={name}
        aria-rowcount={rows.length}
        aria-multiselectable="true"
        className={styles.grid}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={(event) => onKey(event, focused)}
        onClick={(event) => {
          const path = followed(event);
          if (path === null) return;
          event.preventDefault();
          void navigate({ href: path });
        }}
        onFocus={({ target }) => {
          const index = Number((target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset.index);
          if (Number.isInteger(index) && index !== focused) onFocus(index);
        }}
      >
        {shown.map(({ index, start, size }) => {
          const row = rows[index]!;
          const place = { index, top: start, height: size, isFocused: index === focused };
          return rowOf(row, place, props);
        })}
      </div>
    </div>
  );
}

function rowElement(scroller: HTMLElement | null, index: number): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null;
}

/** Loads what the visible rows lack, a screen ahead. */
function useLoading({ rows, onMore }: GridProps, shown: readonly number[]): void {
  const last = shown.at(-1) ?? -1;
  const first = shown[0] ?? 0;
  const missing = useMemo(
    () => rows.slice(first, last + 40).filter((row) => row.kind === 'more'),
    [rows, first, last],
  );
  useEffect(() => {
    for (const { group } of missing) onMore(group);
  }, [missing, onMore]);
}

function rowOf(row: GridRow, place: RowPlace, props: GridProps): ReactNode {
  const { fields, selected, group, onToggle, onSelect, onMenu } = props;
  if (row.kind === 'issue')
    return (
      <IssueRow
        key={row.id}
        issue={row.issue}
        fields={fields}
        isSelected={selected.has(row.issue.id)}
        onSelect={onSelect}
        onMenu={onMenu}
        {...place}
      />
    );
  if (row.kind === 'group')
    return (
      <GroupRow
        key={`group ${row.group.key}`}
        group={row.group}
        grouping={group!}
        isCollapsed={row.isCollapsed}
        onToggle={onToggle}
        {...place}
      />
    );
  const { index, top, height } = place;
  return (
    <div
      key={`more ${row.group.key}`}
      role="row"
      aria-rowindex={index + 1}
      className={styles.row}
      style={{ transform: `translateY(${top}px)`, height }}
    />
  );
}

/** Returns the path of a link that a click follows within the app; null for other clicks. */
function followed(event: MouseEvent): string | null {
  const link = (event.target as HTMLElement).closest('a');
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  return link && isPlain ? link.pathname : null;
}
