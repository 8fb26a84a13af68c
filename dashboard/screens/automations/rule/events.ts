// Event types of triggers in words, by the object that they are about.
import { EVENT_TYPES } from '@tatami/sdk/webhooks';

/** Objects with an article and in the plural. Events of other objects are for programs. */
const objects = {
  issue: ['an issue', 'Issues'],
  comment: ['a comment', 'Comments'],
  reaction: ['a reaction', 'Reactions'],
  sla: ['an SLA clock', 'SLA'],
  cycle: ['a cycle', 'Cycles'],
  project: ['a project', 'Projects'],
  milestone: ['a milestone', 'Milestones'],
  release: ['a release', 'Releases'],
  label: ['a label', 'Labels'],
  board: ['a board', 'Boards'],
  template: ['an issue template', 'Issue templates'],
  team: ['a team', 'Teams'],
  member: ['a member', 'Members'],
} as const;

const isNamed = (namespace: string): namespace is keyof typeof objects => Object.hasOwn(objects, namespace);

/** Sentences of events whose name does not say enough. */
const sentences: Readonly<Record<string, string>> = {
  'issue.updated': 'an issue changes',
  'issue.purged': 'an issue is deleted forever',
  'issue.relation_added': 'a relation is added to an issue',
  'issue.relation_removed': 'a relation is removed from an issue',
  'issue.attachment_added': 'a file is added to an issue',
  'issue.attachment_removed': 'a file is removed from an issue',
  'issue.state_changed': 'the state of an issue changes',
  'issue.assigned': 'the assignee of an issue changes',
  'issue.labeled': 'the labels of an issue change',
  'issue.moved': 'an issue moves to another team',
  'issue.triage_accepted': 'an issue is accepted in triage',
  'issue.triage_declined': 'an issue is declined in triage',
  'issue.subscribed': 'somebody subscribes to an issue',
  'issue.unsubscribed': 'somebody unsubscribes from an issue',
  'project.update_posted': 'an update of a project is posted',
  'project.update_edited': 'an update of a project is edited',
  'project.update_deleted': 'an update of a project is deleted',
  'board.card_moved': 'a card is moved on a board',
  'sla.at_risk': 'an SLA target is at risk',
  'sla.breached': 'an SLA target is missed',
  'sla.met': 'an SLA target is met',
  'sla.reached_late': 'an SLA target is met late',
};

const verbs: Readonly<Record<string, string>> = { updated: 'changes' };

/** Returns an event type as the words after "when", such as "an issue is created". */
export function eventWords(type: string): string {
  const [namespace = '', name = ''] = type.split('.');
  const sentence = sentences[type];
  if (sentence !== undefined) return sentence;
  const object = isNamed(namespace) ? objects[namespace][0] : namespace.replaceAll('_', ' ');
  return `${object} ${verbs[name] ?? `is ${name.replaceAll('_', ' ')}`}`;
}

interface EventGroup {
  readonly name: string;
  readonly types: readonly string[];
}

/** Event types that the editor offers, by object. */
export const eventGroups: readonly EventGroup[] = Object.entries(objects).map(([namespace, [, name]]) => ({
  name,
  types: EVENT_TYPES.filter((type) => type.startsWith(`${namespace}.`)),
}));

/** Events of issues and of their parts, which have an issue that actions change. */
export const hasIssue = (type: string): boolean => /^(issue|comment|reaction|sla)\./.test(type);

/** Events with previous values, which a transition compares with. */
export const isChange = (type: string): boolean =>
  !/\.(created|deleted|added|purged|restored|removed)$|_(added|removed)$/.test(type);
