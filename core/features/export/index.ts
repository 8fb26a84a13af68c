import { defineFeature } from '../../kernel/feature.ts';

export const exportAndImport = defineFeature({ name: 'export' });
