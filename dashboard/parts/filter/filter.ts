// Filter chips. A chip is one condition of the filter tree of the API, and the list combines them with `and`.

export type FilterTree = Readonly<Record<string, unknown>>;

export const chipFields = [
  'state',
  'assignee',
  'priority',
  'label',
  'team',
  'project',
  'cycle',
  'creator',
  'title',
  'dueDate',
  'createdAt',
  'updatedAt',
  'estimate',
] as const;
export type ChipField = (typeof chipFields)[number];

/** Returns true for a field whose values are no choices of a list. */
export const isOpenField = (field: ChipField): boolean =>
  ['title', 'dueDate', 'createdAt', 'updatedAt', 'estimate'].includes(field);

/** `none` tests for a missing value. */
export type ChipTest = 'in' | 'nin' | 'none' | 'contains' | 'lt' | 'gte';

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

export function conditionsOf(tree: FilterTree | undefined): readonly Condition[] {
  if (!tree) return [];
  return Object.entries(tree).flatMap(([name, value]): Condition[] => {
    if (name === 'and' && Array.isArray(value))
      return value.flatMap((part) => [...conditionsOf(part as FilterTree)]);
    return [chipOf(name, value) ?? { tree: { [name]: value } }];
  });
}

/** In a list, `none` and null are the same. */
const valueOf = (value: unknown): string => (value === null ? 'none' : String(value));

function chipOf(name: string, value: unknown): Chip | null {
  const field = chipFields.find((one) => one === name);
  if (!field) return null;
  if (value === null) return { field, test: 'none', values: [] };
  if (typeof value === 'string' || typeof value === 'number')
    return { field, test: 'in', values: [String(value)] };
  if (Array.isArray(value)) return { field, test: 'in', values: value.map(valueOf) };
  return testedChip(field, Object.entries(value as object));
}

const tests: readonly ChipTest[] = ['in', 'nin', 'contains', 'lt', 'gte'];

/** @returns null for several tests, or one that no chip has */
function testedChip(field: ChipField, [first, ...more]: readonly [string, unknown][]): Chip | null {
  if (!first || more.length > 0) return null;
  const [name, operand] = first;
  if (name === 'eq' && operand === null) return { field, test: 'none', values: [] };
  const test = tests.find((one) => one === name);
  return test ? { field, test, values: [operand].flat().map(valueOf) } : null;
}

const isNumeric = (field: ChipField): boolean => field === 'estimate';

function treeOf(condition: Condition): FilterTree {
  if (!isChip(condition)) return condition.tree;
  const { field, test, values } = condition;
  const typed = values.map((value) => (isNumeric(field) ? Number(value) : value));
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
