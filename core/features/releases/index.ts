import { defineFeature } from '../../kernel/feature.ts';
import { releases as resource } from './resource.ts';

export const releases = defineFeature({ name: 'releases', resources: [resource] });
