// Guards of webhooks, removed one by one from a copy of the sources.
import { testGuards, type Guard } from '../../guards.ts';

const guards: readonly Guard[] = [
  {
    name: 'a signature from the past is too old',
    file: 'sdk/webhooks/verify.ts',
    guarding: '!(ageSeconds <= toleranceSeconds)',
    broken: '!(ageSeconds <= Infinity)',
    suite: 'sdk/webhooks/verify.test.ts',
  },
  {
    name: 'a signature from the future is rejected',
    file: 'sdk/webhooks/verify.ts',
    guarding: '!(ageSeconds >= -toleranceSeconds)',
    broken: '!(ageSeconds >= -Infinity)',
    suite: 'sdk/webhooks/verify.test.ts',
  },
  {
    name: 'every address is checked',
    file: 'core/platform/lib/egress/egress.ts',
    guarding: "if ('refused' in verdict) {",
    broken: "if ('refused' in verdict && target.host === '') {",
    suite: 'test/features/webhooks/egress.test.ts',
  },
  {
    name: 'plain http is limited to the allow-list',
    file: 'core/platform/lib/egress/egress.ts',
    guarding: '!target.secure && !verdict.opened',
    broken: 'target.host === "" && !target.secure && !verdict.opened',
    suite: 'test/features/webhooks/egress.test.ts',
  },
  {
    name: 'a redirect is a failure',
    file: 'core/features/webhooks/attempt.ts',
    guarding: 'status >= 200 && status <= 299',
    broken: 'status >= 200 && status <= 399',
    suite: 'test/features/webhooks/deliveries.test.ts',
  },
  {
    name: 'work is completed only under its own lease',
    file: 'core/kernel/events/work/rows.ts',
    guarding: "'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id AND epoch = :epoch'",
    broken: "'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id AND :epoch = :epoch'",
    suite: 'core/kernel/events/work/queue.test.ts',
  },
  {
    name: 'stored responses are limited in size',
    file: 'core/platform/lib/egress/answer-reader.ts',
    guarding: 'this.#bytes > this.#expected.bodyBytesMax',
    broken: 'this.#bytes > Infinity',
    suite: 'core/platform/lib/egress',
  },
  {
    name: 'retries end at the horizon',
    file: 'core/features/webhooks/deliveries/deliver.ts',
    guarding: "if (nowMs >= finalAtMs) return 'parked';",
    broken: '',
    suite: 'core/features/webhooks/deliveries/schedule.test.ts',
  },
  {
    name: 'a secret signs only until it expires',
    file: 'core/features/webhooks/endpoints/secrets.ts',
    guarding: 'known.filter(({ expiresAt }) => expiresAt > nowMs)',
    broken: 'known',
    suite: 'test/features/webhooks/rotation.test.ts',
  },
];
// The guards with the fastest suites.
testGuards(guards, [guards[0], guards[7]]);
