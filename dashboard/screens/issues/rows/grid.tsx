// Virtual grid of issues: only visible rows are in the page. Rows are of equal height.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { GroupRow, IssueRow, type RowPlace } from './row.tsx';
import type { ShownField } from '../display/display.ts';
import type { IssueGroup, IssueListData, ListedIssue } from '../list/list-data.ts';
import type { Grouping } from '../search.ts';
import { useVisibleRows } from './visible-rows.ts';
import styles from '../issues.module.css';

export type GridRow =
  | { readonly kind: 'group'; readonly group: IssueGroup; readonly isCollapsed: boolean }
  | { readonly kind: 'issue'; readonly issue: ListedIssue; readonly id: string }
  /** Rows of a group that are not loaded yet. */
  | { readonly kind: 'more'; readonly group: IssueGroup };

/** Rows of issues, so that a further page of a long list makes no new rows for the earlier pages. */
const known = new WeakMap<ListedIssue, Extract<GridRow, { kind: 'issue' }>>();

function issueRow(key: string | null, issue: ListedIssue): GridRow {
  const id = `${key} ${issue.id}`;
  const before = known.get(issue);
  if (before?.id === id) return before;
  const row = { kind: 'issue', issue, id } as const;
  known.set(issue, row);
  return row;
}

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
          ...one.items.map((issue) => issueRow(one.key, issue)),
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

export function Grid(props: GridProps): ReactNode {
  const { name, rows, focused, rowHeight, onFocus, onKey, onSelect } = props;
  const navigate = useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  /** True while the grid itself moves the focus, perhaps to a row that the person has left meanwhile. */
  const isMoving = useRef(false);
  const { first, end, scrollTo } = useVisibleRows(scroller, rows.length, rowHeight);
  useLoading(props, first, end);
  useEffect(() => {
    scrollTo(focused);
    // Moves the focus with the row, but does not take it from elsewhere.
    const hasFocus = scroller.current?.contains(document.activeElement) === true;
    if (hasFocus)
      requestAnimationFrame(() => {
        isMoving.current = true;
        rowElement(scroller.current, focused)?.focus({ preventScroll: true });
        isMoving.current = false;
      });
  }, [scrollTo, focused]);
  return (
    <div ref={scroller} className={styles.scroller}>
      <div
        role="grid"
        aria-label={name}
        aria-rowcount={rows.length}
        aria-multiselectable="true"
        className={styles.grid}
        style={{ height: rows.length * rowHeight }}
        onKeyDown={(event) => onKey(event, focused)}
        onMouseDown={(event) => {
          // The focus would make the clicked row the start of its own range, and the browser would select text.
          if (event.shiftKey) event.preventDefault();
        }}
        onClick={(event) => {
          const extended = rangeEnd(event);
          if (extended !== null) return onSelect(extended, true);
          const path = followed(event);
          if (path === null) return;
          event.preventDefault();
          void navigate({ href: path });
        }}
        onFocus={({ target }) => {
          const index = indexOf(target);
          if (index !== null && index !== focused && !isMoving.current) onFocus(index);
        }}
      >
        {rows.slice(first, end).map((row, at) => {
          const index = first + at;
          return rowOf(
            row,
            { index, top: index * rowHeight, height: rowHeight, isFocused: index === focused },
            props,
          );
        })}
      </div>
    </div>
  );
}

function rowElement(scroller: HTMLElement | null, index: number): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null;
}

function indexOf(target: Element): number | null {
  const index = target.closest<HTMLElement>('[data-index]')?.dataset['index'];
  return index === undefined ? null : Number(index);
}

/** Returns the row that a Shift+click makes the end of the range; null for other clicks. */
function rangeEnd({ shiftKey, target }: MouseEvent): number | null {
  const isControl = (target as Element).closest('a, button, input') !== null;
  return shiftKey && !isControl ? indexOf(target as Element) : null;
}

/** Loads what the visible rows lack, a screen ahead. */
function useLoading({ rows, onMore }: GridProps, first: number, end: number): void {
  const missing = useMemo(
    () => rows.slice(first, end + 40).filter((row) => row.kind === 'more'),
    [rows, first, end],
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
