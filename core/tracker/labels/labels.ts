// Labels. A deleted label disappears from issues that carry it, without changing them.
import { Type } from 'typebox';
import { invalidField } from '../../lib/errors.ts';
import { foldName } from '../../lib/fold.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf } from '../../resource/kind.ts';
import { getTeam } from '../directory.ts';
import { teamKeyGiven } from '../teams/contract.ts';
import { label } from './contract.ts';

export const labelKind = kindOf(label);

export const labels = defineResource(label, labelKind, {
  query: { team: Type.Optional(teamKeyGiven) },
  where: ({ directory }, { team }) =>
    team === undefined
      ? []
      : [
          {
            sql: '(team_id = :teamId OR team_id IS NULL)',
            params: { teamId: getTeam(directory, String(team)).id },
          },
        ],
  check({ directory }, { id, teamId, name }, before) {
    if (name === before?.name) return;
    for (const other of directory.labels.values())
      if (other.teamId === teamId && other.id !== id && foldName(other.name) === foldName(name))
        throw invalidField('name', 'already_exists', {
          why: `There is a label ${other.name} already.`,
          fix: 'Give another name.',
        });
  },
});

/** What a new workspace has, and what triage sets. */
export const kindLabels = [
  { name: 'bug', color: '#d73a4a' },
  { name: 'feature', color: '#a2eeef' },
  { name: 'question', color: '#d876e3' },
] as const;
