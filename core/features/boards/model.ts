import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { board } from './contract.ts';

export type Board = EntityOf<typeof board>;

export const boardModel = modelOf(board);
