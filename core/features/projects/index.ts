import { defineFeature } from '../../kernel/feature.ts';
import { projects as resource } from './projects.ts';

export const projects = defineFeature({ name: 'projects', resources: [resource] });
