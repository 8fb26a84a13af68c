// Groups of interdependent fields that an undo reverts together or not at all.

interface Bond {
  readonly fields: readonly string[];
  /**
   * If set, the whole group applies only if the change modified this field; otherwise only this field must be
   * unchanged since.
   */
  readonly lead?: string;
}

/** Keyed by entity. Other entities that plugins write have no such rules. */
const bonds: Readonly<Record<string, readonly Bond[]>> = {
  issue: [
    // A milestone belongs to a project; states, cycles and some labels belong to a team.
    { fields: ['projectId', 'milestoneId'], lead: 'projectId' },
    { fields: ['teamId', 'stateId', 'cycleId', 'labelIds'], lead: 'teamId' },
  ],
  comment: [
    { fields: ['body', 'mentionIds', 'editedAt'] },
    { fields: ['resolvedAt', 'resolvedByKind', 'resolvedById', 'resolvedByName'] },
  ],
  release: [{ fields: ['status', 'publishedAt'] }],
};

/**
 * Returns the fields that must be unchanged since the change before `field` can be reverted.
 * @param changed fields that the change modified
 */
export function neededFor(kind: string, field: string, changed: ReadonlySet<string>): readonly string[] {
  return (bonds[kind] ?? [])
    .filter(({ fields }) => fields.includes(field))
    .flatMap(({ fields, lead }) => (lead === undefined || changed.has(lead) ? fields : [lead]));
}
