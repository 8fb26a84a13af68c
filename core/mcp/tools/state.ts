// The state that an agent means by its name, its type or its id: agents know what a person says, and no ids.
import type { Directory } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { foldName } from '../../lib/fold.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { statesOf } from '../../tracker/directory.ts';

/** Of several of a type, the first. @throws ApiError validation_failed */
export function stateMeant(directory: Directory, teamId: string, given: string): string {
  const states = statesOf(directory, teamId);
  const wanted = foldName(given.trim());
  const found =
    states.find(({ id }) => id === given) ??
    states.find(({ name }) => foldName(name) === wanted) ??
    states.find(({ type }) => type === (wanted === 'cancelled' ? 'canceled' : wanted));
  if (found) return found.id;
  const names = states.map(({ name }) => name);
  throw invalidField('state', 'not_found', {
    why: `The team has no state ${given}.`,
    fix: `Use one of ${names.join(', ')}.${didYouMean(given, names)}`,
  });
}
