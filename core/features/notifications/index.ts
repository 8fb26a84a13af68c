import { defineFeature } from '../../kernel/feature.ts';
import { notifying } from './reaction.ts';

export const notifications = defineFeature({ name: 'notifications', reactions: [notifying] });
