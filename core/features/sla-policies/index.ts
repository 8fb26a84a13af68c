import { defineFeature } from '../../kernel/feature.ts';
import { slaPolicies as resource } from './policies.ts';

export const slaPolicies = defineFeature({ name: 'sla-policies', resources: [resource] });
