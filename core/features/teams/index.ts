import { defineFeature } from '../../kernel/feature.ts';
import { teams as resource } from './teams.ts';

export const teams = defineFeature({ name: 'teams', resources: [resource] });
