import { text } from '../../text/issues.ts';
import { inputOf, type ChipField, type ChipTest } from './filter.ts';

const numberTests: Readonly<Partial<Record<ChipTest, string>>> = text.numberTests;

/** Returns the words of a test: a date is before another one, and a number is less. */
export const testName = (field: ChipField, test: ChipTest): string =>
  (inputOf(field) === 'number' ? numberTests[test] : undefined) ?? text.tests[test];
