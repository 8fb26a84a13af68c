import { defineFeature } from '../../kernel/feature.ts';
import { projectUpdates as resource } from './project-updates.ts';

export const projectUpdates = defineFeature({ name: 'project-updates', resources: [resource] });
