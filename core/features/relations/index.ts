import { defineFeature } from '../../kernel/feature.ts';
import { relations as resource } from './relations.ts';

export const relations = defineFeature({ name: 'relations', resources: [resource] });
