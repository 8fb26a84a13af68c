import { defineFeature } from '../../kernel/feature.ts';

export const signIn = defineFeature({ name: 'sign-in' });
