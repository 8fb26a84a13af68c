// Model of automations.
import { json, plain } from '../../kernel/changes/operations.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { scopesOf } from './compile.ts';
import { automation } from './contract.ts';
import { ruleOf } from './shape.ts';

/** Last issue that the trigger `unchanged` fired for: time of its last change, and id. */
interface DuePosition {
  readonly at: number;
  readonly id: string;
}

const storedFields = {
  /**
   * Sequence of the last event before the automation was created or enabled; it runs on later events. Set by
   * the database.
   */
  sinceSequence: plain<number>('since_sequence'),
  /** Number of runs that people still have to approve; 0 if the automation is not on probation. */
  probationLeft: plain<number>('probation_left'),
  due: json<DuePosition | null>('due_json'),
};
export type Automation = EntityOf<typeof automation, typeof storedFields>;

export const lastEvent = '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)';

/** Returns the message about a probation, with the ways to end it. */
export function probationMessage(left: number): string {
  const missing = left === 1 ? '1 more run' : `${left} more runs`;
  return `On probation: the automation only proposes its writes until people have approved ${missing}. Approve runs with \`tatami proposals approve\`, or end probation with \`tatami automations update ID --no-probation\` (API: \`"probation": false\`).`;
}

export const automationModel = modelOf(automation, {
  stored: storedFields,
  shows: {
    probation: ({ probationLeft }) =>
      probationLeft > 0 ? { runsLeft: probationLeft, message: probationMessage(probationLeft) } : null,
    scopes: (rule) =>
      Object.entries(scopesOf(ruleOf(rule))).map(([scope, { fields = null }]) => ({
        scope,
        fields: fields && [...fields],
      })),
  },
  events(before, after) {
    if (!before) return ['automation.created'];
    if (after.deletedAt !== null && before.deletedAt === null) return ['automation.deleted'];
    const isStopped = before.state === 'active' && after.state !== 'active';
    return isStopped ? ['automation.disabled'] : ['automation.updated'];
  },
  follows: { from: 'state', fields: ['stateReason'] },
  insertExpressions: { since_sequence: lastEvent },
});
