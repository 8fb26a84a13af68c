// The validators of the SDK reject the same bodies as the server, at the same paths with the same issues.
import { expect, test } from 'bun:test';
import { validate, type BodyName } from '@tatami/sdk/validators';
import fc from 'fast-check';
import { clientRoutes } from '../../build/generate/client-routes.ts';
import { compileCheck } from '../../core/kernel/http/request/validate.ts';
import { ApiError } from '../../core/platform/lib/errors/errors.ts';
import { arbitraryOf, hostileValues } from '../api/arbitrary.ts';
import { nowhere } from '../api/seeds.ts';

/** The server limits the number of details; lists up to this length are complete. */
const completeMax = 3;

function refusals(check: (value: unknown) => void, value: unknown): string[] {
  try {
    check(value);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.details.map(({ path, issue }) => `${path} ${issue}`);
  }
}

/** Generates a body with a changed, missing or unknown value. */
function broken(body: unknown): fc.Arbitrary<unknown> {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    return fc.constantFrom(...hostileValues);
  const names = [...Object.keys(body), 'colour'];
  return fc.oneof(
    fc
      .tuple(fc.constantFrom(...names), fc.constantFrom(...hostileValues))
      .map(([name, value]) => ({ ...body, [name]: value })),
    fc
      .constantFrom(...names)
      .map((left) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== left))),
  );
}

const withBody = clientRoutes.flatMap(({ name, body }) => (body ? [[name as BodyName, body] as const] : []));

test.each(withBody)('%s', (name, schema) => {
  const check = compileCheck(schema);
  const sound = arbitraryOf(schema, [nowhere]);
  const any = fc.oneof(
    sound,
    sound.chain(broken),
    sound.chain(broken).chain(broken),
    fc.constantFrom(...hostileValues),
  );
  fc.assert(
    fc.property(any, (body) => {
      const mine = [...new Set(validate(name, body).map(({ path, issue }) => `${path} ${issue}`))].toSorted();
      const theirs = refusals(check, body).toSorted();
      if (mine.length <= completeMax) expect(mine).toEqual(theirs);
      else expect([theirs.length > 0, mine]).toEqual([true, expect.arrayContaining(theirs)]);
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('an undefined value counts as missing', () => {
  expect(validate('issues.create', { team: 'ENG', title: 'One', description: undefined })).toEqual([]);
  expect(validate('issues.create', { team: 'ENG', title: undefined })).toEqual([
    { path: 'title', issue: 'required' },
  ]);
});

test('the server also names a path when its list of errors is limited', () => {
  const team = clientRoutes.find(({ name }) => name === 'teams.update');
  const transitions = Object.fromEntries(Array.from({ length: 300 }, (_, nth) => [`state ${nth}`, nth]));
  expect(refusals(compileCheck(team?.body ?? {}), { transitions })).toEqual(
    Object.keys(transitions)
      .slice(0, 100)
      .map((name) => `transitions.${name} invalid_type`),
  );
});
