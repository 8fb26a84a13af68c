import { defineFeature } from '../../kernel/feature.ts';
import { calendars as resource } from './calendars.ts';

export const calendars = defineFeature({ name: 'calendars', resources: [resource] });

export { weekOf } from './calendars.ts';
