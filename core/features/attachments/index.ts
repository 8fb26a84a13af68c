import { defineFeature } from '../../kernel/feature.ts';
import { attachments as resource } from './attachments.ts';

export const attachments = defineFeature({ name: 'attachments', resources: [resource] });
