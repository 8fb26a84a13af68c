// Rows of a list with what can be done to them by key, by the menu of a row, and to all that are selected.
import { useNavigate } from '@tanstack/react-router';
import type { IssueUpdate } from '@tatami/sdk/client';
import { lazy, Suspense, useCallback, useMemo, useState, type ReactNode } from 'react';
import { Opening } from '../../../parts/overlay/dialog.tsx';
import { useShortcuts } from '../../../parts/shortcuts.ts';
import { text } from '../../../text/issues.ts';
import { useBulk } from '../bulk/bulk-preview.tsx';
import type { ListDisplay } from '../display/display.ts';
import { useRowChange, type RowField } from './row-change.ts';
import { Grid, rowsOf, type GridRow } from './grid.tsx';
import type { ListedIssue, ListQuery } from '../list/list-data.ts';
import { onGridKey, useSelection, type Selection } from './selection.ts';
import type { IssueList } from '../list/use-list.ts';
import styles from '../issues.module.css';

const BulkBar = lazy(() => import('../bulk/bulk-bar.tsx'));
const FieldDialog = lazy(() => import('./field-dialog.tsx'));

/** Wide enough for a list with a side panel. */
const hasPanel = (): boolean => matchMedia('(width >= 64rem)').matches;

interface RowsProps {
  readonly name: string;
  readonly list: IssueList;
  readonly query: ListQuery;
  readonly display: ListDisplay;
  readonly onPeek: (identifier: string) => void;
}

/** Groups that the person has collapsed. */
function useCollapsed() {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string | null>>(new Set());
  const toggle = useCallback((key: string | null) => {
    setCollapsed((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);
  return { collapsed, toggle, openAll: () => setCollapsed(new Set()) };
}

export function Rows({ name, list, query, display, onPeek }: RowsProps): ReactNode {
  const navigate = useNavigate();
  const { collapsed, toggle, openAll } = useCollapsed();
  const rows = useMemo(() => rowsOf(list.data!, query.group, collapsed), [list.data, query.group, collapsed]);
  const selection = useSelection(rows);
  const row = rows[selection.focused];
  const open = (): void => {
    if (row?.kind === 'group') toggle(row.group.key);
    if (row?.kind !== 'issue') return;
    const identifier = row.issue.identifier ?? row.issue.id;
    if (hasPanel()) onPeek(identifier);
    else void navigate({ to: '/issues/$identifier', params: { identifier } });
  };
  const toggleRow = (): void => void (row?.kind === 'group' && toggle(row.group.key));
  const bulk = useBulk(selection.clear);
  const { count } = list.data!;
  const selectAll = async (): Promise<void> => {
    selection.replace(await list.loadAll());
    // Rows of collapsed groups count as not selected.
    openAll();
  };
  const fields = useFieldChange(row, selection, bulk.ask);
  useRowKeys(selection, open);
  return (
    <div className={styles.list}>
      <Grid
        name={name}
        rows={rows}
        group={query.group}
        focused={selection.focused}
        selected={selection.ids}
        rowHeight={display.rowHeight}
        fields={display.fields}
        onFocus={selection.focus}
        onKey={(event) => onGridKey(event, selection, { open, toggle: toggleRow })}
        onToggle={toggle}
        onSelect={selection.select}
        onMenu={fields.openMenu}
        onMore={list.loadMore}
      />
      <Suspense>
        {selection.issues.length > 0 && (
          <BulkBar
            issues={selection.issues}
            more={selection.issues.length < count ? count : null}
            onAll={selectAll}
            onAsk={(change) => bulk.ask(selection.issues, change)}
            onClear={selection.clear}
          />
        )}
      </Suspense>
      <Suspense fallback={<Opening />}>{fields.dialog}</Suspense>
      {bulk.dialog}
    </div>
  );
}

function useRowKeys(selection: Selection, open: () => void): void {
  useShortcuts([
    { keys: 'j', label: text.nextRow, run: () => selection.move(1) },
    { keys: 'k', label: text.previousRow, run: () => selection.move(-1) },
    { keys: 'shift+j', label: text.extendDown, run: () => selection.move(1, true) },
    { keys: 'shift+k', label: text.extendUp, run: () => selection.move(-1, true) },
    { keys: 'x', label: text.selectRow, run: () => selection.select(selection.focused, false) },
    { keys: 'o', label: text.openRow, run: open },
    { keys: 'escape', label: text.clearSelection, run: selection.clear },
  ]);
}

interface FieldChange {
  readonly openMenu: (issue: ListedIssue) => void;
  readonly dialog: ReactNode;
}

/** The choice of a field's value, for the focused row or, after a preview, for the selected ones. */
function useFieldChange(
  row: GridRow | undefined,
  selection: Selection,
  ask: ReturnType<typeof useBulk>['ask'],
): FieldChange {
  const [asked, setAsked] = useState<{
    readonly issues: readonly ListedIssue[];
    readonly field: RowField | null;
  } | null>(null);
  const changeRow = useRowChange();
  const start = (field: RowField): void => {
    const focused = row?.kind === 'issue' ? [row.issue] : [];
    const issues = selection.issues.length > 0 ? selection.issues : focused;
    if (issues.length > 0) setAsked({ issues, field });
  };
  useShortcuts([
    { keys: 's', label: text.changeState, run: () => start('state') },
    { keys: 'a', label: text.changeAssignee, run: () => start('assignee') },
    { keys: 'p', label: text.changePriority, run: () => start('priority') },
    { keys: 'l', label: text.changeLabels, run: () => start('label') },
  ]);
  const openMenu = useCallback((issue: ListedIssue) => setAsked({ issues: [issue], field: null }), []);
  const close = (): void => setAsked(null);
  if (!asked) return { openMenu, dialog: null };
  const { issues, field } = asked;
  const pick = (set: IssueUpdate): void => {
    close();
    const isSelected = issues.length > 1 || selection.ids.has(issues[0]!.id);
    if (isSelected) ask(issues, { kind: 'set', set });
    else changeRow(issues[0]!, set);
  };
  const remove = (): void => {
    close();
    ask(issues, { kind: 'delete' });
  };
  const dialog = (
    <FieldDialog issues={issues} field={field} onPick={pick} onDelete={remove} onClose={close} />
  );
  return { openMenu, dialog };
}
