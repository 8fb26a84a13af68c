// Sentence that names the field and the value of a change.
import type { IssueUpdate } from '@tatami/sdk/client';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/issues.ts';

type Named = { readonly id: string; readonly name: string };

/** Objects that the ids of a change can name. */
export type Directory = Readonly<Record<'members' | 'labels' | 'projects' | 'cycles', readonly Named[]>>;

const nameIn = (objects: readonly Named[], id: string): string =>
  objects.find((one) => one.id === id)?.name ?? id;

export function changeText(set: IssueUpdate, { members, labels, projects, cycles }: Directory): string {
  const reference = (field: keyof typeof text.noValue, id: string | null, objects: readonly Named[]) =>
    text.setTo(text.fields[field], id === null ? text.noValue[field] : nameIn(objects, id));
  const { state, priority, assigneeId, projectId, cycleId, addLabels = [], removeLabels = [] } = set;
  return [
    ...(state === undefined ? [] : [text.setTo(text.fields.state, state)]),
    ...(priority === undefined ? [] : [text.setTo(text.fields.priority, common.priorities[priority])]),
    ...(assigneeId === undefined ? [] : [reference('assignee', assigneeId, members)]),
    ...(projectId === undefined ? [] : [reference('project', projectId, projects)]),
    ...(cycleId === undefined ? [] : [reference('cycle', cycleId, cycles)]),
    ...addLabels.map((id) => text.labelAdded(nameIn(labels, id))),
    ...removeLabels.map((id) => text.labelRemoved(nameIn(labels, id))),
  ].join(' ');
}
