import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Cycle(): ReactNode {
  return <Screen title="Cycle">{null}</Screen>;
}
