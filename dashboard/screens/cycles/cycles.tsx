import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Cycles(): ReactNode {
  return <Screen title="Cycles">{null}</Screen>;
}
