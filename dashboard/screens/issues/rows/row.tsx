import { memo, type ReactNode } from 'react';
import { Icon } from '../../../parts/icon.tsx';
import { Avatar, PriorityIcon, StateIcon, Time } from '../../../parts/issue/symbols.tsx';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/issues.ts';
import type { ShownField } from '../display/display.ts';
import type { IssueGroup, ListedIssue } from '../list/list-data.ts';
import type { Grouping } from '../search.ts';
import styles from '../issues.module.css';

export interface RowPlace {
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly isFocused: boolean;
}

interface IssueRowProps extends RowPlace {
  readonly issue: ListedIssue;
  readonly fields: readonly ShownField[];
  readonly isSelected: boolean;
  readonly onSelect: (index: number, extend: boolean) => void;
  readonly onMenu: (issue: ListedIssue) => void;
}

export const IssueRow = memo(function IssueRow(props: IssueRowProps): ReactNode {
  const { issue, fields, index, top, height, isFocused, isSelected, onSelect, onMenu } = props;
  const { identifier, title, state, priority, assignee } = issue;
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
          onChange={ignore}
          onClick={(event) => onSelect(index, event.shiftKey)}
        />
      </span>
      <span role="gridcell">
        {fields.includes('priority') && <PriorityIcon priority={priority} />}
        <span className={styles.identifier}>{identifier}</span>
        {fields.includes('state') && <StateIcon type={state.type} name={state.name} />}
      </span>
      <span role="gridcell" className="grow cut">
        {/* The grid follows links: with a `Link` in each row, a list would take much longer to open. */}
        <a href={pathOf(issue)} tabIndex={-1} className={styles.title}>
          {title}
        </a>
      </span>
      <span role="gridcell" className={styles.details}>
        {fields.map((field) => details[field]?.(issue))}
      </span>
      {assignee && fields.includes('assignee') && (
        <span role="gridcell">
          <Avatar name={assignee.name} />
        </span>
      )}
      <span role="gridcell">
        <button
          type="button"
          tabIndex={-1}
          className={styles.toggle}
          aria-label={text.changeRow(identifier ?? title)}
          aria-haspopup="dialog"
          onClick={() => onMenu(issue)}
        >
          …
        </button>
      </span>
    </div>
  );
});

const ignore = (): void => undefined;

const pathOf = ({ identifier, id }: ListedIssue): string => `/issues/${encodeURIComponent(identifier ?? id)}`;

const soft = `soft ${styles.wide}`;

const chip = (named: { readonly id: string; readonly name: string } | null | undefined): ReactNode =>
  named && (
    <span key={named.id} className={`chip ${styles.wide}`}>
      {named.name}
    </span>
  );

/** Name and time of a field, because several times look alike. */
const named = (field: ShownField, at: string | null | undefined): ReactNode =>
  typeof at === 'string' && (
    <span key={field} className={soft}>
      {text.shown[field]} <Time at={at} />
    </span>
  );

/** Content of the fields behind the title; empty without a value. They are no components, which cost more. */
const details: Readonly<Partial<Record<ShownField, (issue: ListedIssue) => ReactNode>>> = {
  labels: ({ labels }) => labels.length > 0 && labelsOf(labels),
  project: ({ project }) => chip(project),
  milestone: ({ milestone }) => chip(milestone),
  cycle: ({ cycle }) => chip(cycle),
  parent: ({ parent }) =>
    parent && (
      <span key="parent" className={soft}>
        {text.child(parent.identifier ?? '')}
      </span>
    ),
  estimate: ({ estimate }) =>
    estimate !== null && (
      <span
        key="estimate"
        className={`chip ${styles.wide}`}
        title={text.valueOf(text.shown.estimate, estimate)}
      >
        <span className="only-read">{text.shown.estimate}</span>
        {estimate}
      </span>
    ),
  dueDate: ({ dueDate }) =>
    dueDate !== null && (
      <span key="dueDate" className={soft}>
        {text.due(dueDate)}
      </span>
    ),
  slaDueAt: ({ slaDueAt }) => named('slaDueAt', slaDueAt),
  creator: ({ creator }) =>
    creator && (
      <span key="creator" className={soft}>
        {text.valueOf(text.shown.creator, creator.name)}
      </span>
    ),
  createdAt: ({ createdAt }) => named('createdAt', createdAt),
  updatedAt: ({ updatedAt }) => <Time key="updatedAt" at={updatedAt} className={soft} />,
  completedAt: ({ completedAt }) => named('completedAt', completedAt),
};

const labelsMax = 3;

const labelsOf = (labels: ListedIssue['labels']): ReactNode => (
  <span key="labels" className={styles.labels}>
    {labels.slice(0, labelsMax).map(({ id, name }) => (
      <span key={id} className="chip">
        {name}
      </span>
    ))}
    {labels.length > labelsMax && <span className="soft">+{labels.length - labelsMax}</span>}
  </span>
);

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
