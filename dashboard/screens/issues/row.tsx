import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { Avatar, PriorityIcon, StateIcon, Time } from '../../parts/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import type { IssueGroup, ListedIssue } from './list-data.ts';
import type { Grouping } from './search.ts';
import styles from './issues.module.css';

interface RowPlace {
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly isFocused: boolean;
}

interface IssueRowProps extends RowPlace {
  readonly issue: ListedIssue;
  readonly isSelected: boolean;
  readonly onSelect: (index: number, extend: boolean) => void;
  readonly onMenu: (issue: ListedIssue) => void;
}

export const IssueRow = memo(function IssueRow(props: IssueRowProps): ReactNode {
  const { issue, index, top, height, isFocused, isSelected, onSelect, onMenu } = props;
  const { identifier, title, state, priority, assignee, project, cycle, dueDate, updatedAt } = issue;
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      aria-label={text.row(identifier, title)}
      aria-selected={isSelected}
      data-index={index}
      tabIndex={isFocused ? 0 : -1}
      className={styles.row}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      <span role="gridcell" className={styles.check}>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={text.select(identifier ?? '')}
          checked={isSelected}
          onChange={() => undefined}
          onClick={(event) => onSelect(index, event.shiftKey)}
        />
      </span>
      <span role="gridcell">
        <PriorityIcon priority={priority} />
      </span>
      <span role="gridcell" className={styles.identifier}>
        {identifier}
      </span>
      <span role="gridcell">
        <StateIcon type={state.type} name={state.name} />
      </span>
      <span role="gridcell" className="grow cut">
        <Link
          to="/issues/$identifier"
          params={{ identifier: identifier ?? issue.id }}
          tabIndex={-1}
          className={styles.title!}
        >
          {title}
        </Link>
      </span>
      <Labels issue={issue} />
      <span role="gridcell" className={styles.wide}>
        {project && <span className="chip">{project.name}</span>}
        {cycle && <span className="chip">{cycle.name}</span>}
      </span>
      <span role="gridcell" className={styles.wide}>
        {dueDate !== null && <span className="soft">{text.due(dueDate)}</span>}
      </span>
      <span role="gridcell" className={`${styles.wide} soft`}>
        <Time at={updatedAt} />
      </span>
      <span role="gridcell">{assignee && <Avatar name={assignee.name} />}</span>
      <MenuCell issue={issue} onMenu={onMenu} />
    </div>
  );
});

function MenuCell({ issue, onMenu }: Pick<IssueRowProps, 'issue' | 'onMenu'>): ReactNode {
  return (
    <span role="gridcell">
      <button
        type="button"
        tabIndex={-1}
        className={styles.toggle}
        aria-label={text.changeRow(issue.identifier ?? issue.title)}
        aria-haspopup="dialog"
        onClick={() => onMenu(issue)}
      >
        <Icon name="more" />
      </button>
    </span>
  );
}

const labelsMax = 3;

function Labels({ issue: { labels } }: { readonly issue: ListedIssue }): ReactNode {
  return (
    <span role="gridcell" className={styles.labels}>
      {labels.slice(0, labelsMax).map(({ id, name }) => (
        <span key={id} className="chip">
          {name}
        </span>
      ))}
      {labels.length > labelsMax && <span className="soft">+{labels.length - labelsMax}</span>}
    </span>
  );
}

interface GroupRowProps extends RowPlace {
  readonly group: IssueGroup;
  readonly grouping: Grouping;
  readonly isCollapsed: boolean;
  readonly onToggle: (key: string | null) => void;
}

export function GroupRow({
  group,
  grouping,
  isCollapsed,
  onToggle,
  index,
  top,
  height,
  isFocused,
}: GroupRowProps): ReactNode {
  const name = groupName(group, grouping);
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      data-index={index}
      tabIndex={isFocused ? 0 : -1}
      className={`${styles.row} ${styles.group}`}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      <span role="gridcell" className="row">
        <button
          type="button"
          tabIndex={-1}
          className={styles.toggle}
          aria-expanded={!isCollapsed}
          aria-label={isCollapsed ? text.expand(name) : text.collapse(name)}
          onClick={() => onToggle(group.key)}
        >
          <Icon name={isCollapsed ? 'right' : 'down'} />
        </button>
        <strong>{name}</strong>
        <span className="soft">{group.count}</span>
      </span>
    </div>
  );
}

function groupName({ key, name }: IssueGroup, grouping: Grouping): string {
  if (key === null) return text.noValue[grouping];
  if (grouping === 'priority') return common.priorities[key as keyof typeof common.priorities];
  return name ?? key;
}
