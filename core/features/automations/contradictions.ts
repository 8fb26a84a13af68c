// Finds rules whose conditions cannot hold together, and rules whose own actions satisfy their trigger without
// condition.
import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../kernel/context.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import {
  isNever,
  parseFilter,
  type Filter,
  type FilterFields,
  type FilterTest,
  type FilterValue,
} from '../../platform/lib/filter/filter.ts';
import { issueFiltering } from '../issues/index.ts';
import { showsIssue } from './compile.ts';
import type { RuleRuntime } from './runtime.ts';
import type { Action, Rule, Trigger } from './shape.ts';

/** @throws ApiError validation_failed */
export function requireConsistent(ctx: Context, rule: Rule, runtime: RuleRuntime): void {
  requirePossible(ctx, rule, runtime);
  requireEnd(rule);
}

/** @throws ApiError validation_failed if no issue can meet all filters */
function requirePossible(ctx: Context, rule: Rule, runtime: RuleRuntime): void {
  const tests = testsOf(ctx, rule, runtime);
  for (const [index, one] of tests.entries())
    for (const other of tests.slice(index + 1)) {
      const why = one.field === other.field ? conflictOf(one, other) : null;
      if (why !== null) throw impossible(one.at, other.at, `${one.field}: ${why}`);
    }
  const { parent } = rule.conditions;
  const orphan = tests.find((one) => one.field === 'parent' && isNull(one));
  if (orphan && parent && parent.exists !== false)
    throw impossible(orphan.at, 'conditions.parent', `parent: ${noValue}`);
}

/** Returns the tests that an issue must all meet, each with the path of its filter. */
function testsOf(
  ctx: Context,
  { trigger, conditions }: Rule,
  { filterFields }: RuleRuntime,
): readonly (Conjunct & { readonly at: string })[] {
  const ofIssues = issueFiltering.fieldsIn(ctx.directory);
  const trees: [at: string, tree: unknown, fields: FilterFields][] = [];
  if (trigger.type === 'event') {
    requireSomeTest(trigger);
    const ofEvent = filterFields(trigger.event, ctx.directory);
    trees.push(['trigger.filter', trigger.filter, ofEvent], ['trigger.to', trigger.to, ofEvent]);
  }
  if (trigger.type !== 'event' || showsIssue(trigger.event))
    trees.push(['conditions.issue', conditions.issue, ofIssues]);
  return trees.flatMap(([at, tree, fields]) => {
    if (tree === undefined) return [];
    const filter = parseFilter(tree, fields, at, { wasTaken: true });
    if (isNever(filter)) throw impossible(at, at, 'It matches nothing.');
    return conjuncts(filter, fields).map((test) => ({ ...test, at }));
  });
}

function requireSomeTest(trigger: Extract<Trigger, { type: 'event' }>): void {
  for (const name of ['from', 'to'] as const)
    if (isDeepStrictEqual(trigger[name], {}))
      throw invalidField(`trigger.${name}`, 'conflict', {
        why: 'Every object matches an empty filter, so no change begins or ends to match it.',
        fix: 'Give a condition, such as {"state":"completed"}, or leave this out.',
      });
}

function impossible(at: string, other: string, why: string) {
  return invalidField(other, 'conflict', {
    why: `No issue can meet this condition${at === other ? '' : ` together with ${at}`}. ${why}`,
    fix: 'Remove one of them, or give it other values.',
  });
}

interface Conjunct {
  readonly field: string;
  readonly test: FilterTest;
  readonly negated: boolean;
}

/** Returns the tests that every match meets, of fields with one value. */
function conjuncts(filter: Filter, fields: FilterFields, negated = false): Conjunct[] {
  if ('all' in filter) return negated ? [] : filter.all.flatMap((one) => conjuncts(one, fields));
  if ('not' in filter) return negated ? [] : conjuncts(filter.not, fields, true);
  if ('any' in filter) return [];
  const { path } = fields[filter.field] ?? { path: '[]' };
  return path.includes('[]') ? [] : [{ field: filter.field, test: filter, negated }];
}

/** Returns why two tests of one field exclude each other; null if they may both hold. */
const conflictOf = (a: Conjunct, b: Conjunct): string | null =>
  valueConflict(a, b) ?? (isEmptyWith(a, b) || isEmptyWith(b, a) ? noValue : null) ?? rangeConflict(a, b);

const noValue = 'one condition requires no value.';

function valueConflict(a: Conjunct, b: Conjunct): string | null {
  const [one, other] = [valuesOf(a), valuesOf(b)];
  if (!one || !other || one.way !== other.way || (a.negated && b.negated)) return null;
  if (a.negated === b.negated)
    return one.values.some((value) => other.values.includes(value))
      ? null
      : 'the conditions name different values.';
  const [named, excluded] = a.negated ? [other, one] : [one, other];
  return named.values.every((value) => excluded.values.includes(value))
    ? 'one condition names the values that the other excludes.'
    : null;
}

/** True if the first test requires no value, and the second one a value. */
const isEmptyWith = (a: Conjunct, b: Conjunct): boolean => isNull(a) && !b.negated && b.test.test !== 'null';

function valuesOf({
  test,
}: Conjunct): { readonly way: string; readonly values: readonly FilterValue[] } | null {
  if (test.test !== 'in' || test.groups.length !== 1) return null;
  const [{ way, values }] = test.groups as [(typeof test.groups)[number]];
  const plain = values.filter((value) => typeof value !== 'object');
  return plain.length === values.length
    ? { way: `${way?.by ?? ''} ${way?.path ?? ''}`, values: plain }
    : null;
}

const isNull = ({ test, negated }: Conjunct): boolean => test.test === 'null' && test.value !== negated;

function rangeConflict(a: Conjunct, b: Conjunct): string | null {
  const [low, high] = [boundOf(a), boundOf(b)].toSorted((x, y) =>
    x?.isLower === y?.isLower ? 0 : x?.isLower ? -1 : 1,
  );
  if (!low || !high || low.isLower === high.isLower || typeof low.value !== typeof high.value) return null;
  const isEmpty = low.value > high.value || (low.value === high.value && (low.isStrict || high.isStrict));
  return isEmpty ? 'the limits exclude each other.' : null;
}

function boundOf({ test, negated }: Conjunct) {
  if (negated || !('value' in test) || typeof test.value !== 'number') return null;
  if (test.test !== 'gt' && test.test !== 'gte' && test.test !== 'lt' && test.test !== 'lte') return null;
  return { isLower: test.test.startsWith('g'), isStrict: !test.test.endsWith('e'), value: test.value };
}

/**
 * A rule skips its own events, but a person who repeats them, or two copies of the rule, would continue without
 * end, so that an action which always satisfies the trigger is refused.
 * @throws ApiError validation_failed
 */
function requireEnd({ trigger, conditions, actions, issues }: Rule): void {
  if (trigger.type !== 'event' || issues !== null || trigger.from || trigger.to) return;
  if (Object.keys(conditions).length > 0) return;
  if (trigger.filter && !isDeepStrictEqual(trigger.filter, {})) return;
  const index = actions.findIndex((action) => satisfies(action, trigger.event, trigger.changed));
  if (index < 0) return;
  throw invalidField(`actions.${index}`, 'conflict', {
    why: `This action always causes another ${trigger.event} event. The automation skips its own events, but beside another of its kind it would never end.`,
    fix: 'Add a filter or a condition that no longer holds after the action, or a condition on the actor.',
  });
}

/** True if each run of an action causes an event that the trigger accepts; equal values cause none. */
function satisfies(action: Action, event: string, changed: readonly string[] | undefined): boolean {
  switch (action.type) {
    case 'comment':
      return event === 'comment.added' && action.once !== true;
    case 'create':
      return event === 'issue.created';
    case 'set':
      return (
        event === 'issue.updated' &&
        Object.entries(action.fields).some(
          ([field, value]) =>
            (changed === undefined || changed.includes(field)) &&
            typeof value === 'string' &&
            value.includes('{{') &&
            value.includes(field),
        )
      );
    case 'assign':
      return (
        event === 'issue.updated' &&
        action.how === 'round_robin' &&
        action.members.length > 1 &&
        (changed === undefined || changed.includes('assignee'))
      );
    default:
      return false;
  }
}
