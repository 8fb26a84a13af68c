// A rule as one sentence.
import {
  conditionsOf,
  isChip,
  isTree,
  type ChipField,
  type FilterTree,
} from '../../../parts/filter/filter.ts';
import { chipWords, choiceOf, type NamedChoice } from '../../../parts/filter/words.ts';
import { wordsOfName } from '../../../text/common.ts';
import { text } from '../../../text/automation-rule.ts';
import { eventWords } from './events.ts';
import { partOf, textOf, textsOf, type Part, type Rule } from './rule.ts';
import { timesOf } from './schedule.ts';

/** Choices with the names of ids, by the field of a filter. */
export type Names = Readonly<Partial<Record<ChipField, readonly NamedChoice[]>>>;

/** Joins words by commas, and the last two by another word. */
const joinedBy =
  (last: string) =>
  (parts: readonly string[]): string =>
    parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}${last}${parts.at(-1)}`;
const joined = joinedBy(text.and);
const orJoined = joinedBy(text.or);

const lowerFirst = (words: string): string => words.charAt(0).toLowerCase() + words.slice(1);

function filterWords(tree: FilterTree | undefined, names: Names): string {
  const words = conditionsOf(tree).map((condition) =>
    isChip(condition)
      ? lowerFirst(chipWords(condition, names[condition.field], orJoined))
      : treeWords(condition.tree, names),
  );
  return words.join(text.and);
}

/** Returns a condition that no chip shows in words, if it is a choice, a negation, or one test of a field. */
function treeWords(tree: FilterTree, names: Names): string {
  const [first, ...more] = Object.entries(tree);
  if (!first || more.length > 0) return text.otherFilter;
  const [name, value] = first;
  if (name === 'or' && Array.isArray(value) && value.every(isTree))
    return value.map((one) => filterWords(one, names)).join(text.or);
  if (name === 'not' && isTree(value)) return text.not(filterWords(value, names));
  const tests = isTree(value) ? Object.entries(value) : [['in', value] as const];
  const words = tests.map(([test, operand]) => testWords(name, test, operand, names));
  return words.includes(null) ? text.otherFilter : `${wordsOfName(name)} ${words.join(text.and)}`;
}

function testWords(field: string, test: string, operand: unknown, names: Names): string | null {
  const words = text.tests[test as keyof typeof text.tests];
  if (words === undefined || isTree(operand)) return null;
  const values = [operand].flat().map((one) => (one === null ? text.empty : nameOf(names, field, one)));
  return `${words} ${orJoined(values)}`;
}

/** Returns the name of a value of a field; the value itself if it has none. */
function nameOf(names: Names, field: string, value: unknown): string {
  const id = String(value);
  return choiceOf(names[field as ChipField] ?? [], id)?.name ?? (id === 'none' ? text.empty : id);
}

const listed = (names: Names, field: string, values: readonly string[]): string =>
  values.length === 0 ? '…' : values.map((value) => nameOf(names, field, value)).join(', ');

export function sentenceOf(rule: Rule, names: Names): string {
  const conditions = conditionWords(rule, names);
  const selected = selectionWords(rule.issues, names);
  const actions = rule.actions.flatMap((action) => actionWords(action, names));
  const start = [triggerWords(rule.trigger, names), ...conditions].join(text.and);
  return `${start}, ${selected}${joined(actions.length === 0 ? [text.nothing] : actions)}`;
}

function triggerWords(trigger: Part, names: Names): string {
  switch (trigger.type) {
    case 'event':
      return eventTrigger(trigger, names);
    case 'schedule':
      return scheduleWords(textOf(trigger, 'cron'), textOf(trigger, 'timeZone'));
    case 'unchanged':
      return text.unchanged(Number(trigger.days));
    case 'webhook':
      return text.webhook;
    default:
      return text.manual;
  }
}

function eventTrigger(trigger: Part, names: Names): string {
  const changed = textsOf(trigger, 'changed').map((name) => wordsOfName(name));
  const event = textOf(trigger, 'event');
  const isOfIssue = event === 'issue.updated' && changed.length > 0;
  const start = isOfIssue ? text.changedFields(joined(changed)) : text.when(eventWords(event));
  return `${start}${transitionWords(partOf(trigger, 'from'), partOf(trigger, 'to'), names)}`;
}

function transitionWords(from: Part | undefined, to: Part | undefined, names: Names): string {
  if (from && to) return ` ${text.moves(filterWords(from, names), filterWords(to, names))}`;
  if (from) return ` ${text.leaves(filterWords(from, names))}`;
  return to ? ` ${text.enters(filterWords(to, names))}` : '';
}

function scheduleWords(cron: string, zone: string): string {
  const { frequency, time, day } = timesOf(cron);
  if (frequency === 'cron') return text.cron(cron);
  const dayName = frequency === 'weekly' ? text.weekdays[day]! : String(day);
  return `${text.every[frequency](dayName, time)}${zone === '' ? '' : ` (${zone})`}`;
}

function conditionWords({ trigger, conditions }: Rule, names: Names): readonly string[] {
  const whole = [partOf(trigger, 'filter'), partOf(conditions, 'issue')].flatMap((tree) =>
    tree && Object.keys(tree).length > 0 ? [text.its(filterWords(tree, names))] : [],
  );
  const { parent, actor } = conditions as { readonly parent?: Part; readonly actor?: Part };
  return [
    ...whole,
    ...(parent ? [parentWords(parent, names)] : []),
    ...relatedWords(partOf(conditions, 'subIssues'), text.subIssues, names),
    ...relatedWords(partOf(conditions, 'relations'), text.relatedIssues, names),
    ...(actor ? [actorWords(actor, names)] : []),
    ...(conditions.time === undefined ? [] : [text.inTime]),
  ];
}

function parentWords(parent: Part, names: Names): string {
  const filter = filterWords(partOf(parent, 'filter'), names);
  const related = relatedWords(partOf(parent, 'subIssues'), text.siblings, names);
  const parts = [...(filter === '' ? [] : [text.parentMatches(filter)]), ...related];
  if (parts.length > 0) return parts.join(text.and);
  return parent.exists === false ? text.noParent : text.hasParent;
}

function relatedWords(condition: Part | undefined, what: string, names: Names): readonly string[] {
  if (!condition) return [];
  const { match, filter, type } = condition as {
    readonly match: keyof typeof text.related;
    readonly filter: Part;
    readonly type?: keyof typeof text.relations;
  };
  const words = filterWords(filter, names);
  if (words !== '') return [text.related[match](words, what)];
  if (what !== text.relatedIssues) return [match === 'none' ? text.hasNo : text.has];
  const relation = text.relations[type ?? 'relates_to'];
  return [match === 'none' ? text.isNotRelated(relation) : text.isRelated(relation)];
}

function actorWords(actor: Part, names: Names): string {
  const kinds = textsOf(actor, 'kinds').map((kind) => text.actorKinds[kind as keyof typeof text.actorKinds]);
  const who = [...kinds, ...textsOf(actor, 'ids').map((one) => nameOf(names, 'creator', one))];
  const all = who.length === 0 ? text.somebody : orJoined(who);
  return actor.not === true ? text.notByActor(all) : text.byActor(all);
}

function selectionWords(issues: Part | null, names: Names): string {
  if (!issues) return '';
  const filter = filterWords(partOf(issues, 'filter'), names);
  return `${filter === '' ? text.forEachIssue : text.forEach(filter)} `;
}

const shownMax = 60;
const cut = (words: string): string => (words.length > shownMax ? `${words.slice(0, shownMax)}…` : words);

function actionWords(action: Part, names: Names): readonly string[] {
  const words =
    action.type === 'set' ? setWords(partOf(action, 'fields') ?? {}, names) : [oneAction(action, names)];
  const on = action.on as keyof typeof text.targets | undefined;
  if (on === undefined || on === 'issue') return words;
  return [`${words.join(', ')} ${text.on(text.targets[on] ?? on)}`];
}

function setWords({ fields: custom, ...fields }: Part, names: Names): readonly string[] {
  return Object.entries({ ...fields, ...(isTree(custom) && custom) }).map(([name, value]) => {
    const field = name.replace(/Id$/, '');
    if (value === null) return text.does.clear(wordsOfName(field));
    const shown = isTree(value) ? JSON.stringify(value) : nameOf(names, field, value);
    return text.does.set(wordsOfName(field), cut(shown));
  });
}

type Words = (action: Part, names: Names) => string;
const { does } = text;

const assignments: Readonly<Record<string, (who: string) => string>> = {
  round_robin: does.rotate,
  least_open: does.leastOpen,
};

const wordsByType: Readonly<Record<string, Words>> = {
  add: (action, names) => does.add(listed(names, 'label', textsOf(action, 'values'))),
  remove: (action, names) => does.remove(listed(names, 'label', textsOf(action, 'values'))),
  comment: (action) => does.comment(cut(textOf(action, 'body'))),
  assign: (action, names) =>
    (assignments[textOf(action, 'how')] ?? does.assign)(
      listed(names, 'assignee', textsOf(action, 'members')),
    ),
  subscribe: (action, names) => does.subscribe(listed(names, 'assignee', textsOf(action, 'members'))),
  move: (action, names) => does.move(nameOf(names, 'team', action.team)),
  create: ({ issues }) =>
    does.createIssues(
      (Array.isArray(issues) ? issues : []).map((one) => `“${textOf(one as Part, 'title')}”`).join(', '),
    ),
  relate: (action) =>
    does.relate(
      text.relations[textOf(action, 'relation') as keyof typeof text.relations] ?? '',
      textOf(action, 'issue'),
    ),
  board: (action) => does.board(textOf(action, 'board'), textOf(action, 'column')),
  cycle: ({ cycle }, names) =>
    cycle === null
      ? does.noCycle
      : does.cycle(text.cycles[cycle as keyof typeof text.cycles] ?? nameOf(names, 'cycle', cycle)),
  release: ({ release }) => (release === null ? does.noRelease : does.release(String(release))),
  http: (action) => does.http(textOf(action, 'host')),
  plugin: (action) => does.plugin(textOf(action, 'plugin'), textOf(action, 'action')),
};

const oneAction: Words = (action, names) =>
  wordsByType[textOf(action, 'type')]?.(action, names) ?? does.other(textOf(action, 'type'));
