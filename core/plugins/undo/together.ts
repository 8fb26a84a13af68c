// Fields between which a rule holds: they are put back together, or none of them is.

interface Bond {
  readonly fields: readonly string[];
  /** Where they belong together only if this one of them was changed; else its present value has to be the one that was found. */
  readonly lead?: string;
}

/** By kind. What a plugin writes of other kinds has no such rules. */
const bonds: Readonly<Record<string, readonly Bond[]>> = {
  issue: [
    // A milestone is one of its project; states, cycles and some labels are of a team.
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
 * The fields that have to be as the change left them before `field` may be put back.
 * @param changed the fields that the change changed
 */
export function neededFor(kind: string, field: string, changed: ReadonlySet<string>): readonly string[] {
  return (bonds[kind] ?? [])
    .filter(({ fields }) => fields.includes(field))
    .flatMap(({ fields, lead }) => (lead === undefined || changed.has(lead) ? fields : [lead]));
}
