// Projects are plain, but for the order of their dates.
import { invalidField } from '../../lib/errors.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf } from '../../resource/kind.ts';
import { project } from './contract.ts';

export const projectKind = kindOf(project);

export const projects = defineResource(project, projectKind, {
  check(_ctx, { startDate, targetDate }) {
    if (startDate !== null && targetDate !== null && targetDate < startDate)
      throw invalidField('targetDate', 'too_small', {
        why: 'The target date lies before the start date.',
        fix: 'Give a later targetDate, or an earlier startDate.',
      });
  },
});
