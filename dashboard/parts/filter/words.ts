import { text } from '../../text/issues.ts';
import { inputOf, type Chip, type ChipField, type ChipTest } from './filter.ts';

const numberTests: Readonly<Partial<Record<ChipTest, string>>> = text.numberTests;

/** Returns the words of a test: a date is before another one, and a number is less. */
export const testName = (field: ChipField, test: ChipTest): string =>
  (inputOf(field) === 'number' ? numberTests[test] : undefined) ?? text.tests[test];

export interface NamedChoice {
  readonly id: string;
  readonly name: string;
  /** Another spelling of the value. */
  readonly alias?: string;
}

export const choiceOf = <T extends NamedChoice>(choices: readonly T[], value: string): T | undefined =>
  choices.find(({ id, alias }) => id === value || alias === value);

const listed = (names: readonly string[]): string => names.join(', ');

/** Returns a condition in words, such as "Priority is High". @param joined joins the names of its values */
export function chipWords(
  { field, test, values }: Chip,
  choices: readonly NamedChoice[] | undefined,
  joined = listed,
): string {
  const names = values.map((value) => choiceOf(choices ?? [], value)?.name ?? value);
  return `${text.fields[field]} ${testName(field, test)} ${joined(names)}`.trim();
}
