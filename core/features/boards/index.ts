import { defineFeature } from '../../kernel/feature.ts';
import { boards as resource } from './boards.ts';
import { CardMoved } from './bodies.ts';

export const boards = defineFeature({
  name: 'boards',
  resources: [resource],
  events: { 'board.card_moved': CardMoved },
});
