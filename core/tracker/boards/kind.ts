import { modelOf, type EntityOf } from '../../resource/kind.ts';
import { board } from './contract.ts';

export type Board = EntityOf<typeof board>;

export const boardModel = modelOf(board);
