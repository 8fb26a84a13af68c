import { defineFeature } from '../../kernel/feature.ts';
import { fields as resource } from './fields.ts';

export const fields = defineFeature({ name: 'fields', resources: [resource] });
