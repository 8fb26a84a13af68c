// Dialog that changes a field of issues: the fields that a row offers, and the searchable values of one.
import { Combobox } from '@base-ui/react/combobox';
import type { IssueUpdate } from '@tatami/sdk/client';
import { useRef, useState, type ReactNode } from 'react';
import { useLabels, useMembers } from '../../../data/directory.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/overlay/dialog.tsx';
import type { Choice } from '../../../parts/picker.tsx';
import styles from '../../../parts/parts.module.css';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/issues.ts';
import { priorityChoices, useStateNames } from '../../../parts/filter/choices.tsx';
import type { ListedIssue } from '../list/list-data.ts';
import { rowFields, type RowField } from './row-change.ts';

interface FieldDialogProps {
  readonly issues: readonly ListedIssue[];
  /** Null to offer the fields of a row first. */
  readonly field: RowField | null;
  readonly onPick: (set: IssueUpdate) => void;
  readonly onDelete: () => void;
  readonly onClose: () => void;
}

/**
 * One dialog for all rows, because a menu in each row would slow down scrolling. It is the same dialog for the fields
 * and the values, so that the focus returns to the row after both.
 */
export default function FieldDialog({
  issues,
  field,
  onPick,
  onDelete,
  onClose,
}: FieldDialogProps): ReactNode {
  const [opened, setOpened] = useState(field);
  // The input takes the focus before the dialog can note who had it.
  const finalFocus = useRef(document.activeElement as HTMLElement | null);
  const name = issues.length === 1 ? issues[0]!.identifier : null;
  const title = opened === null ? text.changeRow(name ?? '') : text.fields[opened];
  return (
    <Dialog
      title={opened !== null && name !== null ? `${title}: ${name}` : title}
      isOpen
      onClose={onClose}
      finalFocus={finalFocus}
    >
      {opened === null ? (
        <RowActions onField={setOpened} onDelete={onDelete} onClose={onClose} />
      ) : (
        <FieldValues issues={issues} field={opened} onPick={onPick} />
      )}
    </Dialog>
  );
}

interface RowActionsProps {
  readonly onField: (field: RowField) => void;
  readonly onDelete: () => void;
  readonly onClose: () => void;
}

function RowActions({ onField, onDelete, onClose }: RowActionsProps): ReactNode {
  return (
    <>
      {rowFields.map((field) => (
        <Button key={field} onClick={() => onField(field)}>
          {text.fields[field]}
        </Button>
      ))}
      <Button look="danger" onClick={onDelete}>
        {text.deleteSelected}
      </Button>
      <Button look="plain" onClick={onClose}>
        {common.cancel}
      </Button>
    </>
  );
}

interface FieldValuesProps {
  readonly issues: readonly ListedIssue[];
  readonly field: RowField;
  readonly onPick: (set: IssueUpdate) => void;
}

function FieldValues({ issues, field, onPick }: FieldValuesProps): ReactNode {
  const choices = useChoices(issues, field);
  const isChosen = ({ id }: Choice): boolean => issues.every((one) => currentIds(one, field).includes(id));
  const pick = (choice: Choice | null): void => {
    if (choice) onPick(updateOf(field, choice.id, isChosen(choice)));
  };
  return (
    <Combobox.Root
      inline
      open
      autoHighlight
      items={choices as Choice[]}
      value={null as Choice | null}
      onValueChange={pick}
      itemToStringLabel={({ name }: Choice) => name}
    >
      {/* Keys typed while the dialog opens must not reach the list. */}
      <Combobox.Input aria-label={text.fields[field]} placeholder={common.search} autoFocus />
      <Combobox.Empty className="soft">{common.noMatch}</Combobox.Empty>
      <Combobox.List aria-label={text.fields[field]}>
        {(choice: Choice) => (
          <Combobox.Item key={choice.id} value={choice} className={styles.item}>
            {choice.icon}
            <span className="grow cut">{choice.name}</span>
            {isChosen(choice) && <span>{field === 'label' ? text.chosenLabel : text.current}</span>}
          </Combobox.Item>
        )}
      </Combobox.List>
    </Combobox.Root>
  );
}

function useChoices(issues: readonly ListedIssue[], field: RowField): readonly Choice[] {
  const states = useStateNames(new Set(issues.map(({ team }) => team.key)));
  const members = useMembers();
  const labels = useLabels();
  if (field === 'state') return states;
  if (field === 'priority') return priorityChoices;
  const named = (field === 'label' ? labels : members).map(({ id, name }) => ({ id, name }));
  return field === 'label' ? named : [{ id: '', name: common.noAssignee }, ...named];
}

function currentIds({ state, assignee, priority, labels }: ListedIssue, field: RowField): readonly string[] {
  if (field === 'state') return [state.name];
  if (field === 'priority') return [priority];
  return field === 'label' ? labels.map(({ id }) => id) : [assignee?.id ?? ''];
}

/** Picking a label that all of the issues have removes it. */
function updateOf(field: RowField, id: string, isChosen: boolean): IssueUpdate {
  if (field === 'state') return { state: id };
  if (field === 'priority') return { priority: id as ListedIssue['priority'] };
  if (field === 'assignee') return { assigneeId: id === '' ? null : id };
  return isChosen ? { removeLabels: [id] } : { addLabels: [id] };
}
