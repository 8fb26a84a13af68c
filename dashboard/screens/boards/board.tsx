import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Board(): ReactNode {
  return <Screen title="Board">{null}</Screen>;
}
