// Labels. Deleting a label removes it from its issues, each of which gets a new version.
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { teamQuery, usableInTeam } from '../teams/index.ts';
import { label } from './contract.ts';
import { changesWithout, createLeaving } from './leaving.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleLabel } from '../../kernel/samples.ts';

export const labelModel = modelOf(label);

const resource = defineResource(label, labelModel, {
  operations: {
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, labelModel, id);
      const set = removed(ctx, labelModel, current, ifMatch);
      return { ...set, changes: [...set.changes, ...(await changesWithout(ctx, current))] };
    },
  },
  query: teamQuery,
  where: usableInTeam,
  check({ directory }, { id, teamId, name }, before) {
    if (name === before?.name) return;
    for (const other of directory.labels.values())
      if (other.teamId === teamId && other.id !== id && foldName(other.name) === foldName(name))
        throw invalidField('name', 'already_exists', {
          why: `A label named ${other.name} already exists.`,
          fix: 'Use another name.',
        });
  },
});

/** Labels of a new workspace, which auto-triage also sets. */
export const defaultLabels = [
  { name: 'bug', color: '#d73a4a' },
  { name: 'feature', color: '#a2eeef' },
  { name: 'question', color: '#d876e3' },
] as const;

export const labels = defineFeature({
  name: 'labels',
  resources: [resource],
  samples: () => ({
    objects: {
      label: { ...sampleLabel, color: '#d73a4a', team: null } satisfies Partial<EntityResponse<typeof label>>,
    },
    moments: {
      'label.updated': { previous: { name: 'defect' } },
    },
  }),
  workers: [createLeaving],
});
