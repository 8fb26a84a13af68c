// Issues of a list as a board. Moves write the field of the columns.
import { useEffect, useMemo, type ReactNode } from 'react';
import { useMay } from '../../data/provider.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { text } from '../../text/boards.ts';
import { conditionsOf, isChip, type FilterTree } from '../../parts/filter/filter.ts';
import type { BoardGrouping, LaneGrouping } from '../issues/search.ts';
import { Columns } from './columns.tsx';
import { useBoard, type BoardSource } from './data.ts';
import { patchOf } from './model.ts';
import { BoardContext } from './quick-create.tsx';

export interface ListBoardQuery {
  readonly filter: FilterTree | undefined;
  /** Member whose subscriptions are shown. */
  readonly subscriber: string | undefined;
  readonly sort: string;
  readonly groupBy: BoardGrouping;
  readonly lanes: LaneGrouping | undefined;
}

interface ListBoardProps {
  /** The same object while its content is the same. */
  readonly query: ListBoardQuery;
  readonly empty: ReactNode;
  readonly peek: (onClose: () => void) => ReactNode;
  readonly onCount: (count: string | undefined) => void;
}

export default function ListBoard({ query, empty, peek, onCount }: ListBoardProps): ReactNode {
  const { filter, subscriber, groupBy } = query;
  const mayMove = useMay('issues:write');
  const open = useBoard(useMemo(() => listBoard(query), [query]));
  const { state, error, retry } = open;
  const count = state && state.columns.reduce((sum, column) => sum + column.count, state.elsewhere);
  useEffect(() => onCount(count === undefined ? undefined : text.cards(count)), [count, onCount]);
  // An issue that is created in a column may not match the filter.
  const isWhole = filter === undefined && subscriber === undefined;
  const created = useMemo(() => (isWhole ? { team: null, groupBy } : null), [isWhole, groupBy]);
  if (error && !state) return <Failed error={error} retry={retry} />;
  if (!state) return <Loading />;
  if (count === 0) return empty;
  return (
    <>
      {state.elsewhere > 0 && <p className="notice">{text.elsewhere(state.elsewhere)}</p>}
      <BoardContext value={created}>
        <Columns open={open} state={state} isManual={false} mayMove={mayMove} peek={peek} />
      </BoardContext>
    </>
  );
}

function listBoard({ filter, subscriber, sort, groupBy, lanes }: ListBoardQuery): BoardSource {
  const team = teamOf(filter);
  const list = {
    groupBy,
    sort,
    ...(lanes && { swimlanes: lanes }),
    ...(filter && { filter: JSON.stringify(filter) }),
    ...(team !== undefined && { team }),
    ...(subscriber !== undefined && { subscriber }),
  };
  return {
    key: ['issues', 'board', list],
    isManual: false,
    read: (client, request) => client.issues.board({ ...list, ...request }),
    readCell: async (client, column, request) =>
      await client.issues.boardColumn(column, { ...list, ...request }),
    move: (client, { columns }, { card, from, to }) => {
      const valueOf = (key: string): string | null => columns.find((one) => one.key === key)?.value ?? null;
      return client.issues.update(card.id, {
        ...(from.column !== to.column && patchOf(groupBy, valueOf(from.column), valueOf(to.column))),
        ...(lanes && from.lane !== to.lane && patchOf(lanes, null, laneValue(lanes, to.lane))),
      });
    },
    concerns: () => false,
  };
}

/** The key of a swimlane is its value, or `none` for issues without one. */
const laneValue = (lanes: LaneGrouping, key: string | null): string | null =>
  key === 'none' && lanes !== 'priority' ? null : key;

/** Returns the only team of a filter, so that the columns are its states and labels. */
function teamOf(filter: FilterTree | undefined): string | undefined {
  const chip = conditionsOf(filter).find((one) => isChip(one) && one.field === 'team' && one.test === 'in');
  return chip && isChip(chip) && chip.values.length === 1 ? chip.values[0] : undefined;
}
