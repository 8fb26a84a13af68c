import { defineFeature } from '../../kernel/feature.ts';
import { boards as resource } from './boards.ts';
import { CardMoved } from './bodies.ts';
import { boardSamples } from './samples.ts';

export const boards = defineFeature({
  name: 'boards',
  resources: [resource],
  events: { 'board.card_moved': CardMoved },
  samples: boardSamples,
});
