// Access to the generated operations. Nothing is parsed before a command needs it, because starts are frequent.
import { nouns } from '../../generated/operations.ts';
import type { Noun, Operation } from './operation.ts';

type NounFacts = Omit<Noun, 'operations'>;

/** Returns the facts of all nouns, without their operations. */
export const listNouns = (): NounFacts[] =>
  Object.values(nouns).map(([facts = '']) => JSON.parse(facts) as NounFacts);

/** @returns none for other words */
export function operationsOf(noun: string): Operation[] {
  const [, ...operations] = Object.hasOwn(nouns, noun) ? nouns[noun]! : [];
  return operations.map((text) => JSON.parse(text) as Operation);
}

/** @param id such as `issues.list` @throws Error if there is no such operation */
export function operationOf(id: string): Operation {
  const found = operationsOf(id.split('.')[0]!).find((operation) => operation.id === id);
  if (!found) throw new Error(`There is no operation ${id}.`);
  return found;
}

/** Returns the words of the command after its noun: `triage accept`, and `show` for `get`. */
export function verbsOf({ id }: Operation): string[] {
  const [, ...verbs] = id.split('.');
  return verbs.map((verb) => (verb === 'get' ? 'show' : verb));
}
