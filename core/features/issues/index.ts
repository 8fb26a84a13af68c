import { defineFeature } from '../../kernel/feature.ts';
import { issues as resource } from './resource.ts';

export const issues = defineFeature({ name: 'issues', resources: [resource] });
