// Filter chips. A chip is one condition of the filter tree of the API, and the list combines them with `and`.

export type FilterTree = Readonly<Record<string, unknown>>;

/** Kinds of values by field. A choice is a value of a list, such as a member. */
const kinds = {
  state: 'choice',
  assignee: 'choice',
  priority: 'choice',
  label: 'choice',
  team: 'choice',
  project: 'choice',
  cycle: 'choice',
  creator: 'choice',
  title: 'text',
  dueDate: 'day',
  createdAt: 'time',
  updatedAt: 'time',
  estimate: 'number',
} as const;
export type ChipField = keyof typeof kinds;
type Kind = (typeof kinds)[ChipField];
export const chipFields = Object.keys(kinds) as readonly ChipField[];

/** `none` tests for a missing value. */
export type ChipTest = 'in' | 'nin' | 'none' | 'contains' | 'lt' | 'gte';

/** Tests that a person can choose, the default first. */
const testsOfKinds: Readonly<Record<Kind, readonly ChipTest[]>> = {
  choice: ['in', 'nin', 'none'],
  text: ['contains', 'in'],
  day: ['gte', 'lt', 'in', 'nin', 'none'],
  time: ['gte', 'lt'],
  number: ['gte', 'lt', 'in', 'nin', 'none'],
};

const inputs: Readonly<Record<Kind, string | null>> = {
  choice: null,
  text: 'text',
  day: 'date',
  time: 'date',
  number: 'number',
};

export const testsOf = (field: ChipField): readonly ChipTest[] => testsOfKinds[kinds[field]];

/** Returns the type of the input for a value; null if values are chosen from a list. */
export const inputOf = (field: ChipField): string | null => inputs[kinds[field]];

export interface Chip {
  readonly field: ChipField;
  readonly test: ChipTest;
  readonly values: readonly string[];
}

/** A condition that no chip can show, as a program may put into a URL. */
interface OtherCondition {
  readonly tree: FilterTree;
}

export type Condition = Chip | OtherCondition;

export const isChip = (condition: Condition): condition is Chip => 'field' in condition;

export const newChip = (field: ChipField): Chip => ({ field, test: testsOf(field)[0]!, values: [] });

export const isTree = (value: unknown): value is FilterTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function conditionsOf(tree: FilterTree | undefined): readonly Condition[] {
  return Object.entries(tree ?? {}).flatMap(([name, value]): readonly Condition[] => {
    if (name === 'and' && Array.isArray(value) && value.every(isTree)) return value.flatMap(conditionsOf);
    return [chipOf(name, value) ?? { tree: { [name]: value } }];
  });
}

/** @returns null for a condition that a person could not choose, so that a chip never changes its meaning */
function chipOf(name: string, value: unknown): Chip | null {
  const field = chipFields.find((one) => one === name);
  if (!field) return null;
  const [testName, operand] = testOf(value);
  const test = testsOf(field).find((one) => one === testName);
  if (!test) return null;
  if (operand === null) return test === 'none' ? { field, test, values: [] } : null;
  const values = [operand].flat().map((one) => valueOf(field, one));
  const isOne = kinds[field] === 'choice' || values.length === 1;
  return isOne && values.every((one) => one !== null) ? { field, test, values } : null;
}

/** Short forms of the filter language. */
const synonyms: Readonly<Record<string, ChipTest>> = { eq: 'in', neq: 'nin' };

/** @returns null as the operand of several tests, and of `none` */
function testOf(value: unknown): readonly [test: string, operand: unknown] {
  if (value === null) return ['none', null];
  if (!isTree(value)) return ['in', value];
  const [first, ...more] = Object.entries(value);
  if (!first || more.length > 0) return ['', null];
  const [test, operand] = first;
  if ((test === 'null' && operand === true) || (test === 'eq' && operand === null)) return ['none', null];
  return [synonyms[test] ?? test, operand];
}

/** Fields whose value is never missing have no choice for it. */
const isNullable = (field: ChipField): boolean => ['assignee', 'label', 'project', 'cycle'].includes(field);

/** @returns null for a value that a person could not enter */
function valueOf(field: ChipField, value: unknown): string | null {
  if (value === null) return isNullable(field) ? 'none' : null;
  const type = kinds[field] === 'number' ? 'number' : 'string';
  return typeof value === type ? String(value) : null;
}

function treeOf(condition: Condition): FilterTree {
  if (!isChip(condition)) return condition.tree;
  const { field, test, values } = condition;
  const typed = values.map((value) => (kinds[field] === 'number' ? Number(value) : value));
  if (test === 'none') return { [field]: null };
  if (test === 'in') return { [field]: typed };
  if (test === 'nin') return { [field]: { nin: typed } };
  return { [field]: { [test]: typed[0] } };
}

/** @returns undefined without conditions */
export function filterOf(conditions: readonly Condition[]): FilterTree | undefined {
  const trees = conditions.map(treeOf);
  if (trees.length === 0) return undefined;
  return trees.length === 1 ? trees[0] : { and: trees };
}

/** Contents of the conditions in no particular order, because all of them apply. */
const contentOf = (tree: FilterTree | undefined): string =>
  JSON.stringify(
    conditionsOf(tree)
      .map((one) => JSON.stringify(treeOf(one)))
      .sort(),
  );

/**
 * Returns what the address of a view has as its filter.
 * @returns undefined for the filter of the view; `{}` without conditions
 */
export function changedFilter(filter: FilterTree | undefined, ofView: FilterTree): FilterTree | undefined {
  return contentOf(filter) === contentOf(ofView) ? undefined : (filter ?? {});
}

/** Returns a filter for issues that match both; either may be absent. */
export function both(a: FilterTree | undefined, b: FilterTree | undefined): FilterTree | undefined {
  if (!a || !b) return a ?? b;
  return { and: [a, b] };
}
