import { defineFeature } from '../../kernel/feature.ts';
import { releases as resource } from './releases.ts';
import { releaseSamples } from './samples.ts';

export const releases = defineFeature({ name: 'releases', resources: [resource], samples: releaseSamples });
